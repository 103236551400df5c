package tune_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// interval simulates a second or so of a pipeline as it is set now.
func interval(p tune.Profile, n int) tune.Reading {
	o := tune.Simulate(p, tune.Options{Items: 300, Seed: uint64(n)})
	return tune.Reading{Second: float64(n), Rate: o.Rate, WaitRatio: o.WaitRatio, Profile: p}
}

// steer lets a controller run a simulated pipeline. It checks the budget after each move.
func steer(t *testing.T, p tune.Profile, b tune.Budget, intervals int) (tune.Profile, []graph.Decision) {
	t.Helper()
	p = p.Clone()
	c := tune.NewController(b)
	for n := range intervals {
		m, ok := c.Next(interval(p, n))
		if !ok {
			continue
		}
		for i := range p.Stages {
			s := &p.Stages[i]
			if s.ID != m.Stage {
				continue
			}
			switch m.Key {
			case "workers":
				require.Equal(t, s.Workers, m.From)
				s.Workers = m.To
				s.Buffer, s.Window = max(s.Buffer, 2*m.To), max(s.Window, 4*m.To) // as auto does
			case "buffer":
				s.Buffer = m.To
			case "window":
				s.Window = m.To
			}
		}
		computing := 0
		for _, s := range p.Stages {
			if !s.Waits && !s.Sink && s.Time.Mean() > 0 {
				computing += s.Workers
			}
			assert.LessOrEqual(t, s.Workers, 4096)
		}
		assert.LessOrEqual(t, float64(computing), b.Cores, "interval %d: %+v", n, m)
	}
	return p, c.Decisions()
}

// bestStatic is the highest rate of all settings of workers on a grid, the budget kept.
func bestStatic(p tune.Profile, b tune.Budget) (best float64) {
	var try func(i int, p tune.Profile, computing float64)
	try = func(i int, p tune.Profile, computing float64) {
		if computing > b.Cores {
			return
		}
		if i == len(p.Stages)-1 {
			best = max(best, tune.Simulate(p, tune.Options{Items: 150}).Rate)
			return
		}
		s := p.Stages[i]
		values := []int{1}
		if s.Time.Mean() > 0 {
			values = []int{1, 2, 3, 4, 6, 8, 12, 16, 32}
		}
		for _, n := range values {
			q := p.Clone()
			x := &q.Stages[i]
			x.Workers, x.Buffer, x.Window = n, max(x.Buffer, 2*n), max(x.Window, 4*n)
			more := 0.0
			if !s.Waits && s.Time.Mean() > 0 {
				more = float64(n)
			}
			try(i+1, q, computing+more)
		}
	}
	try(0, p, 0)
	return best
}

func TestTheControllerComesNearTheBestStaticSetting(t *testing.T) {
	if testing.Short() {
		t.Skip("full sweeps by the simulator, in one goroutine: nothing for the race detector")
	}
	for name, c := range map[string]struct {
		read, decode, crop, step float64 // milliseconds
		cores                    float64
	}{
		"slow store":          {20, 1, 0.2, 5, 8},
		"slow decode":         {1, 8, 1, 5, 8},
		"few cores":           {1, 8, 4, 5, 3},
		"store and decode":    {12, 6, 1, 10, 8},
		"the sink limits":     {0.2, 0.2, 0.2, 50, 4},
		"everything too slow": {30, 9, 9, 1, 6},
	} {
		t.Run(name, func(t *testing.T) {
			p := photos()
			crop := tune.Stage{ID: "crop", From: []int{1}, Ordered: true, Workers: 1, Buffer: 4, Window: 4, Out: 1, Visits: 10, Bytes: 150_000}
			p.Stages = []tune.Stage{p.Stages[0], p.Stages[1], crop, p.Stages[2], p.Stages[3]}
			p.Stages[3].From, p.Stages[4].From = []int{2}, []int{3}
			for i, ms := range []float64{c.read, c.decode, c.crop, 0, c.step} {
				p.Stages[i].Time = tune.Fixed(ms / 1e3)
			}
			p.Cores, p.Stages[0].Workers = c.cores, 1
			b := tune.Budget{Cores: c.cores}
			best := bestStatic(p, b)
			q, log := steer(t, p, b, 10)
			got := tune.Simulate(q, tune.Options{Items: 300}).Rate
			assert.GreaterOrEqual(t, got, 0.95*best, "%s", decided(log))
			before, _ := steer(t, q, b, 10) // it comes to rest
			after, more := steer(t, before, b, 10)
			for _, d := range more {
				assert.True(t, !d.Kept || d.After >= 0.97*d.Before, "%+v", d)
			}
			assert.InEpsilon(t, got, tune.Simulate(after, tune.Options{Items: 300}).Rate, 0.05)
		})
	}
}

