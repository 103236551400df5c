package cores

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// run runs the spec for about half a second of all cores, however many there are.
func run(t *testing.T) graph.Snapshot {
	t.Helper()
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds())...)
	require.NoError(t, err)
	n := runtime.GOMAXPROCS(0)
	s, found := spec.Load("cores.yaml", nil, c, spec.Options{
		Set: []string{fmt.Sprint("read.count=", 200*n), fmt.Sprint("pack.size=", 8*n)},
	})
	require.Empty(t, found)
	r, err := s.Pipeline.Start(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	return r.Snapshot()
}

// Whether the cores are free or other programs have them: the stage that computes is named, and no idle one is to get a
// larger buffer. The report tells the two apart, which a test cannot foresee.
func TestTheStageThatComputesIsNamedWhoeverHasTheCores(t *testing.T) {
	if testing.Short() {
		t.Skip("takes all cores for half a second")
	}
	s := run(t)
	v := report.Judge(s)
	if !v.Compute && s.CPUWait == 0 {
		t.Skipf("this system does not tell who had the cores: %s", v.Sentence)
	}
	assert.True(t, v.Compute, report.Table(s))
	assert.Equal(t, "decode", v.Bottleneck, report.Table(s))
	if v.Crowded {
		assert.Nil(t, v.Next)
		return
	}
	require.NotNil(t, v.Next)
	assert.Equal(t, "cores", v.Next.Knob)
}
