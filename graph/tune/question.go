package tune

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Question is what might be changed: several changes at once. The zero value changes nothing.
type Question struct {
	Text    string
	changes []change
}

// change is one "stage.key=value".
type change struct {
	stage, key string
	x          float64
	times      bool // x multiplies what is there
}

// Keys of changes that are of no stage.
const (
	askCores        = "cores"
	askAccelerators = "accelerators"
	askDisk         = "disk"
	askCache        = "cache"
	askMemory       = "memory"
)

// ParseQuestion reads changes that are made together, parted by commas:
//
//	cores=16, cores=2x         the processor
//	accelerators=8             as many sinks, each as quick as this one, take from the pipeline
//	disk=3GB/s                 what all sources together can read at most; their workers then only wait for it
//	cache=40GB                 memory that keeps what the source reads, from the second epoch on
//	decode.cache=40GB          the same behind another stage
//	keep.cache=40GB            of a stage that is a cache: another limit
//	decode=2x                  the stage is twice as fast
//	decode.workers=16          a setting: workers, buffer, window
//	memory=8GiB, memory=2x     the byte budget, of items under way and batches
func ParseQuestion(text string) (Question, error) {
	q := Question{Text: text}
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || name == "" || value == "" {
			return q, fmt.Errorf("question %q: wanted NAME=VALUE, got %q", text, part)
		}
		c, err := parseChange(name, value)
		if err != nil {
			return q, fmt.Errorf("question %q: %w", text, err)
		}
		q.changes = append(q.changes, c)
	}
	return q, nil
}

func parseChange(name, value string) (c change, err error) {
	c.stage, c.key, _ = strings.Cut(name, ".")
	switch c.stage {
	case askCores, askAccelerators, askDisk, askCache, askMemory:
		if c.key != "" {
			return c, fmt.Errorf("%s has no %s", c.stage, c.key)
		}
		c.stage, c.key = "", c.stage
	}
	number := value
	switch {
	case c.key == askDisk:
		number, ok := strings.CutSuffix(value, "/s")
		if !ok {
			return c, fmt.Errorf("%s: wanted a rate such as 3GB/s, got %q", name, value)
		}
		c.x, err = parseSize(number)
		return c, err
	case c.key == askCache, c.key == askMemory && !strings.HasSuffix(value, "x"):
		c.x, err = parseSize(value)
		return c, err
	case c.key == "":
		c.key = "speed"
		fallthrough
	case c.key == askCores, c.key == askMemory, c.key == "workers", c.key == "buffer", c.key == "window":
		number, c.times = strings.CutSuffix(value, "x")
	case c.key == askAccelerators:
	default:
		return c, fmt.Errorf("%s: unknown; wanted a stage, or a stage's workers, buffer, window or cache", name)
	}
	if c.key == "speed" && !c.times {
		return c, fmt.Errorf("%s: wanted how many times as fast, such as 2x, got %q", name, value)
	}
	c.x, err = strconv.ParseFloat(number, 64)
	if err != nil || !(c.x > 0 && c.x <= most) {
		return c, fmt.Errorf("%s: wanted a number above 0, at most %d, got %q", name, most, value)
	}
	if whole := c.key != askCores && !c.times; whole && c.x != math.Trunc(c.x) {
		return c, fmt.Errorf("%s: wanted a whole number, got %q", name, value)
	}
	return c, nil
}

var units = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

func parseSize(text string) (float64, error) {
	for _, u := range units {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			x, err := strconv.ParseFloat(n, 64)
			if err != nil || !(x >= 0 && x < 1e9) {
				break
			}
			return x * u.bytes, nil
		}
	}
	return 0, fmt.Errorf("wanted a size with a unit, such as 40GB or 64MiB, got %q", text)
}

// Apply is the profile as it would be. It fails where the profile does not know what the question is about.
func (q Question) Apply(p Profile) (Profile, error) {
	p = p.Clone()
	for _, c := range q.changes {
		if err := c.apply(&p); err != nil {
			return p, fmt.Errorf("question %q: %w", q.Text, err)
		}
	}
	return p, nil
}

func (c change) apply(p *Profile) error {
	if c.stage == "" {
		return c.whole(p)
	}
	at := p.index(c.stage)
	if at < 0 {
		return fmt.Errorf("the report has no stage %q", c.stage)
	}
	s := &p.Stages[at]
	switch c.key {
	case "speed":
		s.Time = s.Time.Scaled(1 / c.x)
	case askCache:
		return p.cache(at, c.x)
	case "workers":
		if s.Merge {
			return fmt.Errorf("%q is a merge and has no workers", s.ID)
		}
		s.resize(c.count(s.Workers))
	case "buffer":
		s.Buffer = c.count(s.Buffer)
	case "window":
		s.Window = c.count(s.Window)
	}
	return nil
}

func (c change) count(now int) int {
	if c.times {
		return max(1, int(math.Round(min(most, c.x*float64(now)))))
	}
	return int(c.x)
}

// whole changes what is of no single stage.
func (c change) whole(p *Profile) error {
	switch c.key {
	case askCores:
		if p.Cores == 0 && c.times {
			return fmt.Errorf("the report does not tell the cores")
		}
		if c.times {
			p.Cores *= c.x
		} else {
			p.Cores = c.x
		}
	case askAccelerators:
		p.Stages[len(p.Stages)-1].Workers = int(c.x)
	case askMemory:
		if p.Memory == 0 && c.times {
			return fmt.Errorf("the report tells of no byte budget")
		}
		if c.times {
			return p.memory(c.x * float64(p.Memory))
		}
		return p.memory(c.x)
	case askCache:
		for i := range p.Stages {
			if len(p.Stages[i].From) == 0 {
				return p.cache(i, c.x)
			}
		}
	case askDisk:
		if p.read() == 0 {
			return fmt.Errorf("the report does not tell how many bytes the source reads")
		}
		p.Disk = c.x
		for i := range p.Stages {
			if s := &p.Stages[i]; len(s.From) == 0 { // it gives what the disk gives
				each := s.Bytes / c.x
				s.Time, s.Waits, s.Workers = Fixed(each), true, 1
			}
		}
	}
	return nil
}

// data is the bytes of an epoch's items behind a stage; 0: unknown.
func (p *Profile) data(at int) float64 {
	s := &p.Stages[at]
	items := float64(s.Epoch)
	for i := at; len(p.Stages[i].From) > 0; {
		i = p.Stages[i].From[0]
		if u := &p.Stages[i]; len(u.From) == 0 && u.Visits > 0 {
			items = float64(u.Epoch) / u.Visits * s.Visits * s.Out
		}
	}
	return items * s.Bytes
}

// SmallestCache is the fewest bytes of cache behind a stage with which what lies at or above it, and the disk, are no
// limit any more; ok is false where the report does not tell, 0 where no cache is needed.
func (p Profile) SmallestCache(at int) (bytes float64, ok bool) {
	data := p.data(at)
	if data == 0 {
		return 0, false
	}
	full := p.Clone()
	if full.cache(at, data) != nil {
		return 0, false
	}
	want := full.Predict().Rate
	low, high := 0.0, data
	if p.Predict().Rate >= want*(1-1e-9) {
		return 0, true
	}
	for range 50 {
		mid := (low + high) / 2
		try := p.Clone()
		_ = try.cache(at, mid)
		if try.Predict().Rate >= want*(1-1e-9) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// CoresFor is how many cores a rate of samples a second keeps busy.
func (p Profile) CoresFor(rate float64) float64 { return rate / p.Samples * p.Computing() }
