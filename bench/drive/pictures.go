package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// rate is samples a second; cpuOf the processor time of one.
func rate(p pass) float64  { return p.rate() }
func cpuOf(p pass) float64 { return p.cpu }

// picturePeers are those that meet us beside PyTorch, with the number of pairs and the settings that are tried.
var picturePeers = []struct {
	name    string
	pairs   int
	workers []int
	pixels  bool // gives pictures in order, with the crop that it is told: its pixels can be compared
	must    float64
	aim     float64
}{
	{name: "ffcv", pairs: 5, workers: []int{1, 2}, must: 2.9, aim: 5},
	{name: "spdl", pairs: 3, workers: []int{2, 4}, pixels: true},
	{name: "grain", pairs: 3, workers: []int{2, 4, 16}, pixels: true},
	{name: "dali", pairs: 3, workers: []int{2, 4}},
	{name: "tf.data", pairs: 3, workers: []int{2, 4}},
}

func (b *bench) folder(name string) string { return filepath.Join(b.data, name) }

// small is the folder of small pictures that is measured: half of it in a quick run.
func (b *bench) small() string {
	if b.quick {
		return "scan"
	}
	return "small"
}

// picturesOf is our picture pipeline as a contender: the second of three epochs.
func (b *bench) picturesOf(s *side, root string, batch int, label string, more command) contender {
	ask := command{"root": b.folder(root), "batch": batch, "epochs": 3}
	for k, v := range more {
		ask[k] = v
	}
	return contender{s, ask, label}
}

func pictures(b *bench, r *result) error {
	r.Data = b.about
	ours, err := start(b.ours, command{"workload": "pictures"})
	if err != nil {
		return err
	}
	defer ours.stop()
	us := b.picturesOf(ours, b.small(), 64, "penstock", nil)
	ref, err := b.checkOurs(r, us)
	if err != nil {
		return err
	}
	kept := b.picturesOf(ours, b.small(), 64, "penstock, side indexes kept", command{"index": true})
	small := b.picturesOf(ours, b.small(), 64, "penstock, uint8 out", command{"bytes": true})
	m, err := meet(small, us, b.many(3), false)
	if err != nil {
		return err
	}
	r.saw(m.a, m.b)
	r.Lines = append(r.Lines, lineOf(us, "pictures/s", m.b, rate), lineOf(small, "pictures/s", m.a, rate))
	r.Ratios = append(r.Ratios, ratioOf("uint8 out against float32", small, us, m, rate, 0, 0))
	if err := watched(r, us); err != nil {
		return err
	}
	if err := b.meetTorch(r, us, kept, ref); err != nil {
		return err
	}
	for _, p := range picturePeers {
		k, ok := b.peers[p.name]
		if !ok {
			continue
		}
		if b.quick {
			p.workers = []int{2}
		}
		if err := b.meetPeer(r, us, k, p.workers, b.many(p.pairs), p.must, p.aim, p.pixels, ref); err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s could not be measured: %v", p.name, err))
			fmt.Println("  ", p.name, "could not be measured:", err)
		}
	}
	return nil
}

// checkOurs checks our own pictures, and gives those that the peers' are compared with.
func (b *bench) checkOurs(r *result, us contender) (rows, error) {
	probe, err := dump(us, command{"root": b.folder("probe")})
	if err != nil {
		return rows{}, err
	}
	r.checked("penstock", sameRule(probe)...)
	ref, err := dump(us, b.middles())
	if err != nil {
		return rows{}, err
	}
	again, err := dump(us, b.middles())
	if err != nil {
		return rows{}, err
	}
	r.checked("penstock again", samePixels(ref, again))
	return ref, nil
}

// middles is the pass whose pixels must be the same on all sides: no choice is left to the crop.
func (b *bench) middles() command {
	return command{"root": b.folder("even"), "sequential": true, "no_flip": true, "scale": []float64{1, 1}, "ratio": []float64{1, 1}}
}

