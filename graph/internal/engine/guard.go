package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// recovered turns a recovered panic into an error with its stack; without one it passes err on.
func recovered(p any, err error) (error, []byte) {
	switch e := p.(type) {
	case nil:
		return err, nil
	case error:
		return fmt.Errorf("panic: %w", e), debug.Stack()
	default:
		return fmt.Errorf("panic: %v", p), debug.Stack()
	}
}

// Safely calls f behind a panic barrier.
func Safely(f func() error) (err error) {
	defer func() { err, _ = recovered(recover(), err) }()
	return f()
}

// errOver is what emit returns when nobody wants more.
var errOver = errors.New("the run is over")
