package graph

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Within bounds what the pipeline's parts read to a folder and what lies below it; "" is no bound. Links are resolved
// before it is looked at where they lead. See docs/security.md for what this is a guard against.
func Within(dir string) PipelineOption { return func(p *Pipeline) { p.within = dir } }

// ErrOutside says that a path leads out of the folder that a pipeline may read.
var ErrOutside = errors.New("outside of the folder that may be read")

// Inside is an error if path, with its links resolved, does not lie in dir; "" is no bound. Of a path that does not
// exist, the part that does is resolved.
func Inside(dir, path string) error {
	if dir == "" {
		return nil
	}
	root, err := resolved(dir)
	if err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Clean(path)} { // who opens it may clean it first, which is another path behind a link
		real, err := resolved(p)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("%q is %w, %q", path, ErrOutside, dir)
		}
	}
	return nil
}

// maxHops bounds the links to what does not exist yet that are followed.
const maxHops = 40

// resolved is the absolute path without links. It does not take .. for the parent by name: behind a link that is another
// folder.
func resolved(path string) (string, error) {
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = wd + string(filepath.Separator) + path
	}
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if part == ".." {
			return "", err // where it would lead cannot be told
		}
	}
	rest := ""
	for hops := 0; hops < maxHops; {
		if real, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest), nil
		}
		if to, lerr := os.Readlink(path); lerr == nil { // it leads to what is not there
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
			hops++
			continue
		}
		up := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || up == path {
			break
		}
		path, rest = up, filepath.Join(filepath.Base(path), rest)
	}
	return "", err
}

// Inside is an error if the pipeline may not read path. Parts ask before they open what a spec or a data set names.
func (e *Env) Inside(path string) error { return Inside(e.within, path) }
