package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// mostFiles bounds how many files are put out of memory.
const mostFiles = 1_000_000

// paths are the files and folders that a stage is told to read, or why there are none.
func (l *lab) paths(st graph.OutlineStage) (roots []string, why string) {
	k, ok := l.a.catalog.Kind(st.Kind)
	if !ok || len(k.Entries) == 0 {
		return nil, "its files are not known"
	}
	for _, f := range k.Entries[0].Fields {
		if f.Type == registry.TypeSources {
			return nil, "the files of sources within a source are not known"
		}
		for _, s := range st.Config {
			if s.Key == f.Name && (f.Type == registry.TypePath || f.Type == registry.TypePaths) {
				roots = append(roots, s.Value)
			}
		}
	}
	if len(roots) == 0 {
		return nil, "the source reads no files"
	}
	return roots, ""
}

// evict asks the system to drop the files that a stage reads from memory. It says why it could not, or "".
func (l *lab) evict(st graph.OutlineStage) string {
	roots, why := l.paths(st)
	if why != "" {
		return why
	}
	files := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || files == mostFiles {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			files++
			return forget(f)
		})
		if err != nil {
			return fmt.Sprintf("%s could not be put out of memory: %v", root, err)
		}
	}
	if files == 0 {
		return "no files were found"
	}
	return ""
}
