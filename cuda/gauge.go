package cuda

import (
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// gaugeEvery is how often a device is asked at most how it is used: the driver's own figure is of up to a second.
const gaugeEvery = 500 * time.Millisecond

// gauge keeps what a device tells of its use while a run lasts.
type gauge struct {
	mu    sync.Mutex
	asked time.Time
	busy  float64 // sum of what was told
	use   graph.DeviceUse
}

// look asks a device, unless it was asked just now. Those that cannot tell are left alone.
func (g *gauge) look(d Device) {
	m, ok := d.(Monitor)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.use.Missing != "" || !g.asked.IsZero() && time.Since(g.asked) < gaugeEvery {
		return
	}
	g.asked = time.Now()
	u, err := m.Use()
	if err != nil {
		if g.use.Asked == 0 {
			g.use.Missing = err.Error()
		}
		return
	}
	g.use.Asked++
	if u.Busy != nil {
		g.busy += *u.Busy
		g.use.Told++
	}
	g.use.Memory = u.Memory
	g.use.MemoryUsed = max(g.use.MemoryUsed, u.MemoryUsed)
	if u.LinkGeneration >= g.use.LinkGeneration { // idle devices slow their link down
		g.use.LinkGeneration, g.use.LinkWidth = u.LinkGeneration, u.LinkWidth
	}
	g.use.LinkGenerationLimit, g.use.LinkWidthLimit = u.LinkGenerationLimit, u.LinkWidthLimit
}

// read gives what was told; nil if the device was never asked.
func (g *gauge) read() *graph.DeviceUse {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.use.Asked == 0 && g.use.Missing == "" {
		return nil
	}
	u := g.use
	if u.Told > 0 {
		mean := g.busy / float64(u.Told)
		u.Busy = &mean
	}
	return &u
}
