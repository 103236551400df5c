package tune

import "fmt"

// cacheDoc is what a report tells of a cache.
type cacheDoc struct {
	ID     string   `json:"id"`
	Hits   int64    `json:"hits"`
	Misses int64    `json:"misses"`
	Bytes  int64    `json:"bytes"`
	Limit  int64    `json:"limit"`
	Best   *float64 `json:"best_hit_share"`
}

// caches tells the stages that are caches what they missed, and how much there is to hold.
func (d *document) caches(p *Profile) {
	for _, c := range d.Cache {
		at := p.index(c.ID)
		if at < 0 || c.Hits < 0 || c.Misses <= 0 || c.Bytes < 0 || c.Limit <= 0 || c.Best == nil || !(*c.Best > 0 && *c.Best <= 1) {
			continue
		}
		s := &p.Stages[at]
		s.Missed = float64(c.Misses) / (float64(c.Hits) + float64(c.Misses))
		if s.Set = float64(c.Bytes); *c.Best < 1 {
			s.Set = float64(c.Limit) / *c.Best
		}
	}
}

// cache spares the stages up to at the share of the items that fits. With one pass over all in random order each epoch,
// the share of hits is the share that fits, if nothing is thrown out (Mohan and others, "Analyzing and mitigating data
// stalls", 2021). Of a stage that is a cache the size is another limit: its run has spared a share already, and what is
// above it was visited so much less.
func (p *Profile) cache(at int, size float64) error {
	s := &p.Stages[at]
	if s.Missed > 0 && s.Set > 0 {
		p.spare(at, (1-min(1, size/s.Set))/s.Missed)
		return nil
	}
	data := p.data(at)
	if data == 0 {
		return fmt.Errorf("the report does not tell the bytes of an epoch of %q", s.ID)
	}
	p.spare(at, 1-min(1, size/data))
	return nil
}

// spare leaves a part of the work of a stage and those above it; more than 1 is more work.
func (p *Profile) spare(at int, left float64) {
	s := &p.Stages[at]
	if left > 1 {
		s.Time = s.Time.Scaled(left)
	} else {
		s.Time = s.Time.Spared(1 - left)
	}
	if len(s.From) == 0 {
		s.Read *= left
	}
	for _, from := range s.From {
		p.spare(from, left)
	}
}
