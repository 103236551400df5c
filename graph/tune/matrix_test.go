package tune_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/tune"
)

// Two stages are equally slow: neither knob alone helps, both together do.
func TestAMatrixFindsWhatNoKnobAloneDoes(t *testing.T) {
	p := calm.with(func(p *plant) { p.read, p.decode, p.items, p.epochs = one(ms(9)), one(ms(9)), 640, 1 })
	workers := func(stage string) tune.Knob {
		return tune.Knob{Stage: stage, Key: "workers", Values: []string{"1", "2", "4"}, Now: "1"}
	}
	s := tune.Search{Repeat: 1, Matrix: true, Knobs: []tune.Knob{workers("read"), workers("decode")}, Try: onPlant(t, p)}
	r, err := s.Run()
	require.NoError(t, err)
	require.Len(t, r.Matrix, 9)
	assert.Equal(t, "read.workers=1 decode.workers=1", r.Matrix[0].Value)
	assert.Equal(t, "read.workers=2 decode.workers=1", r.Matrix[3].Value)
	assert.InEpsilon(t, r.Matrix[0].Rate, r.Matrix[2].Rate, 0.03, "decode alone")
	assert.InEpsilon(t, r.Matrix[0].Rate, r.Matrix[6].Rate, 0.03, "read alone")
	assert.Equal(t, []tune.Setting{{Stage: "read", Key: "workers", Value: "4"}, {Stage: "decode", Key: "workers", Value: "4"}}, r.Settings)
	require.Len(t, r.Steps, 3)
	assert.Less(t, r.Steps[1].Gain, 0.03)
	assert.Greater(t, r.Steps[2].Gain, 1.0)
	require.Len(t, r.Curves, 2)
	assert.Len(t, r.Curves[1].Points, 3)
	require.Len(t, r.Decisions, 1)
	assert.True(t, r.Decisions[0].Kept)
	assert.Equal(t, "1", r.Was["decode.workers"])
}

func TestAMatrixTakesNothingThatChangesMoreThanSpeed(t *testing.T) {
	p := calm.with(func(p *plant) { p.read, p.items, p.epochs = one(ms(9)), 320, 1 })
	s := tune.Search{Repeat: 1, Matrix: true, Try: onPlant(t, p), Knobs: []tune.Knob{
		{Stage: "read", Key: "workers", Values: []string{"1", "4"}, Now: "1", Show: true},
		{Stage: "decode", Key: "workers", Values: []string{"1", "2"}, Now: "1"},
	}}
	r, err := s.Run()
	require.NoError(t, err)
	assert.Greater(t, r.Matrix[2].Rate, 2*r.Matrix[0].Rate)
	assert.Empty(t, r.Settings)
}

func TestAMatrixHasItsBounds(t *testing.T) {
	many := tune.Knob{Stage: "read", Key: "workers", Now: "1", Values: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}}
	s := tune.Search{Matrix: true, Knobs: []tune.Knob{many, many}, Try: func([]tune.Setting) (tune.Trial, error) { return tune.Trial{}, nil }}
	_, err := s.Run()
	assert.ErrorContains(t, err, "more than 64 combinations")
}
