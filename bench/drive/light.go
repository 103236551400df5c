package main

import (
	"fmt"
	"slices"
)

// slow: PyTorch at 16 processes, as many as a machine of this size bears, against 16 and more of our workers.
func slow(b *bench, r *result) error {
	ours, err := start(b.ours, command{"workload": "slow"})
	if err != nil {
		return err
	}
	defer ours.stop()
	goroutines, err := start(b.ours, command{"workload": "bare"})
	if err != nil {
		return err
	}
	defer goroutines.stop()
	var torch *side
	if k, ok := b.peers["torch"]; ok {
		if torch, err = start(k, command{"workload": "slow"}); err != nil {
			return err
		}
		defer torch.stop()
	}
	for _, c := range []struct {
		workers, items int
		must, aim      float64
	}{{16, 16_000, 1.1, 1.15}, {256, 160_000, 12, 15}, {1024, 400_000, 45, 55}} {
		us := contender{ours, command{"items": b.count(c.items), "workers": c.workers}, fmt.Sprintf("penstock, %d workers", c.workers)}
		if torch == nil {
			if err := alone(r, us, "samples/s"); err != nil {
				return err
			}
			continue
		}
		them := contender{torch, command{"items": 10_240, "workers": 16}, "torch, 16 workers"}
		m, err := meet(us, them, b.many(5), true)
		if err != nil {
			return err
		}
		r.saw(m.a, m.b)
		r.Lines = append(r.Lines, lineOf(us, "samples/s", m.a, rate))
		r.Ratios = append(r.Ratios, ratioOf(fmt.Sprintf("samples a second, %d workers of ours", c.workers), us, them, m, rate, c.must, c.aim))
		if c.workers == 16 {
			r.Lines = append(r.Lines, lineOf(them, "samples/s", m.b, rate))
			if err := watched(r, them); err != nil {
				return err
			}
		}
		if err := watched(r, us); err != nil {
			return err
		}
		r.checked("both", shapes(m.a[0].answer, m.b[0].answer))
		if err := limitOf(b, r, contender{goroutines, us.ask, fmt.Sprintf("goroutines alone, %d", c.workers)}, them); err != nil {
			return err
		}
	}
	return nil
}

// limitOf measures what goroutines reach that sleep as long and fill as many numbers, and do nothing else.
func limitOf(b *bench, r *result, bare, them contender) error {
	m, err := meet(bare, them, b.many(5), true)
	if err != nil {
		return err
	}
	r.saw(m.a, m.b)
	r.Lines = append(r.Lines, lineOf(bare, "samples/s", m.a, rate))
	r.Ratios = append(r.Ratios, ratioOf("the limit: "+bare.label+", without order, batches and digest", bare, them, m, rate, 0, 0))
	return nil
}

// alone measures one side without a peer.
func alone(r *result, c contender, unit string) error {
	p, err := c.run(c.ask, false)
	if err != nil {
		return err
	}
	r.saw([]pass{p})
	r.Lines = append(r.Lines, lineOf(c, unit, []pass{p}, rate))
	return nil
}

// shapes checks that batches have the same shape and dtype.
func shapes(a, b answer) check {
	return check{
		What:  "shape and dtype of a batch",
		Found: fmt.Sprintf("%v %s and %v %s", a.Shape, a.DType, b.Shape, b.DType),
		OK:    len(a.Shape) > 0 && slices.Equal(a.Shape, b.Shape) && a.DType == b.DType,
	}
}

// shuffledOnce checks an epoch of numbered rows: each number once, and the first batch not in order.
func shuffledOnce(name string, p pass, n int) check {
	c := check{What: name + ": every row once, shuffled"}
	want := float64(n) * float64(n-1) / 2
	c.OK = p.Items == int64(n) && p.Sum == want && len(p.Labels) > 1 && !slices.IsSorted(p.Labels)
	c.Found = fmt.Sprintf("%d rows of %d, numbers add up to %.0f of %.0f, first batch in order: %v", p.Items, n, p.Sum, want, slices.IsSorted(p.Labels))
	return c
}

const tinyCount = 1_000_000

func tiny(b *bench, r *result) error {
	n := b.count(tinyCount)
	ours, err := start(b.ours, command{"workload": "tiny", "rows": n})
	if err != nil {
		return err
	}
	defer ours.stop()
	for _, batch := range []int{64, 1024} {
		us := contender{ours, command{"batch": batch, "epochs": 3}, fmt.Sprintf("penstock, batch %d", batch)}
		if len(b.peers) == 0 {
			if err := alone(r, us, "rows/s"); err != nil {
				return err
			}
			continue
		}
		best, theirs, err := b.bestTiny(r, n, batch)
		if err != nil {
			return err
		}
		m, err := meet(us, best, b.many(5), true)
		if err != nil {
			return err
		}
		r.saw(m.a, m.b)
		r.Lines = append(r.Lines, lineOf(us, "rows/s", m.a, rate), lineOf(best, "rows/s", m.b, rate))
		r.Ratios = append(r.Ratios, ratioOf(fmt.Sprintf("rows a second, batch %d", batch), us, best, m, rate, 30, 80))
		for _, c := range []contender{us, best} {
			if err := watched(r, c); err != nil {
				return err
			}
		}
		r.checked("both", shapes(m.a[0].answer, m.b[0].answer), shuffledOnce("penstock", m.a[0], n))
		if best.ask["items"] == nil {
			r.checked("both", shuffledOnce(best.name, m.b[0], n))
		}
		for _, s := range theirs {
			s.stop()
		}
	}
	return nil
}

