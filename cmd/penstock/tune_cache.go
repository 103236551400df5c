package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/graph/tune"
)

// cacheKind is the kind of a cache that tune puts in.
const cacheKind = "memory_cache"

// try measures the pipeline as run would, with settings.
func (l *lab) try(set []tune.Setting) (tune.Trial, error) {
	s, err := l.with(set, l.dir)
	if err != nil {
		return tune.Trial{}, err
	}
	clearMemory()
	s.Pipeline.With(graph.Epochs(graph.Forever))
	if slices.ContainsFunc(set, isCacheSetting) {
		return l.later(s.Pipeline)
	}
	return l.measure(s.Pipeline, nil)
}

// clearMemory gives back what the run before held, and has the system forget how much memory was held at most, where it can
// (Linux): else each trial would show the memory of the one that took most.
func clearMemory() {
	debug.FreeOSMemory()
	if f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		_, _ = f.WriteString("5")
		_ = f.Close()
	}
}

// with is the spec with settings; its paths are relative to dir.
func (l *lab) with(set []tune.Setting, dir string) (*spec.Spec, error) {
	text, words, err := l.variant(set, nil)
	if err != nil {
		return nil, err
	}
	o := l.options(words)
	o.Dir = dir
	s, d := spec.Parse(l.file, text, l.a.catalog, o)
	if s == nil {
		return nil, d.Err()
	}
	return s, nil
}

// variant is the spec's text with the caches among some settings, and the others as --set takes them. notes are the
// comments, by stage. With an error the text is as far as it came.
func (l *lab) variant(set []tune.Setting, notes map[string]string) (text []byte, words []string, err error) {
	text = l.text
	for _, x := range set {
		if x.Key != tune.CacheKey {
			words = append(words, x.String())
		}
	}
	for _, x := range set {
		if x.Key != tune.CacheKey || x.Value == tune.CacheOff {
			continue
		}
		s, d := spec.Parse(l.file, text, l.a.catalog, l.options(nil))
		if s == nil {
			return text, words, d.Err()
		}
		next, err := spec.Insert(text, spec.Insertion{After: x.Stage, ID: freeCacheID(s), Kind: cacheKind, Fields: "limit: " + x.Value, Note: notes[x.Stage]})
		if err != nil {
			return text, words, err
		}
		text = next
	}
	return text, words, nil
}

// freeCacheID is an id that no stage has.
func freeCacheID(s *spec.Spec) string {
	o, id := s.Pipeline.Outline(), "keep"
	for n := 2; ; n++ {
		if _, taken := o.Stage(id); !taken {
			return id
		}
		id = fmt.Sprintf("keep_%d", n)
	}
}

// cacheNotes are the comments of caches that were kept: what they brought, where each was a step of its own.
func cacheNotes(r *tune.Result) map[string]string {
	notes := map[string]string{}
	for _, x := range r.Settings {
		notes[x.Stage] = "added: keeps what " + x.Stage + " makes, from the second epoch on"
	}
	for _, d := range r.Decisions {
		if stage, ok := strings.CutSuffix(d.Knob, "."+tune.CacheKey); ok && d.Kept {
			notes[stage] = fmt.Sprintf("added: %s without it, %s with it from the second epoch on", perSecond(d.Before), perSecond(d.After))
		}
	}
	return notes
}

// cacheValues reads `decode.cache=4GiB`: a cache behind a stage, and none.
func (l *lab) cacheValues(text string, k tune.Knob) (tune.Knob, error) {
	for _, v := range k.Values {
		if _, err := l.with([]tune.Setting{{Stage: k.Stage, Key: k.Key, Value: v}}, l.dir); err != nil {
			return k, fmt.Errorf("--knob %q: %w", text, err)
		}
	}
	if k.Now = tune.CacheOff; !slices.Contains(k.Values, k.Now) {
		k.Values = append([]string{k.Now}, k.Values...)
	}
	return k, nil
}

// fillTimes is how many times as long as a measurement the epoch before it may take.
const fillTimes = 10

