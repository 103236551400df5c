package graph

import (
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// launches are those that the sink told of.
type launches struct{ all atomic.Pointer[launchMeter] }

type launchMeter struct {
	busy atomic.Int64
	late meter.Histogram
}

func (l *launches) add(took, late time.Duration) {
	m := l.all.Load()
	if m == nil { // most runs have none, and a histogram is large
		l.all.CompareAndSwap(nil, &launchMeter{})
		m = l.all.Load()
	}
	m.busy.Add(int64(took))
	m.late.Add(int64(late), 1)
}

// read is nil before the first launch.
func (l *launches) read() *LaunchStats {
	m := l.all.Load()
	if m == nil {
		return nil
	}
	return &LaunchStats{Busy: time.Duration(m.busy.Load()), Late: distribution(m.late.Read())}
}
