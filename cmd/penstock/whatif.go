package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/penstock-go/penstock/graph/tune"
)

func (a *app) whatIf(args []string) int {
	f := newFlags("whatif")
	items := f.Int64("items", 0, "")
	seed := f.Uint64("seed", 0, "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) == 0:
		return a.usage("whatif", "wanted a report in JSON, as run --report FILE.json writes it")
	case *items < 0 || *items > 1e9:
		return a.usage("whatif", fmt.Sprintf("--items must be at least 0 and at most 1e9, got %d", *items))
	}
	p, err := readProfile(rest[0], a.in)
	if err != nil {
		return a.usage("whatif", err.Error())
	}
	var questions []tune.Question
	for _, text := range rest[1:] {
		q, err := tune.ParseQuestion(text)
		if err == nil {
			_, err = q.Apply(p)
		}
		if err != nil {
			return a.usage("whatif", err.Error())
		}
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		questions = usualQuestions(p)
	}
	answer(a.out, p, questions, tune.Options{Items: *items, Seed: *seed})
	return exitDone
}

// readProfile reads a report; "-" is standard input.
func readProfile(file string, stdin io.Reader) (tune.Profile, error) {
	r := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return tune.Profile{}, err
		}
		defer f.Close()
		r = f
	}
	text, err := reportText(r)
	if err != nil {
		return tune.Profile{}, fmt.Errorf("%q: %w", file, err)
	}
	p, err := tune.Read(text)
	if err != nil {
		return p, fmt.Errorf("%q: %w", file, err)
	}
	return p, nil
}

// usualQuestions are asked where none is: those of the machine, and each stage twice as fast.
func usualQuestions(p tune.Profile) (all []tune.Question) {
	texts := []string{"cores=2x", "accelerators=2", "cache=1TB", "memory=2x"}
	for _, s := range p.Stages {
		if s.Time.Mean() > 0 {
			texts = append(texts, s.ID+"=2x")
		}
	}
	for _, text := range texts {
		q, err := tune.ParseQuestion(text)
		if err == nil {
			_, err = q.Apply(p)
		}
		if err == nil { // a report does not tell all that might be asked
			all = append(all, q)
		}
	}
	return all
}

// answer prints what formula and simulation say, beside what was measured.
func answer(w io.Writer, p tune.Profile, questions []tune.Question, o tune.Options) {
	now := tune.Simulate(p, o)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tformula\tlimited by\tsimulated\tgain\tsink waits\tp95 wait\n")
	row := func(name string, p tune.Profile, s tune.Outcome, gain string) {
		l := p.Predict()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.0f %%\t%s\n", name, perSecond(l.Rate), l.By, perSecond(s.Rate), gain, s.WaitRatio*100, waitText(s.Waits.P95))
	}
	if m := p.Measured; m.Rate > 0 {
		fmt.Fprintf(t, "measured\t\t\t%s\t\t%.0f %%\t%s\n", perSecond(m.Rate), m.WaitRatio*100, waitText(m.P95))
	}
	row("as it is", p, now, "")
	best := p.Allocate()
	for _, q := range questions {
		x, err := q.Apply(p)
		if err != nil { // they were tried before
			continue
		}
		s := tune.Simulate(x, o)
		row(q.Text, x, s, times(s.Rate, now.Rate))
	}
	x := best.Apply(p)
	s := tune.Simulate(x, o)
	row("best workers", x, s, times(s.Rate, now.Rate))
	_ = t.Flush()
	fmt.Fprintf(w, "\nbest workers: %s\n", workersText(p, best))
	if p.Cores > 0 && best.Cores > 0 {
		fmt.Fprintf(w, "they keep %.2g of %.4g cores busy\n", best.Cores, p.Cores)
	}
	if m := p.Measured.Rate; m > 0 && now.Rate > 0 && math.Abs(now.Rate/m-1) > 0.1 {
		fmt.Fprintf(w, "the simulation of the run as it was is %.0f %% off what was measured: take the answers as a direction only\n", 100*(now.Rate/m-1))
	}
}

func times(x, of float64) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f x", x/of)
}

func perSecond(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x >= 100:
		return fmt.Sprintf("%.0f/s", x)
	}
	return fmt.Sprintf("%.3g/s", x)
}

func waitText(seconds float64) string {
	d := time.Duration(min(seconds, 9e9) * 1e9) // the largest times that a report may tell do not fit
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// workersText lists the stages that get another number.
func workersText(p tune.Profile, a tune.Allocation) string {
	var parts []string
	for i, s := range p.Stages {
		if n := a.Workers[i]; n != s.Workers {
			parts = append(parts, fmt.Sprintf("%s %d -> %d", s.ID, s.Workers, n))
		}
	}
	if len(parts) == 0 {
		return "as they are"
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; then %s limits", a.By)
}

const whatIfHelp = `
Answers from one report what would change if, by a formula over mean times and by
a simulation that draws from the recorded ones. REPORT is what run --report
FILE.json wrote, or - for standard input. Rates are samples a second in the
steady phase. Q is a question: one change, or several that are made together,
parted by commas; without any the usual ones are asked.

  cores=16, cores=2x   as many cores, twice as many
  accelerators=8       as many sinks, each as quick as this one, take in turn
  disk=3GB/s           what the sources can read; their workers only wait for it
  cache=40GB           memory that keeps what the source reads
  decode.cache=40GB    the same behind another stage
  keep.cache=40GB      of a stage that is a cache: another limit
  decode=2x            the stage is twice as fast
  decode.workers=16    a setting of a stage: workers, buffer or window; 2x too
  memory=8GiB          the byte budget, of items under way and batches; 2x too

  --items N            items of the sink to simulate; default as many as the run
                       had
  --seed N             of the simulation; the same seed gives the same answers

The last row is the best that other numbers of workers could do, as few as that
needs; buffers and windows grow with them. The simulation knows workers, buffers,
windows, order, batches and their memory, lets items in as the byte budget has
room, and shares the cores among those who compute. It knows no memory bandwidth.
A report of a run that other programs disturbed gives answers about that.
`
