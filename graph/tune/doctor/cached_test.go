package doctor_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune/doctor"
)

// sized is a number that takes 1000 bytes in a cache.
type sized int64

func (sized) Bytes() int64 { return 1000 }

// store is a memory_cache for numbers.
type store struct{ limit int64 }

func (store) Kind() string        { return "memory_cache" }
func (s store) CacheLimit() int64 { return s.limit }
func (store) Stream() string      { return "" }

func (s store) Open(context.Context, *graph.Env) (graph.Transform[sized, sized], error) {
	var mu sync.Mutex
	held, kept := int64(0), map[int64][]sized{}
	return graph.Transform[sized, sized]{Cache: &graph.Cache[sized]{
		Limit: s.limit,
		Keep: func(index int64, made []sized) bool {
			mu.Lock()
			defer mu.Unlock()
			if held+1000 > s.limit {
				return false
			}
			held, kept[index] = held+1000, append([]sized(nil), made...)
			return true
		},
		Find: func(index int64, emit func(sized)) {
			mu.Lock()
			entry := kept[index]
			mu.Unlock()
			for _, v := range entry {
				emit(v)
			}
		},
		Full: func() bool { mu.Lock(); defer mu.Unlock(); return held+1000 > s.limit },
		Held: func() int64 { mu.Lock(); defer mu.Unlock(); return held },
	}}, nil
}

// keep puts a cache behind a port.
func keep(in graph.Port[int64], limit int64, set int) graph.Port[int64] {
	to := graph.Via(in, "size", graph.Map(func(v int64) (sized, error) { return sized(v), nil }), graph.Workers(1))
	to = graph.Via(to, "keep", store{cmp.Or(int64(set), limit)})
	return graph.Via(to, "plain", graph.Map(func(v sized) (int64, error) { return int64(v), nil }), graph.Workers(1))
}

// tooSmall is a pipeline whose cache holds two fifths of what there is.
func tooSmall() plant {
	p := calm()
	p.decode, p.limit, p.epochs = one(8*ms), 480_000, 4
	return p
}

func examined(t *testing.T, p plant, o doctor.Options) *doctor.Examination {
	t.Helper()
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) { return p.run(t, set), nil }, o)
	require.NoError(t, err)
	return x
}

func TestACacheThatIsTooSmallIsMadeLarger(t *testing.T) {
	x := examined(t, tooSmall(), doctor.Options{})
	for _, line := range []string{`Is a cache too small? yes`,
		`"keep" is full: its limit of 468.8 KiB holds 40 % of everything (1.1 MiB), and 40 % of the look-ups after the first epoch were hits`,
		"raise keep.limit to 1196KiB, which holds everything (rates of the epochs after the first)",
		"; measured 400\n     --set keep.limit=1196KiB"} {
		assert.Contains(t, x.Text(), line)
	}
	require.Len(t, x.Actions, 1, "what is left is the first epoch's: "+x.Text())
}

// What does not fit into the memory is said, with what fits and what that brings.
func TestACacheIsMadeNoLargerThanTheMemory(t *testing.T) {
	p := tooSmall()
	p.memory = 1_200_000
	for name, x := range map[string]*doctor.Examination{"container": examined(t, p, doctor.Options{}), "machine": examined(t, tooSmall(), doctor.Options{Memory: 1_200_000})} {
		require.NotEmpty(t, x.Actions, x.Text())
		a := x.Actions[0] // nine tenths of it, and 440 bytes beside each 1000
		assert.Equal(t, []string{"keep.limit=732KiB"}, a.Set, name)
		assert.Contains(t, a.Text, "which the memory has room for and holds 62 % of everything")
		assert.InEpsilon(t, 1000/(8*0.375), a.Predicted, 0.05, x.Text())
		require.NotNil(t, a.Measured)
		assert.InEpsilon(t, a.Predicted, *a.Measured, 0.1, x.Text())
	}
	p.memory = 700_000
	x := examined(t, p, doctor.Options{})
	assert.Contains(t, x.Text(), "the memory has no room for more")
	require.NotEmpty(t, x.Actions)
	assert.Equal(t, "decode workers", x.Actions[0].Stage+" "+x.Actions[0].Knob, "the next best")
}

// A larger cache does not help where the limit lies below it, nor where only the first epoch waits.
func TestACacheThatWouldNotHelpIsNoAction(t *testing.T) {
	p := tooSmall()
	p.limit, p.crop = 24_000, one(7700*time.Microsecond)
	x := examined(t, p, doctor.Options{})
	assert.Contains(t, x.Text(), "by the model 1196KiB would bring +2 %, so a larger one does not help")
	for _, a := range x.Actions {
		assert.NotEqual(t, "limit", a.Knob, x.Text())
	}
	p = tooSmall()
	p.limit = 1_200_000
	assert.NotContains(t, examined(t, p, doctor.Options{}).Text(), "cache too small")
	p = tooSmall()
	p.epochs = 1
	assert.Contains(t, examined(t, p, doctor.Options{}).Text(), `note: the limit of the cache "keep" has room for 40 % of everything; what a larger one brings shows in whole epochs`)
}
