package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

type deviceDoc struct {
	Name        string   `json:"name"`
	Stage       *string  `json:"stage"`
	Rate        *float64 `json:"copy_bytes_per_second"`
	BusyShare   *float64 `json:"copy_busy_share"`
	Copied      int64    `json:"copied_bytes"`
	Staged      int64    `json:"staged_copies"`
	PoolStall   float64  `json:"pool_stall_seconds"`
	Idle        *float64 `json:"idle_seconds"`
	Busy        *float64 `json:"busy_seconds"`
	Copies      int64    `json:"copies"`
	Bytes       int64    `json:"bytes"`
	Depth       int      `json:"depth"`
	PinnedBytes int64    `json:"pinned_bytes"`
	PinSaves    *float64 `json:"pin_saves_at_most_seconds"`
	Use         *useDoc  `json:"use"`
}

type useDoc struct {
	Asked               int64    `json:"asked"`
	Busy                *float64 `json:"busy_share"`
	MemoryUsed          *int64   `json:"memory_used_bytes"`
	Memory              *int64   `json:"memory_bytes"`
	LinkGeneration      *int     `json:"link_generation"`
	LinkWidth           *int     `json:"link_width"`
	LinkGenerationLimit *int     `json:"link_generation_limit"`
	LinkWidthLimit      *int     `json:"link_width_limit"`
	Missing             *string  `json:"missing"`
}

// known is nil for 0, which stands for what is not known.
func known[T int | int64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}

func useOf(u *graph.DeviceUse) *useDoc {
	if u == nil {
		return nil
	}
	return &useDoc{Asked: u.Asked, Busy: u.Busy, MemoryUsed: known(u.MemoryUsed), Memory: known(u.Memory), Missing: text(u.Missing),
		LinkGeneration: known(u.LinkGeneration), LinkWidth: known(u.LinkWidth),
		LinkGenerationLimit: known(u.LinkGenerationLimit), LinkWidthLimit: known(u.LinkWidthLimit)}
}

func devicesOf(s *graph.Snapshot) []deviceDoc {
	docs := make([]deviceDoc, 0, len(s.Devices))
	for _, d := range s.Devices {
		x := deviceDoc{Name: d.Name, Stage: text(d.Stage), Rate: ratio(float64(d.Bytes), d.CopyTime.Seconds()),
			BusyShare: ratio(d.CopyTime.Seconds(), s.Totals.Elapsed.Seconds()), Copied: d.CopiedBytes,
			Staged: d.StagedCopies, PoolStall: d.PoolStall.Seconds(), Copies: d.Copies, Bytes: d.Bytes, Depth: d.Depth,
			PinnedBytes: d.PinnedBytes, Use: useOf(d.Use)}
		if saves, _, ok := PinSaves(&d); ok {
			x.PinSaves = some(saves.Seconds())
		}
		if d.Steps > 0 {
			x.Idle, x.Busy = some(d.Idle.Seconds()), some(d.Busy.Seconds())
		}
		docs = append(docs, x)
	}
	return docs
}

func (c *cleaner) device(d *graph.DeviceStats) {
	at := "devices." + plain(d.Name)
	c.counts(at, &d.Copies, &d.Bytes, &d.CopiedBytes, &d.StagedCopies, &d.PinnedBytes, &d.Steps)
	c.settings(at, &d.Depth)
	c.time(&d.CopyTime, at+".copy_time")
	c.time(&d.PoolStall, at+".pool_stall")
	c.time(&d.Busy, at+".busy")
	c.time(&d.Idle, at+".idle")
	c.time(&d.SteadyIdle, at+".steady_idle")
	if d.Use == nil {
		return
	}
	u := *d.Use
	c.counts(at+".use", &u.Asked, &u.Told, &u.Memory, &u.MemoryUsed)
	c.settings(at+".use", &u.LinkGeneration, &u.LinkWidth, &u.LinkGenerationLimit, &u.LinkWidthLimit)
	c.share(at+".use.busy", &u.Busy)
	d.Use = &u
}

// PinSaves is the most that page-locked memory can save of what the device waits for a batch, and that wait. Copies from
// other memory run while the host is held, from page-locked memory they run beside everything: so at most all of a copy is
// saved, and no more than what is waited. ok is false where all batches are page-locked, or the device's wait is not known.
func PinSaves(d *graph.DeviceStats) (saves, wait time.Duration, ok bool) {
	if d.StagedCopies <= 0 || d.Copies <= 0 || d.Steps < 2 {
		return 0, 0, false
	}
	wait = d.Idle / time.Duration(d.Steps-1)
	copied := float64(d.CopyTime) / float64(d.Copies) * min(1, float64(d.StagedCopies)/float64(d.Copies))
	if copied >= float64(wait) { // compared as it is: the largest times do not fit when they are turned back
		return wait, wait, true
	}
	return time.Duration(copied), wait, true
}

