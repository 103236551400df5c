package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sources"
)

func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0 clock [174 609 287 174  21 130  39]
	// 1 clock [ 46 465  24 324 739 629 782 696 894]
	// 0 river [128 847 220 406 174 334 397 100 319]
	// 1 river [426 226 661 293 287 395]
	// 0 fox   [174 256 457 956 864 528 174 632  17]
	// 1 fox   [293 828 640 120 174 956 503  45  46]
}

func TestEveryDocumentComesOnceAndInOrderWithItsPassages(t *testing.T) {
	p, out := declare(library)
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	var from []string
	for list, err := range out.All(r) {
		require.NoError(t, err)
		assert.LessOrEqual(t, len(list), 2)
		for _, e := range list {
			from = append(from, e.from)
		}
	}
	require.NoError(t, r.Wait())
	count := map[string]int{}
	for i, name := range from {
		if count[name]++; i > 0 && from[i-1] != name {
			assert.Equal(t, 1, count[name], "the passages of a document stay together: %v", from)
		}
	}
	assert.Equal(t, map[string]int{"fox": 2, "river": 2, "clock": 2}, count)
	assert.True(t, r.Snapshot().Totals.Balanced)
}

func TestAnErrorNamesStageAndKey(t *testing.T) {
	p := graph.New("bad")
	docs := graph.From(p, "read", sources.Map(sources.Slice[document](library)))
	bad := graph.Via(docs, "check", graph.Map(func(d document) (document, error) {
		if strings.TrimSpace(d.text) == "" {
			return d, errors.New("no text")
		}
		return d, nil
	}))
	out := graph.Output(bad, "take")
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	n := 0
	for _, e := range out.All(r) {
		if err = e; err == nil {
			n++
		}
	}
	assert.Equal(t, 2, n, "what came before is delivered")
	assert.EqualError(t, err, `pipeline "bad", stage "check": empty: no text`)
	assert.Equal(t, err, r.Wait())
}