// bestTiny tries every version of PyTorch and numbers of workers. Those that are given are running still.
func (b *bench) bestTiny(r *result, n, batch int) (best contender, all []*side, err error) {
	top := 0.0
	for _, name := range []string{"torch", "torch-debian"} {
		k, ok := b.peers[name]
		if !ok {
			continue
		}
		k.env = append(slices.Clone(k.env), tuned...)
		s, err := start(k, command{"workload": "tiny", "rows": n})
		if err != nil {
			return best, all, err
		}
		all = append(all, s)
		for _, w := range []int{0, 1, 2, 4, 8, 16} {
			if b.quick && w > 2 {
				continue
			}
			c := contender{s, command{"batch": batch, "workers": w, "items": 64_000}, fmt.Sprintf("%s, batch %d, %d workers", name, batch, w)}
			v, err := try(r, c)
			if err != nil {
				return best, all, err
			}
			if v > top {
				delete(c.ask, "items")
				if w > 0 {
					c.ask["items"] = 256_000
				}
				best, top = c, v
			}
		}
	}
	return best, all, nil
}

// paths compares what a list of five million paths takes after an epoch. PyTorch goes through a tenth of an epoch, which
// favours it: its workers copy more pages the more they read.
func paths(b *bench, r *result) error {
	n := b.count(5_000_000)
	ours, err := start(b.ours, command{"workload": "paths", "rows": n})
	if err != nil {
		return err
	}
	defer ours.stop()
	at := map[int]float64{}
	for _, w := range []int{1, 2, 4, 8, 64} {
		c := contender{ours, command{"workers": w}, fmt.Sprintf("penstock, %d workers", w)}
		p, err := c.run(c.ask, true)
		if err != nil {
			return err
		}
		r.saw([]pass{p})
		l := lineOf(c, "paths/s", []pass{p}, rate)
		l.PSS, at[w] = p.pss/1e6, p.pss
		r.Lines = append(r.Lines, l)
	}
	k, ok := b.peers["torch"]
	if !ok {
		return nil
	}
	for _, w := range []int{0, 2, 8} {
		if b.quick && w == 2 {
			continue
		}
		s, err := start(k, command{"workload": "paths", "rows": n})
		if err != nil {
			return err
		}
		c := contender{s, command{"workers": w, "items": n / 10}, fmt.Sprintf("torch, %d workers", w)}
		p, err := c.run(c.ask, true)
		s.stop()
		if err != nil {
			return err
		}
		r.saw([]pass{p})
		l := lineOf(c, "paths/s", []pass{p}, rate)
		l.PSS = p.pss / 1e6
		r.Lines = append(r.Lines, l)
		if w == 8 {
			v := at[8] / p.pss
			r.Ratios = append(r.Ratios, ratio{What: "memory (PSS) at 8 workers", A: "penstock", B: "torch", Value: spread{v, v, v}, Pairs: []float64{v}, Must: 1. / 5, Aim: 1. / 8, Less: true})
		}
	}
	return nil
}

// turnaround is the time that an epoch of one batch takes, where there is nothing to do but to begin and to end it.
func turnaround(b *bench, r *result) error {
	ours, err := start(b.ours, command{"workload": "turnaround"})
	if err != nil {
		return err
	}
	defer ours.stop()
	perSecond := func(p pass) float64 { return 1 / p.Seconds }
	us := contender{ours, command{"epochs": b.count(2000), "workers": 2}, "penstock"}
	k, ok := b.peers["torch"]
	if !ok {
		p, err := us.run(us.ask, false)
		if err != nil {
			return err
		}
		r.Lines = append(r.Lines, lineOf(us, "epochs/s", []pass{p}, perSecond))
		return nil
	}
	torch, err := start(k, command{"workload": "turnaround"})
	if err != nil {
		return err
	}
	defer torch.stop()
	them := contender{torch, command{"epochs": 40, "workers": 2}, "torch, 2 persistent workers"}
	m, err := meet(us, them, b.many(7), true)
	if err != nil {
		return err
	}
	r.saw(m.a, m.b)
	r.Lines = append(r.Lines, lineOf(us, "epochs/s", m.a, perSecond), lineOf(them, "epochs/s", m.b, perSecond))
	for i := range r.Lines {
		r.Lines[i].CPU = 0
	}
	r.Ratios = append(r.Ratios, ratioOf("epochs a second", us, them, m, perSecond, 50, 200))
	return nil
}
