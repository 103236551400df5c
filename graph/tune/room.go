package tune

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
)

const (
	// perEntry is what an entry of a cache takes beside the bytes of its sample (BenchmarkMemoryEntry of package cache).
	perEntry = 440
	// mostOfMemory is the part of the memory that a proposal may fill.
	mostOfMemory = 0.9
	// spareRoom is by how much a limit that is to hold everything is larger than what there is.
	spareRoom = 0.02
)

// CacheRoom is the largest limit of a cache, in bytes of samples, that the memory has room for beside what a run took:
// nine tenths of the container's memory, or of machine where there is no limit. The run held c, at least other bytes are
// left to the rest, and the set to be held has so many entries and bytes. Nothing known of the memory is +Inf.
func CacheRoom(s *graph.Snapshot, c *graph.CacheStats, machine, other int64, entries, set float64) float64 {
	limit := float64(machine)
	if m := s.Environment.MemoryLimit; m != nil {
		limit = float64(*m)
	}
	if limit <= 0 {
		return math.Inf(1)
	}
	each := 1.0 // memory for a byte that is kept
	if set > 0 {
		each += perEntry * entries / set
	}
	others := max(float64(other), float64(s.Memory.PeakRSS)-each*float64(c.Bytes))
	if e := s.Memory.Estimated; e != nil {
		others = max(others, float64(e.InFlight+e.Slabs))
	}
	return max(0, mostOfMemory*limit-max(0, others)) / each
}

// CacheLimit is the limit of a cache for a set of so many bytes, and how a setting says it: with all of it, or with what
// there is room for.
func CacheLimit(set, room float64) (limit float64, text string, all bool) {
	if limit, text = limitText(set*(1+spareRoom), math.Ceil); limit <= room {
		return limit, text, true
	}
	limit, text = limitText(room, math.Floor)
	return limit, text, false
}

// limitText is a size of few digits as settings are written, and the bytes that it says.
func limitText(bytes float64, round func(float64) float64) (float64, string) {
	unit, name := 1.0, "B"
	for _, u := range []string{"KiB", "MiB", "GiB"} {
		if bytes < 64*unit*1024 {
			break
		}
		unit, name = unit*1024, u
	}
	n := round(bytes / unit)
	return n * unit, fmt.Sprintf("%.0f%s", n, name)
}
