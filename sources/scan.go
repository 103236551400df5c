package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
)

const (
	dirChunk    = 1024 // names read at once; only so many strings live at a time
	maxLinks    = 3    // followed on one path: twenty folders that link to each other make 20^8 paths of 8
	sweepLength = 1 << 20
)

// listing is what a scan found.
type listing struct {
	paths   Paths
	runs    []run // of equal label, in the order of the paths
	classes []string
	left    [leftKinds]leftOut
}

type run struct{ start, label int64 }

// label is the class of path i, -1 without one.
func (l *listing) label(i int64) int64 {
	return l.runs[sort.Search(len(l.runs), func(k int) bool { return l.runs[k].start > i })-1].label
}

// fingerprint tells one listing from another: by its paths, and by its labels, which a class without files moves.
func (l *listing) fingerprint() string {
	labels := make([]int64, 0, 2*len(l.runs))
	for _, r := range l.runs {
		labels = append(labels, r.start, r.label)
	}
	return l.paths.fingerprint() + "-" + fingerprint(labels)
}

// What a scan leaves out, or finds odd, and says so.
const (
	leftHidden = iota
	leftExtension
	leftSpecial
	leftBroken
	leftLoop
	leftDeep
	leftOutside
	oddRoot
	oddEmptyClass
	leftKinds
)

var leftWords = [leftKinds]string{
	leftHidden:    "left out %d hidden files and folders, whose names begin with a dot",
	leftExtension: "left out %d files whose names do not end in one of extensions",
	leftSpecial:   "left out %d special files: pipes, sockets, devices",
	leftBroken:    "left out %d links that lead nowhere",
	leftLoop:      "left out %d links to a folder they lie in, which would never end",
	leftDeep:      "left out %d links to folders, for 3 links were followed on the way to them",
	leftOutside:   "left out %d links that lead out of the folder that may be read",
	oddRoot:       "%d files lie in the root itself, so they have no class: their label is -1",
	oddEmptyClass: "%d class folders hold no files; they keep their labels",
}

type leftOut struct {
	n     int64
	first string
}

func (l *listing) leave(kind int, folder []byte, name string) {
	if o := &l.left[kind]; o.n == 0 {
		o.first = string(folder) + name
	}
	l.left[kind].n++
}

// lines are the warnings of a scan, one for each kind of thing.
func (l *listing) lines(root string) []string {
	var lines []string
	for k, o := range l.left {
		if o.n > 0 {
			lines = append(lines, fmt.Sprintf("folder %q: "+leftWords[k]+" (the first is %q)", root, o.n, o.first))
		}
	}
	return lines
}

// scanner walks a tree. Paths come in the byte order of their slash form, whatever the file system's own order is.
type scanner struct {
	listing
	ctx    context.Context
	root   string
	exts   []string
	left   *exclusion
	inside func(path string) error // of what a link leads to
	path   []byte                  // scratch
}

func scan(ctx context.Context, root string, exts []string, left *exclusion, inside func(string) error) (*listing, error) {
	s := &scanner{ctx: ctx, root: root, left: left, inside: inside}
	for _, e := range exts {
		s.exts = append(s.exts, "."+strings.ToLower(strings.TrimPrefix(e, ".")))
	}
	if info, err := os.Stat(root); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("root %q is a file, wanted a folder", root)
	}
	if err := s.folder(nil, 0); err != nil {
		return nil, err
	}
	s.finish()
	return &s.listing, nil
}

// finish sets the labels by sorted class name: the order of the paths is another one where a name begins with another.
func (s *scanner) finish() {
	sorted := slices.Clone(s.classes)
	slices.Sort(sorted)
	for i := range s.runs {
		if r := &s.runs[i]; r.label >= 0 {
			name := s.classes[r.label]
			n, _ := slices.BinarySearch(sorted, name)
			if r.label = int64(n); i+1 < len(s.runs) && s.runs[i+1].start == r.start || r.start == s.paths.n {
				s.leave(oddEmptyClass, nil, name)
			}
		}
	}
	s.classes, s.paths.last = sorted, nil
	if s.paths.n > sweepLength {
		debug.FreeOSMemory() // the names as the system gave them were far more than the list
	}
}

