package tune

import "fmt"

// check refuses figures that no run has: they would be taken as sizes of what is simulated.
func (d *document) check() error {
	for _, f := range []struct {
		name string
		x    *float64
		most float64
	}{
		{"environment.cores", d.Env.Cores, most}, {"environment.cores_quota", d.Env.Quota, most},
		{"totals.seconds", &d.Totals.Seconds, longest}, {"sink.waits.p95", d.Sink.Waits.P95, longest},
		{"sink.phases.steady", &d.Sink.Phases.Steady, longest}, {"sink.steady_busy_seconds", &d.Sink.SteadyBusy, longest},
		{"sink.wait_ratio", d.Sink.WaitRatio, 1},
	} {
		if f.x != nil && !(*f.x >= 0 && *f.x <= f.most) {
			return fmt.Errorf("%s is %g, wanted 0 to %.10g", f.name, *f.x, f.most)
		}
	}
	for _, s := range d.Stages {
		for name, n := range map[string]int{"workers": s.Workers, "buffer": s.Buffer, "window": s.Window, "group": s.Group, "slabs": s.Slabs} {
			if n < 0 || n > most {
				return fmt.Errorf("stage %q: %s is %d, wanted 0 to %d", s.ID, name, n, most)
			}
		}
		if !histogram(s.Service.Buckets, longest) {
			return fmt.Errorf("stage %q: its service times are no histogram", s.ID)
		}
		if a := s.Admitted; s.SlabBytes < 0 || a != nil && (a.Items < 0 || a.Bytes < 0) {
			return fmt.Errorf("stage %q: a number of bytes is negative", s.ID)
		}
		if a := s.Admitted; a != nil && !histogram(a.Sizes, largest) {
			return fmt.Errorf("stage %q: the sizes of what was let in are no histogram", s.ID)
		}
		if s.In < 0 || s.Out < 0 || s.InFlight < 0 || s.Service.Mean != nil && !(*s.Service.Mean >= 0 && *s.Service.Mean <= longest) {
			return fmt.Errorf("stage %q: a count or a time is negative", s.ID)
		}
	}
	return nil
}

func histogram(all []bucket, most float64) bool {
	last := 0.0
	for _, b := range all {
		if !(b.Upto >= last) || b.Upto > most || b.Count < 0 {
			return false
		}
		last = b.Upto
	}
	return true
}

// What is believed: most is the largest number of workers, or size of a buffer; longest the longest time, in seconds;
// largest the largest item, in bytes.
const (
	most    = 1 << 20
	longest = 1e9
	largest = 1 << 50
)
