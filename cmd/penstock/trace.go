package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// traceSpans is how much a trace holds: 40 bytes of memory a span, about 110 in the file.
const traceSpans = 500_000

// checkTrace refuses a trace that could not be written.
func checkTrace(file string) error {
	if ext := strings.ToLower(filepath.Ext(file)); file != "" && ext != ".json" {
		return fmt.Errorf("--trace %q: wanted a name that ends in .json, got %q", file, ext)
	}
	return checkTarget("--trace", file)
}

// writeTrace writes what the workers did, for Perfetto and chrome://tracing.
func writeTrace(file string, t graph.Trace) error {
	return writing(file, func(w io.Writer) error { return report.Trace(w, t) })
}
