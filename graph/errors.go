package graph

import (
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph/item"
)

// StageError is the one shape of errors of a run: where it happened, at which item, and why.
type StageError struct {
	Pipeline string
	Stage    string
	Worker   int
	Key      string   // the item's key; "" when no item was concerned
	Pos      item.Pos // meaningful when Key is set
	Op       string   // "open", "read", "process", "close", "panic"
	Err      error
	Stack    []byte // of a panic
}

// Error is `pipeline "flowers", stage "decode": cat.jpg: the picture is cut short`.
func (e *StageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline %q", e.Pipeline)
	if e.Stage != "" { // it is about the whole pipeline otherwise
		fmt.Fprintf(&b, ", stage %q", e.Stage)
	}
	b.WriteString(": ")
	if e.Key != "" {
		fmt.Fprintf(&b, "%s: ", e.Key)
	} else if e.Op != "" && e.Op != "process" {
		fmt.Fprintf(&b, "%s: ", e.Op)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the cause.
func (e *StageError) Unwrap() error { return e.Err }

// BuildError holds every problem of a declaration at once.
type BuildError struct {
	Pipeline string
	Problems []Problem
}

// Problem is one thing wrong with a declaration. Code is stable and documented in docs/diagnostics.md.
type Problem struct {
	Stage string // "" for the pipeline itself
	Field string // the option or field concerned, or ""
	Code  string
	Msg   string
	Warn  bool // a hint: the pipeline runs nevertheless
}

// Error lists the problems, one a line.
func (e *BuildError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	if len(lines) == 1 {
		return fmt.Sprintf("pipeline %q: %s", e.Pipeline, lines[0])
	}
	return fmt.Sprintf("pipeline %q has %d problems:\n  %s", e.Pipeline, len(lines), strings.Join(lines, "\n  "))
}

// String is `stage "collate": size must be at least 1, got 0 [field_range]`.
func (p Problem) String() string {
	s := p.Msg
	if p.Stage != "" {
		s = fmt.Sprintf("stage %q: %s", p.Stage, s)
	}
	return s + " [" + p.Code + "]"
}

// FieldError is what a Check returns for one field, so that diagnostics can point at it. Several are joined with
// [errors.Join].
type FieldError struct {
	Field string
	Code  string // "field_range", "field_missing", "field_type", "field_value"
	Msg   string // begins with the field's name: "size must be at least 1, got 0"
}

// Error is the message.
func (e *FieldError) Error() string { return e.Msg }

// ErrEmpty says that a source has nothing to give.
var ErrEmpty = errors.New("no samples")
