package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// tuneOptions are the options of tune.
type tuneOptions struct {
	set, knobs texts
	root, out  string
	seconds    float64
	repeat     int
	matrix     bool
}

func (a *app) tune(args []string) int {
	var o tuneOptions
	f := newFlags("tune")
	f.Var(&o.set, "set", "")
	f.Var(&o.knobs, "knob", "")
	f.StringVar(&o.root, "root", "", "")
	f.StringVar(&o.out, "out", "", "")
	f.Float64Var(&o.seconds, "seconds", 2, "")
	f.IntVar(&o.repeat, "repeat", 3, "")
	f.BoolVar(&o.matrix, "matrix", false, "")
	rest, code, done := a.begin(f, args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return a.usage("tune", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	}
	if err := o.check(); err != nil {
		return a.usage("tune", err.Error())
	}
	l, code := a.openLab(rest[0], o.set, o.root, o.seconds)
	if l == nil {
		return code
	}
	defer l.close()
	search, err := l.search(&o)
	if err != nil {
		return a.usage("tune", err.Error())
	}
	r, err := search.Run()
	if code := l.guard.code(); code != exitDone {
		return code
	}
	if err != nil {
		return a.fail(err)
	}
	l.autos(r)
	if err := l.writeTuned(o.out, r); err != nil {
		return a.fail(err)
	}
	printTuned(a.out, r)
	fmt.Fprintf(a.out, "\nwritten to %s: tuned.yaml, tune.json, curves.svg, tune.md\n", o.out)
	return exitDone
}

func (o *tuneOptions) check() error {
	switch {
	case o.out == "":
		return errors.New("--out DIR is missing: the folder for the tuned spec, the curves and the decisions")
	case !(o.seconds > 0 && o.seconds <= 3600):
		return fmt.Errorf("--seconds must be more than 0 and at most 3600, got %g", o.seconds)
	case o.matrix && len(o.knobs) < 2:
		return errors.New("--matrix needs at least two --knob ID.KEY=VALUE,VALUE")
	case o.repeat < 1 || o.repeat > 100:
		return fmt.Errorf("--repeat must be 1 to 100, got %d", o.repeat)
	}
	if st, err := os.Stat(o.out); err == nil && !st.IsDir() {
		return fmt.Errorf("--out %q is no folder", o.out)
	}
	return checkRoot(o.root)
}

// search sets a search over the spec up.
func (l *lab) search(o *tuneOptions) (*tune.Search, error) {
	s, err := l.load(l.options(nil))
	if err != nil {
		return nil, err
	}
	outline := s.Pipeline.Outline()
	search := &tune.Search{Repeat: o.repeat, Matrix: o.matrix, Say: l.say, Try: l.try, Cache: l.cacheKnob}
	for _, text := range o.knobs {
		k, err := l.knob(text, outline)
		if err != nil {
			return nil, err
		}
		search.Knobs = append(search.Knobs, k)
	}
	if n := tune.Cells(search.Knobs); o.matrix && n > tune.MostCells {
		return nil, fmt.Errorf("--matrix: more than %d combinations; give fewer knobs or values", tune.MostCells)
	}
	for _, st := range outline.Stages {
		search.More = append(search.More, moreOf(st)...)
		if st.Kind == "collate" {
			search.Batch, search.Size = st.ID, sizeOf(st)
		}
	}
	return search, nil
}

// moreOf are the knobs of a stage that the model does not know: with pin or without, and with a cache, without it, and with
// twice as much of it.
func moreOf(st graph.OutlineStage) []tune.Knob {
	switch st.Kind {
	case "pin":
		now := "false"
		for _, x := range st.Config {
			if x.Key == "off" {
				now = x.Value
			}
		}
		return []tune.Knob{{Stage: st.ID, Key: "off", Values: []string{"true", "false"}, Now: now}}
	case "memory_cache":
		for _, x := range st.Config {
			if n, err := strconv.ParseInt(strings.TrimSuffix(x.Value, "B"), 10, 64); x.Key == "limit" && err == nil && n > 1 {
				now := fmt.Sprintf("%dB", n)
				return []tune.Knob{{Stage: st.ID, Key: "limit", Values: []string{"1B", now, fmt.Sprintf("%dB", 2*n)}, Now: now}}
			}
		}
	}
	return nil
}

func sizeOf(st graph.OutlineStage) (n int) {
	for _, x := range st.Config {
		if x.Key == "size" {
			_, _ = fmt.Sscan(x.Value, &n)
		}
	}
	return n
}

// knob reads `decode.workers=1,2,4`, and tries that the spec takes the values.
func (l *lab) knob(text string, o graph.Outline) (k tune.Knob, err error) {
	name, values, ok := strings.Cut(text, "=")
	stage, key, dot := strings.Cut(name, ".")
	if !ok || !dot || key == "" || values == "" {
		return k, fmt.Errorf("--knob %q: wanted ID.KEY=VALUE,VALUE", text)
	}
	k = tune.Knob{Stage: stage, Key: key, Values: strings.Split(values, ",")}
	if k.Stage == "" {
		return k, fmt.Errorf("--knob %q: wanted ID.KEY=VALUE,VALUE", text)
	}
	st, ok := o.Stage(stage)
	if !ok {
		return k, fmt.Errorf("--knob %q: the spec has no stage %q", text, stage)
	}
	if key == tune.CacheKey {
		return l.cacheValues(text, k)
	}
	k.Show = key != "off" && key != "limit" && key != "workers" && key != "buffer" && key != "window"
	for _, x := range append(st.Options, st.Config...) {
		if x.Key == key {
			k.Now = x.Value
		}
	}
	for _, v := range k.Values {
		if _, err := l.load(l.options([]string{name + "=" + v})); err != nil {
			return k, fmt.Errorf("--knob %q: %w", text, err)
		}
	}
	if k.Now == "" {
		k.Now = "auto"
		k.Values = append([]string{"auto"}, k.Values...)
		if _, err := l.load(l.options([]string{name + "=auto"})); err != nil { // a field of the kind, with its default
			k.Now, k.Values = k.Values[1], k.Values[1:]
		}
	} else if !slices.Contains(k.Values, k.Now) {
		if _, err := l.load(l.options([]string{name + "=" + k.Now})); err == nil { // as it is, to compare with
			k.Values = append([]string{k.Now}, k.Values...)
		}
	}
	return k, nil
}

// autos writes auto where a setting was not given in the spec.
func (l *lab) autos(r *tune.Result) {
	s, err := l.load(l.options(nil))
	if err != nil {
		return
	}
	o := s.Pipeline.Outline()
	for _, x := range r.Settings {
		st, _ := o.Stage(x.Stage)
		given := x.Key == tune.CacheKey
		for _, opt := range st.Options {
			given = given || opt.Key == x.Key
		}
		if name := x.Stage + "." + x.Key; !given && r.Was[name] != "auto" {
			r.Was[name] = "auto, which took " + r.Was[name]
		}
	}
}

func printTuned(w io.Writer, r *tune.Result) {
	fmt.Fprintf(w, "before %s (%s to %s), after %s (%s to %s): %s\n", perSecond(r.Before.Rate), perSecond(r.Before.Low), perSecond(r.Before.High),
		perSecond(r.After.Rate), perSecond(r.After.Low), perSecond(r.After.High), times(r.After.Rate, r.Before.Rate))
	if r.Before.Crowded || r.After.Crowded {
		fmt.Fprintln(w, "other programs had the cores: these figures are not to be trusted; run it again when the machine is quiet")
	}
	if len(r.Settings) == 0 {
		fmt.Fprintln(w, "nothing to change: no setting that was tried does clearly better")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nablation\tsamples/s\tgain\tRAM")
	for i, s := range r.Steps {
		gain := ""
		if i > 0 {
			gain = fmt.Sprintf("%+.0f %%", 100*s.Gain)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Setting, perSecond(s.Rate), gain, bytesText(s.RSS))
	}
	_ = t.Flush()
	printMatrix(w, r.Matrix)
	for _, c := range r.Curves {
		fmt.Fprintf(w, "\n%s: knee at %s; %s\n", c.Name(), c.Points[c.Knee].Value, c.Why)
		if c.Worse != "" {
			fmt.Fprintln(w, c.Worse)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  value\tsamples/s\tlow\thigh\tsink waits\tcores\tRAM")
		for _, p := range c.Points {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%.0f %%\t%.2g\t%s\n", p.Value, perSecond(p.Rate), perSecond(p.Low), perSecond(p.High), 100*p.WaitRatio, p.CPU, bytesText(p.RSS))
		}
		_ = t.Flush()
	}
	fmt.Fprintln(w, "\ndecisions")
	for _, d := range r.Decisions {
		kept := "left"
		if d.Kept {
			kept = "kept"
		}
		if d.Knob == tune.CacheKey { // none was tried
			fmt.Fprintf(w, "  %4.0f s  %s\n", d.Second, d.Why)
			continue
		}
		fmt.Fprintf(w, "  %4.0f s  %s %s -> %s: %s -> %s, %s; %s\n", d.Second, d.Knob, d.From, d.To, perSecond(d.Before), perSecond(d.After), kept, d.Why)
	}
}

func printMatrix(w io.Writer, cells []tune.Cell) {
	if len(cells) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nall combinations\tsamples/s\tlow\thigh\tsink waits\tcores\tRAM")
	for _, p := range cells {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%.0f %%\t%.2g\t%s\n", p.Value, perSecond(p.Rate), perSecond(p.Low), perSecond(p.High), 100*p.WaitRatio, p.CPU, bytesText(p.RSS))
	}
	_ = t.Flush()
}

const tuneHelp = `
Sweeps one setting at a time from a baseline, keeps what clearly helps, and looks
for the next. Which settings, and up to where, comes from the model: workers of
the stages that limit, then their buffer and window; then pin, where there is one,
and the limit of a cache (1B is without it). Where the spec runs several epochs
and has no cache, one is tried where it may stand and is worth most, as large as
everything or as the memory allows. Each value is measured several times, all
values in turn, the beginning left out; what is compared are medians, and a value
must be clear of the spread. Fewer workers that do as well are taken too. Order
and the size of batches change more than speed, so they are only shown. DIR gets

  tuned.yaml   the spec with the settings, and the old ones as comments; a cache
               is a stage more in it
  curves.svg   throughput and RAM by setting
  tune.json    the curves, what each step brought, and the log of decisions
  tune.md      the same to read
` + setHelp + `  --knob ID.KEY=V,V   sweeps this knob over these values, and no others; may be given
                      several times. Any key or field of a stage; ID.cache=SIZE,SIZE
                      is a cache behind the stage, beside "off". Epochs after the
                      first are measured then, and the first may take ten times S
  --matrix            measures every combination of the values of the knobs given,
                      at most 64
  --seconds S         of each measurement, the first fifth left out; default 2
  --repeat N          measurements of each value; default 3
  --root DIR          as for run
  --out DIR           is made if it is not there

The whole takes a few minutes. Other programs on the machine spoil it.
`
