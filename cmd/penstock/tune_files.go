package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/graph/tune"
)

// fused measures the pipeline as run would, with overrides.
func (l *lab) fused(more ...string) (tune.Trial, error) {
	s, err := l.load(l.options(more))
	if err != nil {
		return tune.Trial{}, err
	}
	s.Pipeline.With(graph.Epochs(graph.Forever))
	return l.measure(s.Pipeline, nil)
}

// writeTuned writes all that a search found.
func (l *lab) writeTuned(dir string, r *tune.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	curves, err := json.MarshalIndent(tuneDocument(r), "", "  ")
	if err != nil {
		return err
	}
	var md strings.Builder
	fmt.Fprintf(&md, "# Tuning %s\n\n```text\n", filepath.Base(l.file))
	printTuned(&md, r)
	md.WriteString("```\n\n![throughput and memory by setting](curves.svg)\n")
	for name, text := range map[string]string{"tuned.yaml": l.tunedSpec(r, dir), "tune.json": string(curves) + "\n", "curves.svg": tune.SVG(r.Curves),
		"tune.md": md.String()} {
		if err := writeWhole(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// tuneDocument is tune.json.
func tuneDocument(r *tune.Result) any {
	type curve struct {
		Knob   string       `json:"knob"`
		Now    string       `json:"now"`
		Knee   string       `json:"knee"`
		Why    string       `json:"why"`
		Worse  string       `json:"worse"`
		Points []tune.Point `json:"points"`
	}
	doc := struct {
		Version   int               `json:"version"`
		Before    tune.Point        `json:"before"`
		After     tune.Point        `json:"after"`
		Settings  []string          `json:"settings"`
		Was       map[string]string `json:"was"`
		Ablation  []tune.Step       `json:"ablation"`
		Matrix    []tune.Cell       `json:"matrix"`
		Curves    []curve           `json:"curves"`
		Decisions []tune.Decision   `json:"decisions"`
	}{1, r.Before, r.After, []string{}, r.Was, r.Steps, append([]tune.Cell{}, r.Matrix...), []curve{}, r.Decisions}
	for _, s := range r.Settings {
		doc.Settings = append(doc.Settings, s.String())
	}
	for _, c := range r.Curves {
		doc.Curves = append(doc.Curves, curve{c.Name(), c.Now, c.Points[c.Knee].Value, c.Why, c.Worse, c.Points})
	}
	return doc
}

// tunedSpec is the text of the spec with the settings in it. Where they cannot be written into the text without changing
// its meaning, they stand before it as comments.
func (l *lab) tunedSpec(r *tune.Result, dir string) string {
	if len(r.Settings) == 0 {
		return "# penstock tune found nothing to change.\n" + l.belongs(nil, dir) + string(l.text)
	}
	head := fmt.Sprintf("# Tuned by penstock tune: %s before, %s after.\n", perSecond(r.Before.Rate), perSecond(r.After.Rate))
	head += l.belongs(r.Settings, dir)
	text, words, err := l.variant(r.Settings, cacheNotes(r))
	var changes []spec.Change
	for _, s := range r.Settings {
		if s.Key != tune.CacheKey {
			changes = append(changes, spec.Change{Stage: s.Stage, Key: s.Key, Value: s.Value, Note: s.Key + " was " + r.Was[s.Stage+"."+s.Key]})
		}
	}
	edited := text
	if err == nil {
		edited, err = spec.Edit(text, changes)
	}
	if err == nil {
		err = l.same(edited, r.Settings)
	}
	if err != nil { // a cache could be written, else there had been no trial with it
		head += fmt.Sprintf("# The settings could not be written into the text (%v); give them as --set:\n", err)
		for _, w := range words {
			head += "# --set " + w + "\n"
		}
		return head + string(text)
	}
	return head + string(edited)
}

// belongs says where a spec must lie for its paths, if that is not dir.
func (l *lab) belongs(set []tune.Setting, dir string) string {
	here, err := l.with(set, l.dir)
	if err != nil {
		return ""
	}
	there, err := l.with(set, dir)
	if err == nil && there.Pipeline.Describe() == here.Pipeline.Describe() {
		return ""
	}
	folder, err := filepath.Abs(l.dir)
	if err != nil {
		folder = l.dir
	}
	return fmt.Sprintf("# Its paths are relative to %s: move it there.\n", folder)
}

// same checks that an edited spec declares what the old one does with the settings.
func (l *lab) same(text []byte, set []tune.Setting) error {
	want, err := l.with(set, l.dir)
	if err != nil {
		return err
	}
	got, d := spec.Parse(l.file, text, l.a.catalog, l.options(nil))
	if got == nil {
		return d.Err()
	}
	if got.Pipeline.Describe() != want.Pipeline.Describe() {
		return fmt.Errorf("it would say something else")
	}
	return nil
}
