package spec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/spec"
)

func TestPoliciesAreThoseOfTheGoProgram(t *testing.T) {
	declare := func(opts ...graph.Option) string {
		p := graph.New("x")
		pics := graph.Via(graph.From(p, "read", pictures{Root: "data"}), "decode", decodeImage{}, opts...)
		graph.Into(pics, "end", discard[*item.Sample]{})
		require.NoError(t, p.Build())
		return p.Describe()
	}
	for text, want := range map[string]string{
		"on_error: fail":                             declare(graph.OnError(graph.Fail)),
		"on_error: skip":                             declare(graph.OnError(graph.Skip)),
		"on_error: {skip: {}}":                       declare(graph.OnError(graph.Skip)),
		"on_error: {skip: {max_count: 5}}":           declare(graph.OnError(graph.Skip), graph.MaxSkips(5, 0)),
		"on_error: {skip: {max_rate: 0.01}}":         declare(graph.OnError(graph.Skip), graph.MaxSkips(0, 0.01)),
		`on_error: {skip: {max_count: "${N}"}}`:      declare(graph.OnError(graph.Skip), graph.MaxSkips(7, 0)),
		"retry: {}":                                  declare(graph.Retry(3, 100*time.Millisecond)),
		"retry: {attempts: 7, backoff: 1s}":          declare(graph.Retry(7, time.Second)),
		"retry: {backoff: 0s}":                       declare(graph.Retry(3, 0)),
		"timeout: 500ms":                             declare(graph.Timeout(500 * time.Millisecond)),
		"timeout: 1.5s, on_error: skip, retry: {}":   declare(graph.OnError(graph.Skip), graph.Retry(3, 100*time.Millisecond), graph.Timeout(1500*time.Millisecond)),
		"retry: {attempts: 1}, on_error: {skip: {}}": declare(graph.OnError(graph.Skip), graph.Retry(1, 100*time.Millisecond)),
	} {
		yaml := "pipeline: x\nstages:\n- {id: read, pictures: {root: data}}\n- {id: decode, decode_image: {}, " + text + "}\n- {id: end, discard: {}}\n"
		s, d := spec.Parse("x.yaml", []byte(yaml), catalog(t), spec.Options{Getenv: func(string) (string, bool) { return "7", true }})
		require.Empty(t, d, text)
		assert.Equal(t, want, s.Pipeline.Describe(), text)
	}
}

func TestPoliciesCanBeSetFromTheCommandLine(t *testing.T) {
	s, d := spec.Parse("x.yaml", []byte(strings.Replace(whole, ", on_error: skip", "", 1)), catalog(t), spec.Options{Getenv: noEnv, Set: []string{
		"decode.on_error={skip: {max_count: 3}}", "decode.retry={attempts: 2}", "decode.timeout=3s"}})
	require.NoError(t, d.Err())
	assert.Contains(t, s.Pipeline.Describe(), "on_error=skip max_count=3 retry=2 backoff=100ms timeout=3s")
	assert.Equal(t, `--set decode.timeout=3: stage "decode": timeout: wanted a time with a unit such as 3ms or 3s, got 3 [field_type]`,
		strings.SplitN(lint(t, whole, "decode.timeout=3"), " (hint", 2)[0])
}

func TestABoundWithoutSkipIsNotToBeWritten(t *testing.T) {
	assert.Contains(t, lint(t, strings.Replace(whole, "on_error: skip", "on_error: {fail: {max_count: 3}}", 1)), "on_error: fail has no bounds [field_type]")
}
