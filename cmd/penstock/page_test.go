package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/report/page"
	"github.com/penstock-go/penstock/graph/spec"
)

// shown is the pipeline of the page in docs: decoding is slow, and reading stops for a while in the middle.
const shown = `pipeline: flowers
seed: 7
epochs: 3
stages:
  - {id: read,    slow: {count: 1280, delay: {lognormal: {mean: 9ms, sigma: 0.9}}}, sampler: shuffled, workers: 6, window: 96}
  - {id: decode,  delay: {time: {lognormal: {mean: 8ms, sigma: 0.4}}}, workers: 2, buffer: 32}
  - {id: crop,    delay: {time: {normal: {mean: 900us, stddev: 200us}}}, workers: 2, buffer: 32}
  - {id: collate, collate: {size: 32}, workers: 2, buffer: 4}
  - {id: copy,    delay: {time: 6ms}, buffer: 2}
  - {id: train,   accelerator: {step: {normal: {mean: 90ms, stddev: 8ms}}}}
`

// inVirtualTime runs a spec where sleeping takes no time, so that its report is the same on every machine but for what
// the machine itself tells.
func inVirtualTime(t *testing.T, text string) (s graph.Snapshot) {
	t.Helper()
	c, err := newCatalog()
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		p, d := spec.Load("-", strings.NewReader(text), c, spec.Options{})
		require.Empty(t, d)
		p.Pipeline.With(graph.KeepTimeline())
		run, err := p.Pipeline.Start(t.Context())
		require.NoError(t, err)
		require.NoError(t, run.Wait())
		s = run.Snapshot()
		s.Spec.Text = p.Text
	})
	return s
}

var pageFile = flag.String("page", "", "write the page of docs/images to this file")

func TestThePageOfARunIsThatOfItsReport(t *testing.T) {
	s := inVirtualTime(t, shown)
	html, err := page.Of(s)
	require.NoError(t, err)
	text, err := report.JSON(s)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "page.html")
	if *pageFile != "" {
		file = *pageFile
	}
	require.NoError(t, os.WriteFile(file, html, 0o644))
	require.JSONEq(t, string(text), insidePage(t, file))
	require.Contains(t, string(html), `<data id="stage" value="decode" data-path="verdict.bottleneck">decode</data>`)
}
