package jpeg

import (
	"errors"
	"fmt"
)

// The kinds of error. Every error of this package is an [*Error] that errors.Is matches to one of them.
var (
	ErrUnsupported = errors.New("unsupported")                 // a sound picture of a sort this package does not read
	ErrDamaged     = errors.New("damaged")                     // the bytes break the format's rules
	ErrCutShort    = errors.New("cut short")                   // the data end before the picture does
	ErrLimit       = errors.New("over a limit")                // larger than the caller allows
	ErrIndex       = errors.New("index does not fit the data") // a side index made from other data, or spoilt
	ErrUsage       = errors.New("wrong call")                  // bad options or a destination too small
)

// Error tells what is wrong with a picture and where.
type Error struct {
	Kind   error  // one of the Err values
	Offset int    // byte in the data where it was noticed, -1 where no byte is to blame
	What   string // what was found and what was wanted
}

// Error gives "jpeg: what at byte n".
func (e *Error) Error() string {
	if e.Offset < 0 {
		return "jpeg: " + e.What
	}
	return fmt.Sprintf("jpeg: %s at byte %d", e.What, e.Offset)
}

// ByteOffset is Offset, for who asks any error where in an item's bytes it arose.
func (e *Error) ByteOffset() int64 { return int64(e.Offset) }

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

func fail(kind error, offset int, format string, a ...any) *Error {
	return &Error{Kind: kind, Offset: offset, What: fmt.Sprintf(format, a...)}
}
