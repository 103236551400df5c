package graph_test

import (
	"context"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// entry is an item of the model: what a network makes, worked out plainly, one stage after the other.
type entry struct {
	id   uint64
	pos  item.Pos
	mark bool
}

// flow gives the next entry; ok is false at the end, bad at an error.
type flow func() (e entry, ok, bad bool)

// model is what the network delivers, and whether it ends with an error.
func (g *network) model() (out []entry, bad bool) {
	for _, s := range g.steps {
		s.from, s.again = 0, false
	}
	f := g.flow(g.root, new(int))
	for {
		e, ok, bad := f()
		if !ok {
			return out, bad
		}
		if !e.mark {
			out = append(out, e)
		}
	}
}

func (g *network) call(s *step, pos item.Pos) *graph.Call {
	return graph.NewCall(context.Background(), g.seed, s.id, pos)
}

func (g *network) flow(s *step, sources *int) flow {
	var ins []flow
	for _, in := range s.ins {
		ins = append(ins, g.flow(in, sources))
	}
	switch s.op {
	case "cache":
		return ins[0]
	case "source":
		number := *sources
		*sources++
		return g.sourceFlow(s, number)
	case "merge":
		return mergeFlow(ins)
	case "mix":
		return g.mixFlow(s, ins)
	case "block":
		return s.blockFlow(ins[0])
	case "bags", "lists":
		return g.groupFlow(s, ins[0])
	}
	var ready []entry
	failed := false
	return func() (entry, bool, bool) {
		for len(ready) == 0 && !failed {
			in, ok, bad := ins[0]()
			if !ok {
				return entry{}, false, bad
			}
			if in.mark {
				return in, true, false
			}
			ready, failed = g.apply(s, in)
		}
		if len(ready) == 0 {
			return entry{}, false, true
		}
		e := ready[0]
		ready = ready[1:]
		return e, true, false
	}
}

// apply works one entry off. What a flat-map emitted before it failed stays.
func (g *network) apply(s *step, in entry) (out []entry, bad bool) {
	if s.op == "fan" {
		for i := range s.fan(in.id) {
			out = append(out, entry{id: scramble(in.id, s.salt, uint64(i)), pos: in.pos.Down(i)})
		}
	}
	if s.failing(in.id) {
		if s.skip {
			return append(out, entry{pos: in.pos, mark: true}), false
		}
		return out, true
	}
	switch s.op {
	case "map":
		return []entry{{id: s.next(in.id, g.call(s, in.pos)), pos: in.pos}}, false
	case "filter":
		if s.keeps(in.id, in.pos.Epoch) {
			return []entry{in}, false
		}
	}
	return out, false
}

func (g *network) sourceFlow(s *step, number int) flow {
	pos := item.Pos{Source: number}
	failed := false
	return func() (entry, bool, bool) {
		if pos.Epoch < s.from {
			pos.Epoch, pos.Place = s.from, 0
		}
		if failed || pos.Epoch >= int64(g.epochs) {
			return entry{}, false, failed
		}
		e := entry{id: s.next(uint64(pos.Place%int64(s.n)), g.call(s, pos)), pos: pos}
		if s.failing(e.id) {
			if failed = !s.skip; failed {
				return entry{}, false, true
			}
			e.mark = true
		}
		if pos.Place++; pos.Place == int64(s.n) && !s.again {
			pos.Epoch, pos.Place = pos.Epoch+1, 0
		}
		return e, true, false
	}
}

// mixFlow takes entries in the shares of a mix, epoch by epoch.
func (g *network) mixFlow(s *step, ins []flow) flow {
	weights := make([]int64, len(ins))
	for i := range weights {
		weights[i] = 1
		if s.mix.Weights != nil {
			weights[i] = int64(s.mix.Weights[i]*10 + 0.5)
		}
	}
	for i := range weights { // as short as the weights themselves: equal dues are told apart by their number alone
		if len(s.mix.Weights) == 0 || !slices.Contains(s.mix.Weights, 0.3) {
			weights[i] = max(1, weights[i]/10)
		}
	}
	shares := engine.NewShares(weights, graph.StageKey(g.seed, s.id))
	heads, over := make([]*entry, len(ins)), make([]bool, len(ins))
	var sources []*step
	for _, in := range s.ins {
		sources = append(sources, in.sources()...)
	}
	for _, src := range sources {
		src.again = src.again || s.mix.Stop == graph.StopRepeat
	}
	least, open := int64(0), false
	peek := func(i int) (*entry, bool) {
		for heads[i] == nil || heads[i].pos.Epoch < least {
			if over[i] {
				return nil, false
			}
			e, ok, bad := ins[i]()
			if over[i] = !ok; bad {
				return nil, true
			}
			if heads[i] = nil; ok {
				heads[i] = &e
			}
		}
		return heads[i], false
	}
	return func() (entry, bool, bool) {
		for {
			if !open {
				next := int64(g.epochs)
				for i := range ins {
					e, bad := peek(i)
					if bad {
						return entry{}, false, true
					}
					if e != nil {
						next = min(next, e.pos.Epoch)
					}
				}
				if next == int64(g.epochs) {
					return entry{}, false, false
				}
				least, open = next, true
				shares.Begin(int32(next))
			}
			i := shares.Next()
			e, bad := peek(i)
			if bad {
				return entry{}, false, true
			}
			none := e == nil || e.pos.Epoch > least
			if !none && (s.mix.Stop != graph.StopRepeat || shares.Done[i] || e.pos.Place < int64(sources[i].n)) {
				shares.Took(i)
				heads[i] = nil
				return *e, true, false
			}
			if shares.Done[i] = true; none {
				shares.Drop(i)
			}
			if s.mix.Stop == graph.StopFirst || shares.Left() == 0 || s.mix.Stop == graph.StopRepeat && !slices.Contains(shares.Done, false) {
				least, open = least+1, false
				for _, src := range sources {
					src.from = max(src.from, least)
				}
			}
		}
	}
}

// blockFlow permutes blocks of entries of one epoch.
func (s *step) blockFlow(in flow) flow {
	var rows, ready []entry
	epoch, number := int64(-1), int64(0)
	over, failed := false, false
	flush := func() {
		if len(rows) == 0 {
			return
		}
		if rows[0].pos.Epoch != epoch {
			epoch, number = rows[0].pos.Epoch, 0
		}
		for _, i := range s.perm(epoch, number, len(rows)) {
			ready = append(ready, rows[i])
		}
		rows, number = nil, number+1
	}
	return func() (entry, bool, bool) {
		for len(ready) == 0 {
			if over {
				return entry{}, false, failed
			}
			e, ok, bad := in()
			if !ok {
				if over, failed = true, bad; !bad {
					flush()
				}
				continue
			}
			if len(rows) > 0 && rows[0].pos.Epoch != e.pos.Epoch {
				flush()
			}
			if rows = append(rows, e); len(rows) == s.n {
				flush()
			}
		}
		e := ready[0]
		ready = ready[1:]
		return e, true, false
	}
}

func (s *step) sources() (all []*step) {
	if s.op == "source" {
		return []*step{s}
	}
	for _, in := range s.ins {
		all = append(all, in.sources()...)
	}
	return all
}

// mergeFlow takes one entry of each input in turn, epoch by epoch.
func mergeFlow(ins []flow) flow {
	type head struct {
		e         entry
		has, over bool
	}
	heads := make([]head, len(ins))
	turn, epoch := 0, int64(-1)
	return func() (entry, bool, bool) {
		for {
			for range ins {
				i := turn
				turn = (turn + 1) % len(ins)
				h := &heads[i]
				if !h.has && !h.over {
					e, ok, bad := ins[i]()
					*h = head{e, ok, !ok}
					if bad {
						return entry{}, false, true
					}
				}
				if h.has && h.e.pos.Epoch == epoch {
					h.has = false
					return h.e, true, false
				}
			}
			turn = 0
			some, least := false, int64(0)
			for i := range heads {
				if h := &heads[i]; h.has && (!some || h.e.pos.Epoch < least) {
					some, least = true, h.e.pos.Epoch
				}
			}
			if !some {
				return entry{}, false, false
			}
			epoch = least
		}
	}
}

// groupFlow collects entries and takes the groups apart again.
func (g *network) groupFlow(s *step, in flow) flow {
	var ready, rows []entry
	var ahead *entry
	over, failed := false, false
	flush := func(short bool) {
		defer func() { rows = nil }()
		good := 0
		for _, r := range rows {
			if !r.mark {
				good++
			}
		}
		if good == 0 || short && s.drop && len(rows) < s.n {
			return
		}
		last, k := rows[len(rows)-1].pos, 0
		for i := range rows {
			r := rows[i]
			if r.mark && s.op == "lists" {
				continue // of items with a Release method there are no copies
			}
			for j := i; r.mark; j++ {
				r = rows[j%len(rows)]
				if j >= len(rows) { // after the last good row, the first
					for _, f := range rows {
						if !f.mark {
							r = f
							break
						}
					}
				}
			}
			ready = append(ready, entry{id: r.id, pos: last.Down(k)})
			k++
		}
	}
	return func() (entry, bool, bool) {
		for len(ready) == 0 {
			if over {
				return entry{}, false, failed
			}
			var e entry
			if ahead != nil {
				e, ahead = *ahead, nil
			} else {
				var ok, bad bool
				if e, ok, bad = in(); !ok {
					over, failed = true, bad
					if len(rows) > 0 && !bad {
						flush(true)
					}
					continue
				}
			}
			if len(rows) > 0 && rows[0].pos.Epoch != e.pos.Epoch {
				ahead = &e
				flush(true)
				continue
			}
			if !e.mark && s.op == "bags" {
				if s.failing(e.id) {
					if !s.skip {
						over, failed = true, true
						continue
					}
					e.mark = true
				}
				e.id = s.next(e.id, g.call(s, e.pos))
			}
			if rows = append(rows, e); len(rows) == s.n {
				flush(false)
			}
		}
		e := ready[0]
		ready = ready[1:]
		return e, true, false
	}
}
