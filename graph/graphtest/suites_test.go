package graphtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
)

func sample(c *graph.Call, i int64) (*item.Sample, error) {
	b := c.Buffer(40)
	for j := range b.Data {
		b.Data[j] = byte(int(i)*3 + j)
	}
	s := item.NewSample(fmt.Sprintf("s%d", i))
	s.Set("bytes", item.Bytes(b))
	s.Set("label", item.Int(i))
	return s, nil
}

var schema = item.Schema{Fields: []item.FieldSpec{
	{Name: "bytes", Kind: item.KindBytes}, {Name: "label", Kind: item.KindInt, Typed: true, DType: item.Int64},
}}

// reading is a source of samples, at random or forward.
type reading struct{ forward bool }

func (r reading) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	if !r.forward {
		return graph.Reader[*item.Sample]{Len: 17, At: sample}, nil
	}
	return graph.Reader[*item.Sample]{Splits: 5, Interleave: 3, Read: func(c *graph.Call, split int, from int64, emit func(*item.Sample) error) error {
		for i := from; i < int64(3*split); i++ {
			s, _ := sample(c, int64(100*split)+i)
			if err := emit(s); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func (reading) Schema(item.Schema) (item.Schema, error) { return schema, nil }

func TestSourcesPassTheSuite(t *testing.T) {
	for _, forward := range []bool{false, true} {
		t.Run(fmt.Sprint("forward=", forward), func(t *testing.T) {
			graphtest.Source(t, graphtest.SourceCase[*item.Sample]{Source: reading{forward}, Same: true})
		})
	}
}

// parts are stages of each sort.
var parts = map[string]graph.Transform[*item.Sample, *item.Sample]{
	"map": {Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		v, err := in.Need("bytes", item.KindBytes)
		if err != nil {
			return nil, err
		}
		b := c.Buffer(20)
		copy(b.Data, v.Data())
		in.Set("bytes", item.Bytes(b))
		return in, nil
	}},
	"choose": {Choose: func(c *graph.Call, in *item.Sample) (*item.Sample, bool, error) {
		if in.Get("label").Int()%3 == 0 {
			in.Release()
			return nil, false, nil
		}
		return in, true, nil
	}},
	"emit": {Emit: func(c *graph.Call, in *item.Sample, emit func(*item.Sample)) error {
		for i := range in.Get("label").Int() % 4 {
			s := item.NewSample(fmt.Sprint(in.Key(), ".", i))
			b := c.Buffer(10)
			copy(b.Data, in.Get("bytes").Data()[i:])
			s.Set("bytes", item.Bytes(b))
			emit(s)
		}
		in.Release()
		return nil
	}},
}

type part struct {
	t    graph.Transform[*item.Sample, *item.Sample]
	each bool // workers have functions of their own
}

func (p part) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	if !p.each {
		return p.t, nil
	}
	return graph.Transform[*item.Sample, *item.Sample]{NewWorker: func(context.Context) (graph.Transform[*item.Sample, *item.Sample], error) {
		return p.t, nil
	}}, nil
}

func TestStagesPassTheSuite(t *testing.T) {
	for name, p := range parts {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " each=", each), func(t *testing.T) {
				graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Sample]{Stage: part{p, each}, Input: sample})
			})
		}
	}
}

func TestMemoryCountsWhatIsOut(t *testing.T) {
	m := &graphtest.Memory{}
	a, b := m.Take(10), m.Take(20)
	b.Retain()
	b.Release()
	require.Equal(t, int64(30), m.Bytes())
	require.NotEqual(t, a.Data, b.Data[:10], "nonsense differs")
	a.Release()
	require.Equal(t, int64(1), m.Out())
	b.Release()
	m.Empty(t)
	require.Equal(t, int64(2), m.Taken())
}

func TestGaugeKeepsTheMost(t *testing.T) {
	g := &graphtest.Gauge{}
	a := g.Enter()
	b := g.Enter()
	a()
	c := g.Enter()
	b()
	c()
	require.Zero(t, g.Now())
	require.Equal(t, int64(2), g.Most())
}

func TestRecorderKeepsTheTextsInOrder(t *testing.T) {
	r := &graphtest.Recorder[*item.Sample]{}
	p := graph.New("r")
	graph.Into(graph.From(p, "src", graph.Source[*item.Sample](reading{})), "sink", graph.Sink[*item.Sample](r))
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	require.NoError(t, run.Wait())
	require.Len(t, r.Texts(), 17)
	require.Regexp(t, `^"s3" bytes=bytes of 40 label=int [0-9a-f]{16}$`, r.Texts()[3])
}

func TestFaultHappensOnceAtItsCall(t *testing.T) {
	f := &graphtest.Fault{At: 2, Do: func() error { return graphtest.ErrInjected }}
	p := graph.New("f")
	out := graph.Output(graph.Via(graph.From(p, "src", graph.Source[*item.Sample](reading{})), "part", graphtest.Inject(part{parts["map"], true}, f), graph.Workers(1)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for _, err := range out.All(run) {
		if err == nil {
			n++
		}
	}
	err = run.Wait()
	require.True(t, errors.Is(err, graphtest.ErrInjected))
	require.Equal(t, 2, n)
	require.True(t, f.Hit())
	require.Equal(t, int64(3), f.Calls())
	require.Zero(t, f.Open())
}
