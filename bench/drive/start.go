package main

import (
	"fmt"
	"slices"
	"time"
)

// first measures from before a process starts until its first batch of 64 is there, and for peers that import much also
// from the end of their imports.
func first(b *bench, r *result) error {
	us := func() (pass, *side, error) {
		return fresh(b.ours, command{"workload": "pictures"}, command{"root": b.folder("small"), "batch": 64, "epochs": 1, "first_only": true})
	}
	k, ok := b.peers["torch"]
	var a, starts, without []pass
	for range b.many(15) {
		p, s, err := us()
		if err != nil {
			return err
		}
		a = append(a, p)
		if len(r.Lines) == 0 {
			r.Lines = append(r.Lines, line{Side: "penstock", Version: s.version, Unit: "ms from process start"})
		}
		if !ok {
			continue
		}
		k := k
		k.env = append(slices.Clone(k.env), tuned...)
		t, s, err := fresh(k, command{"workload": "pictures", "loader": "pil"}, command{"root": b.folder("small"), "batch": 64, "workers": 0, "first_only": true})
		if err != nil {
			return err
		}
		if len(r.Lines) == 1 {
			r.Lines = append(r.Lines, line{Side: "torch, tuned malloc, pil, 0 workers", Version: s.version, Unit: "ms from process start"},
				line{Side: "torch, the same, without start and import", Unit: "ms"})
		}
		starts = append(starts, t)
		t.whole = t.First
		without = append(without, t)
	}
	r.saw(a, starts)
	ms := func(p pass) float64 { return p.whole * 1e3 }
	for i, ps := range [][]pass{a, starts, without}[:len(r.Lines)] {
		r.Lines[i].Value, r.Lines[i].Passes = spreadOf(each(ps, ms)), len(ps)
	}
	v := spreadOf(each(a, ms))
	r.Ratios = append(r.Ratios, ratio{What: "milliseconds from process start", A: "penstock", B: "the limit", Value: v, Pairs: each(a, ms), Must: 100, Aim: 50, Less: true})
	if ok {
		sooner := func(p pass) float64 { return 1 / p.whole }
		r.Ratios = append(r.Ratios,
			ratioOf("sooner, without PyTorch's start and import", contender{label: "penstock"}, contender{label: "torch"}, meeting{a, without}, sooner, 4, 10),
			ratioOf("sooner, from process start", contender{label: "penstock"}, contender{label: "torch"}, meeting{a, starts}, sooner, 0, 0))
	}
	return nil
}

// fresh starts a side, asks for one pass and stops it. whole is from before the start.
func fresh(k kind, setup, ask command) (pass, *side, error) {
	began := time.Now()
	s, err := start(k, setup)
	if err != nil {
		return pass{}, nil, err
	}
	defer s.stop()
	p, err := s.run(ask, false)
	p.whole = time.Since(began).Seconds()
	return p, s, err
}

// cost is processor time: ours against C on libjpeg-turbo, and with clocks and digest against without.
func cost(b *bench, r *result) error {
	r.Data = b.about
	ours, err := start(b.ours, command{"workload": "pictures"})
	if err != nil {
		return err
	}
	defer ours.stop()
	us := b.picturesOf(ours, b.small(), 64, "penstock", nil)
	micro := func(p pass) float64 { return p.cpu * 1e6 }
	if b.cdecode != "" {
		c, err := start(kind{name: "C", argv: []string{b.cdecode, b.folder(b.small())}}, nil)
		if err != nil {
			return err
		}
		defer c.stop()
		them := contender{c, command{}, "C on libjpeg-turbo"}
		m, err := meet(us, them, b.many(7), true)
		if err != nil {
			return err
		}
		r.saw(m.a, m.b)
		r.Lines = append(r.Lines, lineOf(us, "microseconds of processor time a picture", m.a, micro), lineOf(them, "microseconds of processor time a picture", m.b, micro))
		r.Ratios = append(r.Ratios, ratioOf("processor time of a picture", us, them, m, cpuOf, 0.8, 0.6))
		r.Ratios[0].Less = true
		r.checked("both", check{What: "pictures", Found: fmt.Sprintf("%d and %d", m.a[0].Items, m.b[0].Items), OK: m.a[0].Items == m.b[0].Items})
	} else {
		r.Notes = append(r.Notes, "the C program could not be built (it takes a C compiler and libjpeg-turbo's headers)")
	}
	return costOf(b, r, ours, us)
}

// costOf is what parts of ours that users may have or not add to the processor time of a picture, in 20 pairs each.
func costOf(b *bench, r *result, ours *side, us contender) error {
	plain := b.picturesOf(ours, b.small(), 64, "penstock, without clocks and digest", command{"plain": true})
	defaults := b.picturesOf(ours, b.small(), 64, "penstock, as penstock run has it", command{"defaults": true})
	traced := b.picturesOf(ours, b.small(), 64, "penstock, as penstock run has it, with a trace", command{"trace": true})
	for _, x := range []struct {
		what      string
		with, not contender
		must, aim float64
	}{
		{"processor time with clocks and digest against without", us, plain, 1.03, 1.01},
		{"processor time with all that is on by default against without clocks and digest", defaults, plain, 1.03, 1.01},
		{"processor time with a trace against without one", traced, defaults, 1.05, 1.03},
	} {
		m, err := meet(x.with, x.not, b.many(20), true)
		if err != nil {
			return err
		}
		r.saw(m.a, m.b)
		micro := func(p pass) float64 { return p.cpu * 1e6 }
		r.Lines = append(r.Lines, lineOf(x.not, "microseconds of processor time a picture", m.b, micro))
		v := ratioOf(x.what, x.with, x.not, m, cpuOf, x.must, x.aim)
		v.Less = true
		r.Ratios = append(r.Ratios, v)
	}
	return nil
}