// useText is what a device told of its use.
func useText(u *graph.DeviceUse) (parts []string) {
	if u.Missing != "" {
		return []string{"its use is not known (" + plain(u.Missing) + ")"}
	}
	if u.Busy != nil {
		parts = append(parts, "a kernel of any process ran "+percent(*u.Busy)+" of the time (asked "+plural(u.Told, "time")+")")
	}
	if u.Memory > 0 {
		parts = append(parts, size(u.MemoryUsed)+" of its "+size(u.Memory)+" of memory in use")
	}
	if u.LinkWidth > 0 {
		link := fmt.Sprintf("link PCIe %d x%d", u.LinkGeneration, u.LinkWidth)
		if u.LinkGeneration < u.LinkGenerationLimit || u.LinkWidth < u.LinkWidthLimit {
			link += fmt.Sprintf(" of at most %d x%d", u.LinkGenerationLimit, u.LinkWidthLimit)
		}
		parts = append(parts, link)
	}
	return parts
}

// devices says what was copied to each device, how fast, and what the device did meanwhile.
func (j *judge) devices() string {
	out := ""
	for _, d := range j.s.Devices {
		parts := []string{plural(d.Copies, "copy") + ", " + size(d.Bytes)}
		if r := ratio(float64(d.Bytes), d.CopyTime.Seconds()); r != nil {
			parts[0] += " at " + digits(*r/1e9, 3) + " GB/s"
		}
		if r := ratio(d.CopyTime.Seconds(), j.s.Totals.Elapsed.Seconds()); r != nil {
			parts = append(parts, "copies under way "+percent(min(*r, 1))+" of the time")
		}
		if d.Steps > 0 {
			parts = append(parts, "its work waited "+duration(d.Idle)+" for batches")
		}
		if d.PinnedBytes > 0 {
			parts = append(parts, size(d.PinnedBytes)+" page-locked")
		}
		if d.CopiedBytes > 0 {
			parts = append(parts, size(d.CopiedBytes)+" copied on the host first, for it lay elsewhere")
		}
		if d.StagedCopies > 0 {
			parts = append(parts, plural(d.StagedCopies, "batch")+" not page-locked, so the copies held the host up")
		}
		if saves, wait, ok := PinSaves(&d); ok {
			parts = append(parts, fmt.Sprintf("pinning can save at most %s of the %s that the device waits for a batch", duration(saves), duration(wait)))
		}
		if d.PoolStall > 0 {
			parts = append(parts, "batches waited "+duration(d.PoolStall)+" for page-locked memory")
		}
		if d.Unknown && d.Copies > 0 {
			parts = append(parts, "the consumer did not say when it used them")
		}
		if d.Use != nil {
			parts = append(parts, useText(d.Use)...)
		}
		out += wrap("Device "+plain(d.Name)+": "+strings.Join(parts, "; ")+".", "", "  ", width)
	}
	return out
}

// idle is the device that waits while the host does not; nil without one.
func (j *judge) idle() *graph.DeviceStats {
	if r := j.s.Sink.DeviceWaitRatio; r == nil || *r < bandHealthy || j.v.Starved {
		return nil
	}
	for i := range j.s.Devices {
		if d := &j.s.Devices[i]; d.SteadyIdle > 0 {
			return d
		}
	}
	return nil
}

// deviceWaits is the verdict where the device waits beside a host that does not: copies are asynchronous, so what they
// cost shows on the device alone.
func (j *judge) deviceWaits(d *graph.DeviceStats) string {
	j.v.Bottleneck, j.v.Cause, j.v.Limit = d.Stage, graph.CauseCopy, d.Stage
	text := fmt.Sprintf("%s itself waits only %s of the steady time, but the device waits %s of it%s.", name(j.sink()),
		percent(*j.s.Sink.WaitRatio), percent(*j.s.Sink.DeviceWaitRatio), band(*j.s.Sink.DeviceWaitRatio))
	if d.Copies == 0 || d.Steps < 2 {
		return text
	}
	copies, step := d.CopyTime.Seconds()/float64(d.Copies), d.Busy.Seconds()/float64(d.Steps-1)
	took := step + d.SteadyIdle.Seconds()/float64(d.Steps-1)
	text += fmt.Sprintf(" A batch takes %s to copy and %s to work on.", seconds(copies), seconds(step))
	at := j.m.index(d.Stage)
	switch {
	case d.Depth == 1:
		from, to := 1, 2
		j.v.Next = &Next{Stage: d.Stage, Knob: "depth", From: &from, To: &to}
		text += fmt.Sprintf(" With one slot on the device the two take turns. Next: raise depth of %s from 1 to 2.", name(d.Stage))
		a := advice{rate: 1 / max(copies, step), then: d.Stage}
		if copies <= step {
			a.then = j.sink()
		}
		for i, r := range j.m.all { // what the sink is busy with is waiting for the device
			if i != at && i != j.m.sink && r.can > 0 && r.can < a.rate {
				a.rate, a.then = r.can, r.stage.ID
			}
		}
		return text + j.predict(a)
	case copies >= 0.9*took:
		j.v.Next = &Next{Stage: d.Stage, Knob: "bytes"}
		text += " The link to the device is the limit. Next: send fewer bytes (pictures as uint8, made into floats on the device)"
		if d.StagedCopies > 0 {
			text += ", and put pin before it"
		}
		return text + "."
	}
	j.v.Next = &Next{Stage: d.Stage, Knob: "depth"}
	return text + fmt.Sprintf(" Neither fills the time: batches come unevenly. Next: raise depth of %s.", name(d.Stage))
}