// meetTorch finds PyTorch's best settings, with and without tuned malloc, in each version, and measures them.
func (b *bench) meetTorch(r *result, us, kept contender, ref rows) error {
	for _, name := range []string{"torch", "torch-debian"} {
		k, ok := b.peers[name]
		if !ok || (b.quick && name != "torch") {
			continue
		}
		for _, tune := range []bool{true, false} {
			best, err := b.bestTorch(r, k, tune, "scan", 64)
			if err != nil {
				return err
			}
			best.ask["root"] = b.folder(b.small())
			pairs, must, aim := 3, 0., 0.
			if name == "torch" && tune {
				pairs, must, aim = 5, 4.5, 8
			}
			err = b.against(r, us, best, b.many(pairs), must, aim, "pictures/s")
			if err == nil && name == "torch" && tune {
				err = b.againstBest(r, us, kept, best)
			}
			if err == nil && tune {
				err = agree(b, r, best, true, ref)
			}
			best.stop()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// againstBest is what only PyTorch's best is measured for: our second epoch with side indexes, and the memory.
func (b *bench) againstBest(r *result, us, kept, best contender) error {
	m, err := meet(kept, best, b.many(5), true)
	if err != nil {
		return err
	}
	r.saw(m.a, m.b)
	r.Lines = append(r.Lines, lineOf(kept, "pictures/s", m.a, rate))
	r.Ratios = append(r.Ratios, ratioOf("pictures a second, second epoch with side indexes", kept, best, m, rate, 5, 9))
	if err := watched(r, best); err != nil {
		return err
	}
	ours, theirs := pssOf(r, us.label), pssOf(r, best.label)
	v := ours / theirs
	r.Ratios = append(r.Ratios, ratio{What: "memory (PSS)", A: us.label, B: best.label, Value: spread{v, v, v}, Pairs: []float64{v}, Must: 1. / 2, Aim: 1. / 3, Less: true})
	return nil
}

// watched adds the memory to a contender's line, from a pass of its own, which watching slows down a little.
func watched(r *result, c contender) error {
	p, err := c.run(c.ask, true)
	if err != nil {
		return err
	}
	for i := range r.Lines {
		if r.Lines[i].Side == c.label {
			r.Lines[i].PSS = p.pss / 1e6
		}
	}
	return nil
}

func pssOf(r *result, label string) float64 {
	for _, l := range r.Lines {
		if l.Side == label {
			return l.PSS
		}
	}
	return 0
}

// against measures a pair of contenders and adds their lines, ours if it has none yet, and the ratio of their rates.
func (b *bench) against(r *result, us, them contender, n int, must, aim float64, unit string) error {
	m, err := meet(us, them, n, true)
	if err != nil {
		return err
	}
	r.saw(m.a, m.b)
	if !r.has(us.label) {
		r.Lines = append(r.Lines, lineOf(us, unit, m.a, rate))
	}
	r.Lines = append(r.Lines, lineOf(them, unit, m.b, rate))
	r.Ratios = append(r.Ratios, ratioOf(strings.Replace(unit, "/s", " a second", 1), us, them, m, rate, must, aim),
		ratioOf("processor time of one", us, them, m, cpuOf, 0, 0))
	fmt.Printf("   %-44s %6.2f times\n", them.label, r.Ratios[len(r.Ratios)-2].Value.Median)
	return nil
}

// bestTorch tries the numbers of workers, then the other decoder, and gives the best, which the caller stops.
func (b *bench) bestTorch(r *result, k kind, tune bool, root string, batch int) (contender, error) {
	name := k.name
	if tune {
		k.env = append(slices.Clone(k.env), tuned...)
		name += ", tuned malloc"
	}
	counts := []int{0, 1, 2, 4, 8, 16}
	if b.quick {
		counts = []int{0, 2, 4}
	}
	var best contender
	top := 0.0
	for _, decoder := range []string{"pil", "decode_jpeg"} {
		s, err := start(k, command{"workload": "pictures", "loader": decoder})
		if err != nil {
			return best, err
		}
		won := false
		for _, w := range counts {
			c := contender{s, command{"root": b.folder(root), "batch": batch, "workers": w}, fmt.Sprintf("%s, %s, %d workers", name, decoder, w)}
			v, err := try(r, c)
			if err != nil {
				s.stop()
				return best, err
			}
			if v > top {
				if best.side != nil && best.side != s {
					best.stop()
				}
				top, best, won = v, c, true
			}
		}
		if !won {
			s.stop()
		}
		if best.ask["workers"] != 0 { // the other decoder: only near the best
			counts = slices.Compact([]int{2, best.ask["workers"].(int)})
		} else {
			counts = []int{0, 2}
		}
	}
	return best, nil
}

// try runs a contender twice and notes the second.
func try(r *result, c contender) (float64, error) {
	if _, err := c.run(c.ask, false); err != nil {
		return 0, err
	}
	p, err := c.run(c.ask, false)
	if err != nil {
		return 0, err
	}
	l := lineOf(c, "samples/s", []pass{p}, rate)
	r.Scan = append(r.Scan, l)
	return p.rate(), nil
}

// meetPeer finds a peer's best number of workers, checks its pictures, and measures it.
func (b *bench) meetPeer(r *result, us contender, k kind, workers []int, pairs int, must, aim float64, pixels bool, ref rows) error {
	k.env = append(slices.Clone(k.env), tuned...)
	s, err := start(k, command{"workload": "pictures", "scratch": b.scratch})
	if err != nil {
		return err
	}
	defer s.stop()
	at := func(w int) contender {
		return contender{s, command{"root": b.folder("scan"), "batch": 64, "workers": w}, fmt.Sprintf("%s, %d workers", k.name, w)}
	}
	best, top := at(workers[0]), 0.0
	if len(workers) > 1 {
		for _, w := range workers {
			v, err := try(r, at(w))
			if err != nil {
				return err
			}
			if v > top {
				best, top = at(w), v
			}
		}
	}
	best.ask["root"] = b.folder(b.small())
	if err := b.against(r, us, best, pairs, must, aim, "pictures/s"); err != nil {
		return err
	}
	if err := watched(r, best); err != nil {
		return err
	}
	return agree(b, r, best, pixels, ref)
}

// agree checks a peer's pictures.
func agree(b *bench, r *result, them contender, pixels bool, ref rows) error {
	probe, err := dump(them, command{"root": b.folder("probe")})
	if err != nil {
		return err
	}
	r.checked(them.name, sameRule(probe)...)
	if pixels {
		mine, err := dump(them, b.middles())
		if err != nil {
			return err
		}
		r.checked(them.name, samePixels(ref, mine))
	}
	theirs, err := dump(them, command{"root": b.folder("even")})
	if err != nil {
		return err
	}
	r.checked(them.name, allOnce(theirs.labels, ref.labels))
	return nil
}

func large(b *bench, r *result) error {
	r.Data = b.about
	ours, err := start(b.ours, command{"workload": "pictures"})
	if err != nil {
		return err
	}
	defer ours.stop()
	us := b.picturesOf(ours, "large", 16, "penstock", nil)
	k, ok := b.peers["torch"]
	if !ok {
		return alone(r, us, "pictures/s")
	}
	for _, tune := range []bool{true, false} {
		if b.quick && !tune {
			continue
		}
		best, err := b.bestTorch(r, k, tune, "large", 16)
		if err != nil {
			return err
		}
		pairs, must, aim := 3, 0., 0.
		if tune {
			pairs, must, aim = 5, 2.5, 4
		}
		err = b.against(r, us, best, b.many(pairs), must, aim, "pictures/s")
		best.stop()
		if err != nil {
			return err
		}
	}
	return nil
}
