package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// traceIn counts the events of a trace file by their phase.
func traceIn(t *testing.T, file string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		TraceEvents []struct{ Ph string }
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	n := map[string]int{}
	for _, e := range doc.TraceEvents {
		n[e.Ph]++
	}
	return n
}

func TestRunWritesATrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	r := penstock(t, "run", write(t, "endless.yaml", endless), "--batches", "20", "--trace", file)
	require.Equal(t, exitDone, r.code, r.err)
	assert.NotContains(t, r.out, "the trace ends")
	n := traceIn(t, file)
	assert.GreaterOrEqual(t, n["X"], 40, "slices: %v", n)
	assert.Positive(t, n["C"], "queues")
	assert.Equal(t, n["s"], n["f"], "arrows have two ends")
}

func TestATraceIsWrittenOfARunThatIsEndedByASignal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	s := serve(t, endless, "--trace", file)
	s.ch <- syscall.SIGTERM
	assert.Equal(t, exitTerminated, <-s.done)
	s.done <- 0
	assert.Positive(t, traceIn(t, file)["X"])
}