// later measures whole epochs after the first, for the lab's time.
func (l *lab) later(p *graph.Pipeline) (tune.Trial, error) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	p.With(graph.EstimateMemory(nil))
	run, err := p.Start(ctx)
	if err != nil {
		return tune.Trial{}, err
	}
	var warm, end graph.Snapshot
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		warm, end = l.watchEpochs(run, over)
		cancel(errEnough)
	})
	err = run.Wait()
	close(over)
	wg.Wait()
	switch {
	case l.ctx.Err() != nil:
		return tune.Trial{}, errInterrupted
	case err != nil && !errors.Is(err, errEnough):
		return tune.Trial{}, err
	}
	t, ok := tune.Later(warm, end)
	if !ok {
		return t, fmt.Errorf("%w: a cache shows from the second epoch on, and within %.3g s there was no whole one after the first; give it more time (--seconds)",
			tune.ErrUnfit, 2*fillTimes*l.seconds)
	}
	return t, nil
}

// watchEpochs waits for the end of the first epoch, and then for the lab's time and the end of another. It gives the
// snapshots of then, the last one where one of them lasts too long.
func (l *lab) watchEpochs(run *graph.Run, over <-chan struct{}) (warm, end graph.Snapshot) {
	tick := time.NewTicker(time.Duration(min(0.1, max(0.002, l.seconds/200)) * float64(time.Second)))
	defer tick.Stop()
	for {
		select {
		case <-over:
			return warm, run.Snapshot()
		case <-tick.C:
		}
		end = run.Snapshot()
		n, took := tune.WholeEpochs(end), (end.Totals.Elapsed - warm.Totals.Elapsed).Seconds()
		switch {
		case n > 0 && warm.Pipeline == "":
			warm = end
		case took > fillTimes*l.seconds, n > 1 && took >= l.seconds:
			return warm, end
		}
	}
}

// place is where a cache may stand, and what it would keep.
type place struct {
	behind    string
	set       float64 // bytes
	limit     float64
	text      string // of the limit
	all       bool   // it holds everything
	room      float64
	now, then float64 // rate by the model, without it and with it
	limits    string  // then
	fill      float64 // seconds of an epoch without it
}

func (p *place) share() float64 { return min(1, p.limit/p.set) }

// cacheKnob finds the place where a cache is worth most, beside settings. Which places there are the graph knows: a cache
// is put behind each stage, and what is refused is none. At each that is left the pipeline runs with a cache that keeps
// nothing and counts what there is to keep; the rest is the model's.
func (l *lab) cacheKnob(set []tune.Setting) (k tune.Knob, why string, err error) {
	s, err := l.load(l.options(nil))
	if err != nil {
		return k, "", err
	}
	o := s.Pipeline.Outline()
	if slices.ContainsFunc(o.Stages, func(st graph.OutlineStage) bool { return st.Kind == cacheKind }) {
		return k, "", nil // its limit is a knob
	}
	for _, x := range o.Settings {
		if x.Key == "epochs" && x.Value == "1" {
			return k, "no cache was tried: the spec runs one epoch, and a cache pays from the second on (--set epochs=2 tries one)", nil
		}
	}
	places, why, err := l.places(set, o)
	if err != nil {
		return k, "", err
	}
	var best *place
	if len(places) > 0 {
		best, why = choose(places, fillTimes*l.seconds)
	}
	switch {
	case best != nil:
		return tune.Knob{Stage: best.behind, Key: tune.CacheKey, Now: tune.CacheOff, Values: []string{tune.CacheOff, best.text}, Note: why}, "", nil
	case slices.ContainsFunc(set, isCacheSetting):
		return k, "", nil // there is one by now
	}
	return k, why, nil
}

// places are those where a cache may stand. Where there is none, why is what keeps it from standing behind the source.
func (l *lab) places(set []tune.Setting, o graph.Outline) (all []place, why string, err error) {
	for _, st := range o.Stages {
		if st.Role == "sink" {
			continue
		}
		p, no, err := l.probe(set, st.ID)
		switch {
		case err != nil:
			return nil, "", err
		case p != nil:
			all = append(all, *p)
		case why == "":
			why = fmt.Sprintf("no place for a cache: not behind %q: %s", st.ID, no)
		}
	}
	return all, why, nil
}

func isCacheSetting(x tune.Setting) bool { return x.Key == tune.CacheKey }

