package registry

import (
	"errors"

	"github.com/penstock-go/penstock/graph"
)

// Check finds every wrong field of a config that a Go program wrote: it joins one [graph.FieldError] each. Zero fields
// count as their defaults; a required one must not be zero.
func Check[C any](c *C, bind func(*C, *Fields)) error {
	d := *c
	return checked(fieldsOf(&d, bind))
}

// checked, like other halves of generic functions, is apart so that each kind does not weigh on programs with a copy.
func checked(fields []Field) error {
	var errs []error
	for _, f := range fields {
		if e := f.verify(); e != nil {
			msg := e.text(f.Name)
			if e.hint != "" {
				msg += " (" + e.hint + ")"
			}
			errs = append(errs, &graph.FieldError{Field: f.Name, Code: e.code, Msg: msg})
		}
	}
	return errors.Join(errs...)
}

// verify fills the default in and checks the rules.
func (f *Field) verify() *fault {
	if f.zero() {
		if f.Required() {
			return &fault{code: "field_missing", msg: " is missing"}
		}
		f.fill()
	}
	return f.check()
}

// Filled is c with the default in each zero field. Open calls it first.
func Filled[C any](c C, bind func(*C, *Fields)) C {
	fill(fieldsOf(&c, bind))
	return c
}

func fill(fields []Field) {
	for _, f := range fields {
		if f.zero() {
			f.fill()
		}
	}
}
