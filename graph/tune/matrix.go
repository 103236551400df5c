package tune

import (
	"fmt"
	"slices"
	"strings"
)

// Cell is what one combination of settings gave.
type Cell struct {
	Settings []Setting `json:"-"`
	Point
}

// MostCells is how many combinations a matrix may have: each is measured several times.
const MostCells = 64

// Cells is how many combinations there are of the values of all knobs.
func Cells(knobs []Knob) int {
	n := 1
	for _, k := range knobs {
		if n *= len(k.Values); n > MostCells {
			return n
		}
	}
	return n
}

// matrix measures every combination of the knobs' values, all of them in turn, and takes the best one over if it is
// clearly better than what is set now. Settings that change more than speed are not taken over: they stay as they are.
func (s *Search) matrix(r *Result) error {
	if n := Cells(s.Knobs); n > MostCells {
		return fmt.Errorf("the matrix has more than %d combinations; give fewer knobs or values", MostCells)
	}
	cells := combinations(s.Knobs)
	if s.Say != nil {
		s.Say(fmt.Sprintf("%d combinations", len(cells)))
	}
	trials := make([][]Trial, len(cells))
	for range s.repeat() {
		for i, c := range cells {
			t, err := s.try(c.Settings, r)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Value, err)
			}
			trials[i] = append(trials[i], t)
		}
	}
	for i := range cells {
		cells[i].Point = pointOf(cells[i].Value, "", trials[i])
	}
	r.Matrix = cells
	now := make([]int, len(s.Knobs)) // values by knob
	for i, k := range s.Knobs {
		now[i] = max(0, slices.Index(k.Values, k.Now))
	}
	best := s.best(cells, now)
	for i, k := range s.Knobs { // each knob, with the others at their best
		at := slices.Clone(best)
		c := Curve{Knob: k}
		for at[i] = range k.Values {
			n := s.cell(at)
			p := pointOf(k.Values[at[i]], k.Stage, trials[n])
			c.Points = append(c.Points, p)
		}
		c.explain()
		r.Curves = append(r.Curves, c)
	}
	s.takeBest(r, now, best)
	return nil
}

// best is the combination that does best, of those that change nothing but speed.
func (s *Search) best(cells []Cell, now []int) []int {
	best := slices.Clone(now)
	for n := range cells {
		at := s.at(n)
		shown := false
		for i, k := range s.Knobs {
			shown = shown || k.Show && at[i] != now[i]
		}
		if !shown && cells[n].Rate > cells[s.cell(best)].Rate {
			best = at
		}
	}
	return best
}

// takeBest decides on the best combination, and says what each knob brought on top of those before it.
func (s *Search) takeBest(r *Result, now, best []int) {
	before, after := r.Matrix[s.cell(now)], r.Matrix[s.cell(best)]
	d := Decision{Second: r.spent, Knob: "all", From: before.Value, To: after.Value, Before: before.Rate, After: after.Rate,
		Why: fmt.Sprintf("the best of %d combinations", len(r.Matrix))}
	switch {
	case s.cell(now) == s.cell(best):
		d.Why = "it is best as it is"
	case after.Rate >= worth*before.Rate && after.Low > before.High:
		d.Kept = true
	default:
		d.Why = "no clear gain, put back"
	}
	r.Decisions = append(r.Decisions, d)
	if !d.Kept {
		return
	}
	at, last := slices.Clone(now), before.Rate
	for i, k := range s.Knobs {
		if at[i] = best[i]; best[i] == now[i] {
			continue
		}
		p, x := r.Matrix[s.cell(at)].Point, Setting{k.Stage, k.Key, k.Values[best[i]]}
		rate := p.Rate
		r.keep(x, k.Now)
		r.Steps = append(r.Steps, Step{"+ " + x.words(), rate, rate/max(last, 1e-12) - 1, p.RSS})
		last = rate
	}
}

// combinations are all of the knobs' values; the last knob's change first.
func combinations(knobs []Knob) []Cell {
	cells := []Cell{{}}
	for _, k := range knobs {
		var next []Cell
		for _, c := range cells {
			for _, v := range k.Values {
				set := append(slices.Clone(c.Settings), Setting{k.Stage, k.Key, v})
				next = append(next, Cell{Settings: set, Point: Point{Value: strings.TrimSpace(c.Value + " " + set[len(set)-1].String())}})
			}
		}
		cells = next
	}
	return cells
}

// cell is the place of a combination in the matrix; at is the way back.
func (s *Search) cell(at []int) (n int) {
	for i, k := range s.Knobs {
		n = n*len(k.Values) + at[i]
	}
	return n
}

func (s *Search) at(n int) []int {
	at := make([]int, len(s.Knobs))
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = n % len(s.Knobs[i].Values)
		n /= len(s.Knobs[i].Values)
	}
	return at
}
