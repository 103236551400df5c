package page

import (
	"bytes"
	_ "embed" // the text of the page
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/report/internal/words"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

//go:embed live.js
var scriptText string

// Of is the page of a snapshot.
func Of(s graph.Snapshot) ([]byte, error) { return made(s, false) }

// Live is a page that keeps itself up to date: it asks the address it came from again, every two seconds, until the run
// is over. Its script is the only one that a page ever has.
func Live(s graph.Snapshot) ([]byte, error) { return made(s, true) }

func made(s graph.Snapshot, live bool) ([]byte, error) {
	text, err := report.JSON(s)
	if err != nil {
		return nil, err
	}
	return render(text, live)
}

// FromJSON is the page of a report that was written as report.json, now or long ago.
func FromJSON(text []byte) ([]byte, error) { return render(text, false) }

// page is what the template sees.
type page struct {
	r      tree
	order  []string // stages in order of declaration
	stages map[string]tree
	width  float64 // of the timeline in buckets

	Title, Style, Sub, State string
	Script                   template.JS
	Band                     string
	Verdict, Sentence        cell
	Tiles                    []tile
	Evidence, Warnings       []cell
	Line                     line
	Blame                    []bar
	Spread                   spread
	Flow                     template.HTML
	Stages, Lost, All, Waits table
	Buckets, Slow, Epochs    table
	Environment              table
	More                     []table
	Spec                     cell
	Overrides                []cell
	JSON                     template.JS
}

// tile is one of the answers at the top.
type tile struct {
	ID, Name string
	C        cell
	Note     string
}

func render(text []byte, live bool) ([]byte, error) {
	r, err := parse(text)
	if err != nil {
		return nil, err
	}
	p := newPage(r)
	var safe bytes.Buffer
	json.HTMLEscape(&safe, text)
	p.JSON = template.JS(safe.String())
	if live {
		p.Script = template.JS(scriptText)
	}
	var out bytes.Buffer
	t, err := template.New("page").Funcs(template.FuncMap{"css": func() template.CSS { return template.CSS(styleText) }}).Parse(pageText)
	if err == nil {
		err = t.Execute(&out, p)
	}
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n'), nil
}

func newPage(r tree) *page {
	p := &page{r: r, stages: map[string]tree{}}
	for _, s := range r.at("stages").list() {
		id := s.at("id").text()
		p.order = append(p.order, id)
		p.stages[id] = s
	}
	p.Title = words.Plain(r.at("pipeline").text())
	p.Sub, p.State = p.sub(), p.state()
	p.Band = p.band()
	p.Sentence = literal(r.at("verdict.sentence"))
	p.Tiles = p.tiles()
	for _, e := range r.at("verdict.evidence").list() {
		p.Evidence = append(p.Evidence, literal(e))
	}
	for _, w := range r.at("warnings").list() {
		p.Warnings = append(p.Warnings, literal(w))
	}
	p.Line, p.Blame, p.Spread, p.Flow = p.line(), p.blame(), p.spread(), p.flow()
	p.Stages, p.Lost, p.All, p.Waits = p.stageTable(), p.lostTable(), p.blameTable(), p.waitsTable()
	p.Buckets, p.Slow, p.Epochs, p.Environment = p.bucketTable(), p.slowTable(), p.epochTable(), p.environmentTable()
	for _, t := range []table{p.heldTable(), p.anyTable("devices", "Devices"), p.anyTable("cache", "Caches"), p.memoryTable(), p.placesTable(), p.mixTable(),
		p.anyTable("skips", "The first samples that were left out"), p.decisionTable()} {
		if len(t.Rows) > 0 {
			p.More = append(p.More, t)
		}
	}
	p.Spec = cell{Path: "spec.text", Value: r.at("spec.text").text(), Text: visible(r.at("spec.text").text())}
	for _, o := range r.at("spec.overrides").list() {
		p.Overrides = append(p.Overrides, literal(o))
	}
	return p
}

// visible is a text of several lines without what a screen might act on.
func visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = words.Plain(strings.TrimSuffix(l, "\r"))
	}
	return strings.Join(lines, "\n")
}

func (p *page) stage(id string) tree { return p.stages[id] }

// color is the class of a stage's color, the same all over the page.
func (p *page) color(id string) string {
	if i := slices.Index(p.order, id); i >= 0 {
		return fmt.Sprintf("s%d", i%8)
	}
	return "sn"
}

func (p *page) isBottleneck(id string) bool {
	return id != "" && p.r.at("verdict.bottleneck").text() == id
}

// sub says how much ran, and where.
func (p *page) sub() string {
	t := p.r.at("totals")
	parts := []string{words.Plural(t.at("samples").whole(), "sample")}
	if n := t.at("batches").whole(); n > 0 {
		parts[0] += " in " + words.Plural(n, "batch")
	}
	parts = append(parts, words.Plural(t.at("epochs").whole(), "epoch"), words.Seconds(t.at("seconds").value()))
	if r := t.at("samples_per_second"); !r.null() {
		parts = append(parts, words.Rate(r.value())+" samples/s")
	}
	if f := t.at("first_batch_seconds"); !f.null() {
		parts = append(parts, "first item after "+words.Seconds(f.value()))
	}
	if p.r.at("emulated").raw() == "true" {
		parts = append(parts, "the accelerator is emulated")
	}
	for _, x := range []string{"environment.cpu", "environment.os", "environment.go"} {
		if s := p.r.at(x).text(); s != "" {
			parts = append(parts, words.Plain(s))
		}
	}
	return fine(strings.Join(parts, " · "))
}

// state is "" for a run that is over.
func (p *page) state() string {
	switch {
	case p.r.at("totals.balanced").null() && !p.r.at("totals").null():
		return "running"
	case strings.HasPrefix(p.r.at("verdict.sentence").text(), "The run failed"):
		return "failed"
	}
	return ""
}

// band is how bad the wait is, as a class.
func (p *page) band() string {
	ratio, known := p.r.at("sink.wait_ratio").number()
	switch {
	case p.state() == "failed":
		return "bad"
	case !known:
		return "unknown"
	case ratio < 0.05:
		return "good"
	case ratio < 0.5:
		return "look"
	}
	return "bad"
}