// names are those of one folder, in one piece; folders' names end in a slash, so that sorting them sorts the paths
// below.
type names struct {
	text []byte
	ends []nameRef
}

// nameRef is where a name lies in text: its start, its length in 16 bits, and whether it is a link in the lowest one.
type nameRef uint64

func refTo(start, size int, link bool) nameRef {
	r := nameRef(start)<<17 | nameRef(uint16(size))<<1
	if link {
		r |= 1
	}
	return r
}

func (r nameRef) link() bool { return r&1 != 0 }

func (n *names) at(r nameRef) []byte {
	start := uint64(r >> 17)
	return n.text[start : start+uint64(uint16(r>>1))]
}

func (s *scanner) folder(rel []byte, links int) error {
	n, err := s.read(rel, links)
	if err != nil {
		return err
	}
	slices.SortFunc(n.ends, func(a, b nameRef) int { return bytes.Compare(n.at(a), n.at(b)) })
	for _, r := range n.ends {
		name := n.at(r)
		if name[len(name)-1] != '/' {
			s.file(rel, name)
			continue
		}
		if len(rel) == 0 {
			s.runs = append(s.runs, run{s.paths.n, int64(len(s.classes))})
			s.classes = append(s.classes, string(name[:len(name)-1]))
		}
		more := links
		if r.link() {
			more++
		}
		if err := s.folder(slices.Concat(rel, name), more); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) file(rel, name []byte) {
	s.path = append(append(s.path[:0], rel...), name...)
	if s.left.has(s.path) {
		return
	}
	if len(rel) == 0 {
		s.leave(oddRoot, nil, string(name))
		if k := len(s.runs); k == 0 || s.runs[k-1].label >= 0 {
			s.runs = append(s.runs, run{s.paths.n, -1})
		}
	}
	s.paths.add(s.path)
}

// read lists a folder. One that cannot be read is an error: its samples would be missing from every epoch.
func (s *scanner) read(rel []byte, links int) (*names, error) {
	dir := s.full(rel)
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := &names{}
	for {
		if err := context.Cause(s.ctx); err != nil {
			return nil, err
		}
		entries, err := f.ReadDir(dirChunk)
		for _, e := range entries {
			s.entry(n, rel, e, links)
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return nil, err
		}
	}
}

func (s *scanner) full(rel []byte) string {
	return filepath.Join(s.root, filepath.FromSlash(string(rel)))
}

func (s *scanner) entry(n *names, rel []byte, e fs.DirEntry, links int) {
	name, kind, link := e.Name(), e.Type(), e.Type()&fs.ModeSymlink != 0
	if name[0] == '.' {
		s.leave(leftHidden, rel, name)
		return
	}
	if link {
		info, err := os.Stat(filepath.Join(s.full(rel), name))
		switch {
		case err != nil:
			s.leave(leftBroken, rel, name)
			return
		case s.inside(filepath.Join(s.full(rel), name)) != nil:
			s.leave(leftOutside, rel, name)
			return
		case info.IsDir() && s.above(rel, info):
			s.leave(leftLoop, rel, name)
			return
		case info.IsDir() && links >= maxLinks:
			s.leave(leftDeep, rel, name)
			return
		}
		kind = info.Mode().Type()
	}
	switch {
	case kind.IsDir():
		name += "/"
	case !kind.IsRegular():
		s.leave(leftSpecial, rel, name)
		return
	case !s.wanted(name):
		s.leave(leftExtension, rel, name)
		return
	}
	n.ends = append(n.ends, refTo(len(n.text), len(name), link))
	n.text = append(n.text, name...)
}

// above says whether a folder is rel or one of those it lies in.
func (s *scanner) above(rel []byte, info fs.FileInfo) bool {
	for {
		if up, err := os.Stat(s.full(rel)); err == nil && os.SameFile(up, info) {
			return true
		}
		if len(rel) == 0 {
			return false
		}
		rel = rel[:bytes.LastIndexByte(rel[:len(rel)-1], '/')+1]
	}
}

func (s *scanner) wanted(name string) bool {
	if len(s.exts) == 0 {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(s.exts, func(e string) bool { return strings.HasSuffix(name, e) })
}