func decided(log []graph.Decision) (s string) {
	for _, d := range log {
		s += fmt.Sprintf("\n%5.2f %s.%s %d -> %d: %.0f -> %.0f %v, %s", d.Second, d.Stage, d.Key, d.From, d.To, d.Before, d.After, d.Kept, d.Why)
	}
	return s
}

func TestCoresMoveFromAStageThatHasTooManyToOneThatNeedsThem(t *testing.T) {
	p := photos() // decode takes 4 ms
	p.Cores, p.Stages[0].Time, p.Stages[0].Waits, p.Stages[0].Workers = 8, tune.Fixed(0.1e-3), false, 7
	q, log := steer(t, p, tune.Budget{Cores: 8}, 8)
	assert.InEpsilon(t, 1750, tune.Simulate(q, tune.Options{Items: 300}).Rate, 0.05, "7 of 8 cores decode%s", decided(log))
}

func TestAMoveThatDoesNotHelpIsTakenBack(t *testing.T) {
	p := photos()
	p.Cores = 0
	c := tune.NewController(tune.Budget{Cores: 8})
	m, ok := c.Next(tune.Reading{Rate: 250, WaitRatio: 0.8, Profile: p})
	require.True(t, ok)
	assert.Equal(t, "decode", m.Stage)
	assert.Greater(t, m.To, m.From)
	assert.LessOrEqual(t, m.To, 8)
	p.Stages[1].Workers = m.To
	back, ok := c.Next(tune.Reading{Second: 1, Rate: 251, WaitRatio: 0.8, Profile: p}) // a lock, say
	require.True(t, ok)
	assert.Equal(t, [2]int{m.To, m.From}, [2]int{back.From, back.To})
	require.Len(t, c.Decisions(), 1)
	assert.False(t, c.Decisions()[0].Kept)
	p.Stages[1].Workers = m.From
	again, ok := c.Next(tune.Reading{Second: 2, Rate: 250, WaitRatio: 0.8, Profile: p})
	assert.False(t, ok && again == m, "what was tried in vain is left")
}

func TestTheControllerKeepsTheMemoryBudget(t *testing.T) {
	p := photos()
	p.Stages[0].Time = tune.Fixed(50e-3) // would like a hundred readers
	b := tune.Budget{Cores: 64, Memory: 60_000_000}
	q, _ := steer(t, p, b, 12)
	sum := 0.0
	for _, s := range q.Stages {
		if s.Group > 0 {
			sum += float64(s.Slabs) * s.Bytes
		} else {
			sum += float64(s.Workers) * s.Bytes
		}
	}
	assert.LessOrEqual(t, sum, 60e6)
	assert.False(t, math.IsNaN(sum))
}

func TestWithJitterRoomIsGivenAndTakenBackWhereItDoesNotHelp(t *testing.T) {
	p, err := tune.Of(calm.with(func(p *plant) {
		p.read = step{long(9, 1.2), nil}
		p.read.opts = one(ms(1)).opts
	}).run(t))
	require.NoError(t, err)
	p.Cores = 0
	q, log := steer(t, p, tune.Budget{Cores: 8}, 14)
	assert.GreaterOrEqual(t, tune.Simulate(q, tune.Options{Items: 600}).Rate, 0.95*400, "%s", decided(log))
}
