package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/sources"
)

// probeJPEG was made by bench/peers/data.py.
//
//go:embed testdata/probe.jpg
var probeJPEG []byte

// makeSmall makes the folders of a smoke run: pictures of the framework's own painter, and copies of the probe.
func (b *bench) makeSmall() error {
	dir, err := os.MkdirTemp("", "bench-smoke-*")
	if err != nil {
		return err
	}
	b.data, b.results, b.about = dir, filepath.Join(dir, "results"), "made-up pictures"
	for name, n := range map[string]int{"small": 128, "even": 64, "large": 16} {
		if _, err := (sources.PhotoFolder{Count: n}).Write(context.Background(), b.folder(name)); err != nil {
			return err
		}
	}
	for i := range 256 {
		sub := filepath.Join(b.folder("probe"), fmt.Sprintf("c%03d", i%2))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("%05d.jpg", i)), probeJPEG, 0o644); err != nil {
			return err
		}
	}
	return nil
}