// probe looks at one place: nil, and why, where no cache may stand.
func (l *lab) probe(set []tune.Setting, behind string) (p *place, no string, err error) {
	s, err := l.with(append(slices.Clone(set), tune.Setting{Stage: behind, Key: tune.CacheKey, Value: "1B"}), l.dir)
	if err != nil {
		return nil, refusal(err), nil
	}
	o := s.Pipeline.Outline()
	id := ""
	for _, st := range o.Stages {
		if st.Kind == cacheKind && slices.Contains(st.From, behind) {
			id = st.ID
		}
	}
	l.say(fmt.Sprintf("what a cache behind %s would keep", behind))
	clearMemory()
	s.Pipeline.With(graph.Epochs(graph.Forever), graph.NoFuse())
	t, err := l.measure(s.Pipeline, nil)
	var se *graph.StageError
	if errors.As(err, &se) && se.Stage == id {
		return nil, se.Err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	return l.placeOf(t, s, behind, id)
}

// refusal is the first reason that a spec is refused for, without its position.
func refusal(err error) string {
	var d spec.Diagnostics
	if errors.As(err, &d) {
		for _, x := range d {
			if !x.Warn {
				return x.Msg
			}
		}
	}
	return err.Error()
}

// placeOf reads a place from a run with a cache that kept nothing.
func (l *lab) placeOf(t tune.Trial, s *spec.Spec, behind, id string) (*place, string, error) {
	const few = "too little came there in the time of a measurement (--seconds)"
	profile, err := tune.Of(t.Snapshot)
	if err != nil {
		return nil, few, nil
	}
	at := slices.IndexFunc(profile.Stages, func(x tune.Stage) bool { return x.ID == id })
	c := slices.IndexFunc(t.Snapshot.Caches, func(x graph.CacheStats) bool { return x.ID == id })
	if at < 0 || c < 0 || profile.Stages[at].Set <= 0 || profile.Stages[at].Bytes <= 0 {
		return nil, few, nil
	}
	p := &place{behind: behind, set: profile.Stages[at].Set}
	entries := p.set / profile.Stages[at].Bytes
	p.room = tune.CacheRoom(&t.Snapshot, &t.Snapshot.Caches[c], max(0, graph.Host(".").Memory), s.Memory, entries, p.set)
	p.limit, p.text, p.all = tune.CacheLimit(p.set, p.room)
	for _, st := range t.Snapshot.Stages {
		if st.ID == id && st.ItemsIn > 0 {
			p.fill = entries / float64(st.ItemsIn) * t.Snapshot.Totals.Elapsed.Seconds()
		}
	}
	q, err := tune.ParseQuestion(fmt.Sprintf("%s.cache=%.0fB", id, p.limit))
	if err != nil {
		return nil, "", err
	}
	then, err := q.Apply(profile)
	if err != nil {
		return nil, "", err
	}
	x := then.Predict()
	p.now, p.then, p.limits = profile.Predict().Rate, x.Rate, x.By
	return p, "", nil
}

// What is near enough to be the same, and what is too little to be tried.
const (
	nearly    = 0.97
	tooLittle = 1.01
	tinyShare = 0.02
)

// choose is the place that is worth most by the model: of those that are as good the one that holds everything, and of
// these the last, which spares most. nil: none is worth a trial. why are the reasons.
func choose(places []place, patience float64) (best *place, why string) {
	gain := func(p *place) float64 { return p.then / max(1e-12, p.now) }
	most := 0.0
	for i := range places {
		most = max(most, gain(&places[i]))
	}
	for i := range places {
		p := &places[i]
		if gain(p) >= nearly*most && (best == nil || p.all || !best.all && p.share() >= best.share()) {
			best = p
		}
	}
	about := func(p *place) string {
		if p.all {
			return fmt.Sprintf("behind %s %s hold all there is, %s", p.behind, p.text, graph.SizeText(int64(p.set)))
		}
		return fmt.Sprintf("behind %s the memory has room for %s beside the rest of the run, %.0f %% of %s", p.behind, graph.SizeText(int64(p.limit)), 100*p.share(), graph.SizeText(int64(p.set)))
	}
	switch {
	case best.share() < tinyShare:
		largest := slices.MaxFunc(places, func(a, b place) int { return cmp.Compare(a.share(), b.share()) })
		return nil, "no cache was tried: " + about(&largest)
	case gain(best) < tooLittle:
		return nil, fmt.Sprintf("no cache was tried: by the model one behind %s brings nothing, for %s limits", best.behind, best.limits)
	case best.fill > patience:
		return nil, fmt.Sprintf("no cache was tried: by the model one of %s behind %s brings %+.0f %% from the second epoch on, but an epoch takes about %.0f s, and %.0f s are the most for it; give it more time (--seconds), or name it (--knob %s.cache=%s)",
			best.text, best.behind, 100*(gain(best)-1), best.fill, patience, best.behind, best.text)
	}
	why = about(best)
	if last := &places[len(places)-1]; last.behind != best.behind {
		why += "; " + about(last)
	}
	return best, why
}
