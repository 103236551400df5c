package tune

import (
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// A knob of this key puts a cache behind its stage. Its values are limits, as a spec says them, and CacheOff is without
// it. It is judged by the epochs after the first, so [Search].Try measures each setting with this key, CacheOff too, by
// [Later].
const (
	CacheKey = "cache"
	CacheOff = "off"
)

// ErrUnfit is the error of a trial that says nothing about its settings, for want of time. A search goes on without the
// cache that it was about.
var ErrUnfit = errors.New("this cannot be measured here")

// words are a setting as the ablation table says it.
func (s Setting) words() string {
	if s.Key != CacheKey {
		return s.String()
	}
	at := strings.IndexFunc(s.Value, func(r rune) bool { return r > '9' })
	if at < 0 {
		at = len(s.Value)
	}
	return strings.TrimSpace(fmt.Sprintf("cache behind %s, %s %s", s.Stage, s.Value[:at], s.Value[at:]))
}

// askCache asks where a cache is to be tried. What keeps one from it is a decision too.
func (s *Search) askCache(r *Result, done map[string]bool) (k Knob, ok bool, err error) {
	if s.Cache == nil || s.Knobs != nil || r.asked {
		return k, false, nil
	}
	k, why, err := s.Cache(r.Settings)
	switch {
	case err != nil:
		return k, false, err
	case len(k.Values) > 0 && !done[k.Name()]:
		r.asked = true // unless it is kept
		return k, true, nil
	}
	if r.asked = true; why != "" {
		r.Decisions = append(r.Decisions, r.left(CacheKey, why))
	}
	return k, false, nil
}

// left is the decision to leave a knob as it is without a trial.
func (r *Result) left(knob, why string) Decision {
	rate := r.Steps[len(r.Steps)-1].Rate
	return Decision{Second: r.spent, Knob: knob, From: CacheOff, To: CacheOff, Why: why, Before: rate, After: rate}
}

// unfit says that a sweep came to nothing, and writes down why.
func (k Knob) unfit(err error, r *Result) bool {
	if k.Key != CacheKey || !r.asked || !errors.Is(err, ErrUnfit) {
		return false
	}
	r.Decisions = append(r.Decisions, r.left(k.Name(), err.Error()))
	return true
}

// without is what a result is compared with: the settings as they were, measured in the same way.
func (r *Result) without() (set []Setting) {
	for _, x := range r.Settings {
		if x.Key == CacheKey {
			set = append(set, Setting{x.Stage, x.Key, CacheOff})
		}
	}
	return set
}

// kept says what a point of a cache's curve comes to.
func (c *Curve) kept(p Point) string {
	var parts []string
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	if s := p.cache(); s != nil && s.HitShare != nil {
		parts = append(parts, fmt.Sprintf("it held %s and had %.0f %% of what later epochs asked for", graph.SizeText(s.Bytes), 100**s.HitShare))
	}
	return strings.Join(append(parts, c.limited(p)), "; ")
}

// cache is what the last trial of a point tells of the cache that was put in, the last one of its spec.
func (p Point) cache() *graph.CacheStats {
	if len(p.trials) == 0 || p.Value == CacheOff {
		return nil
	}
	all := p.trials[len(p.trials)-1].Snapshot.Caches
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}
