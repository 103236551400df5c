package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/report/page"
)

// given says which options stand on the command line.
func (f *flags) given() map[string]bool {
	m := map[string]bool{}
	f.Visit(func(x *flag.Flag) { m[x.Name] = true })
	return m
}

// checkReport refuses a report that could not be written, before a long run rather than after it.
func checkReport(file string) error {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".json", ".html", ".txt", ".md":
	default:
		return fmt.Errorf("--report %q: the ending picks the form; wanted .json, .html, .txt or .md, got %q", file, ext)
	}
	return checkTarget("--report", file)
}

// checkTarget refuses a file that could not be written; "" is none.
func checkTarget(option, file string) error {
	if file == "" {
		return nil
	}
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return fmt.Errorf("%s %q is a folder", option, file)
	}
	dir := filepath.Dir(file)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("%s %q: there is no folder %q", option, file, dir)
	}
	return nil
}

// writeReport writes a report in the form that its name asks for.
func writeReport(file string, s graph.Snapshot) error {
	var text []byte
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		b, err := report.JSON(s)
		if err != nil {
			return err
		}
		text = b
	case ".html":
		b, err := page.Of(s)
		if err != nil {
			return err
		}
		text = b
	case ".md":
		text = []byte(report.Markdown(s))
	default:
		text = []byte(report.Table(s))
	}
	return writeWhole(file, text)
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(file string, text []byte) error {
	return writing(file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// writing is [writeWhole] for what is not in memory.
func writing(file string, write func(io.Writer) error) error {
	if st, err := os.Stat(file); err == nil && !st.Mode().IsRegular() { // a pipe or a device cannot be replaced
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	err = write(tmp)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// checkRoot refuses a bound that is no folder: nothing would lie in it.
func checkRoot(dir string) error {
	if dir == "" {
		return nil
	}
	if st, err := os.Stat(dir); err != nil {
		return fmt.Errorf("--root: %w", err)
	} else if !st.IsDir() {
		return fmt.Errorf("--root %q is no folder", dir)
	}
	return nil
}

// mostReport bounds a report that is read: 64 MiB, some thousand stages.
const mostReport = 64 << 20

// reportText reads a report in JSON.
func reportText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostReport+1))
	if err == nil && len(text) > mostReport {
		err = fmt.Errorf("larger than %d MiB, which no report is", mostReport>>20)
	}
	return text, err
}
