package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/sources"
)

// maxSynth bounds the files of a made-up data set: beyond it a number is a slip that fills the disk.
const maxSynth = 10_000_000

func (a *app) synth(args []string) int {
	f := newFlags("synth")
	var p sources.PhotoFolder
	f.IntVar(&p.Count, "count", 600, "")
	f.IntVar(&p.Classes, "classes", 6, "")
	f.IntVar(&p.Width, "width", 320, "")
	f.IntVar(&p.Height, "height", 240, "")
	f.Uint64Var(&p.Seed, "seed", 0, "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) == 0:
		return a.usage("synth", "wanted: images DIR")
	case rest[0] != "images":
		msg := fmt.Sprintf("unknown sort of data set %q; there is images", rest[0])
		if registry.Near(rest[0], []string{"images"}) != "" {
			msg += `; did you mean "images"?`
		}
		return a.usage("synth", msg)
	case len(rest) != 2:
		return a.usage("synth", "wanted: images DIR")
	}
	for _, x := range []struct {
		name      string
		n, lo, hi int
	}{{"count", p.Count, 1, maxSynth}, {"classes", p.Classes, 1, 10_000}, {"width", p.Width, 1, 8192}, {"height", p.Height, 1, 8192}} {
		if x.n < x.lo || x.n > x.hi {
			return a.usage("synth", fmt.Sprintf("--%s must be from %d to %d, got %d", x.name, x.lo, x.hi, x.n))
		}
	}
	return a.writePhotos(p, rest[1])
}

func (a *app) writePhotos(p sources.PhotoFolder, dir string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	g := &guard{err: a.err, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { g.watch(a.signals, stop) })
	bytes, err := p.Write(ctx, dir)
	close(stop)
	wg.Wait()
	switch code := g.code(); {
	case errors.Is(err, errInterrupted):
		return code
	case err != nil:
		return a.fail(err)
	}
	fmt.Fprintf(a.out, "%d pictures in %d classes, %s, in %s\n", p.Count, p.Classes, size(bytes), dir)
	return exitDone
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
