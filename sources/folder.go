package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Source[Folder](registry.Meta{
	Name: "folder", Summary: "Reads the files below a folder; its first level of folders are the classes.",
	Example: "folder: {root: data/train}",
}, (*Folder).Bind))

const defaultMaxBytes = 256 << 20

// Folder reads the files below Root: the content, as it is stored, in the field image, and the class in label. The key
// is the path from Root, with slashes.
//
// The rules. Order: byte order of the slash path, whatever the file system's is. Class: the first folder below Root;
// labels are 0, 1, ... by byte order of the classes' names. A file in Root itself has the label -1. Names that begin
// with a dot are left out. Files are not chosen by name unless Extensions says so: what a file is, its content tells.
// Links to files and folders are followed; left out are a link to a folder it lies in, one that leads nowhere, and one to
// a folder on whose path three links were followed already. So is one that leads out of the folder that the pipeline may
// read, see [graph.Within].
// Pipes, sockets and devices are left out. A folder that cannot be read ends the start with an error; a file that
// cannot be read, or is empty, is an error when its turn comes, for on_error to decide on. What is left out is counted
// and told in the report's warnings. A folder without any files is an error.
//
// Exclude names a file with keys to leave out: a quarantine file, which penstock run --quarantine writes, if its first
// character is {, else a list with one key a line, where ./ before a key is taken off. What is left out has no index:
// samplers that go by number count without it. One line of the warnings tells how many files were left out, and how many
// keys name no file.
//
// Errors of reading bear the key. Those that may pass are marked with [graph.Temporary], so that retry tries again: a
// disturbed call (EINTR, EAGAIN, EBUSY), too many open files (EMFILE, ENFILE), want of memory (ENOMEM, ENOBUFS), and what
// network file systems give when a server is slow or a file was replaced (ESTALE, EIO, ETIMEDOUT, ECONNREFUSED,
// ECONNRESET, ECONNABORTED, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENETRESET, ENOTCONN, EPIPE); on Windows what
// stands for these, and a file that another program holds. No other error is.
//
// Synth is for trying things out: if Root does not exist, Open first makes that many pictures there (see [PhotoFolder])
// and a warning says so. A folder that is there is never written to.
//
// Open lists the tree once; the list takes about 12 bytes a file. It may be read by any number of workers. Cost: the
// system calls open, stat, read, close, and a copy into recycled memory.
type Folder struct {
	Root       string
	Extensions []string
	Exclude    string
	MaxBytes   int64
	Synth      int
}

// Bind names the fields.
func (f *Folder) Bind(b *registry.Fields) {
	b.Path(&f.Root, "root", "", "the folder; its first level of folders are the classes", registry.Required())
	b.Texts(&f.Extensions, "extensions", nil, "if given, only files whose names end in one of these; case does not matter")
	b.Path(&f.Exclude, "exclude", "", "a file with keys to leave out: what run --quarantine wrote, or one key a line")
	b.Size(&f.MaxBytes, "max_bytes", defaultMaxBytes, "a larger file is an error", registry.Min(1))
	b.Int(&f.Synth, "synth", 0, "if root does not exist, make this many pictures there first; 0: that is an error",
		registry.Min(0), registry.Max(1_000_000))
}

// Stream is what decides on the stream beside the list of files, which the reader's fingerprint tells: the folder may be
// moved between two runs.
func (f Folder) Stream() string { return fmt.Sprintf("{MaxBytes:%d}", f.MaxBytes) }

// Check refuses settings that are out of range.
func (f Folder) Check() error { return registry.Check(&f, (*Folder).Bind) }

// Load is waiting for storage.
func (Folder) Load() graph.Load { return graph.Wait }

// Schema is image and label.
func (Folder) Schema(item.Schema) (item.Schema, error) { return encodedSchema(), nil }

// Open lists the tree.
func (f Folder) Open(ctx context.Context, env *graph.Env) (graph.Reader[*item.Sample], error) {
	f = registry.Filled(f, (*Folder).Bind)
	var none graph.Reader[*item.Sample]
	if err := env.Inside(f.Root); err != nil {
		return none, fmt.Errorf("root: %w", err)
	}
	if err := f.make(ctx, env); err != nil {
		return none, err
	}
	var left *exclusion
	if f.Exclude != "" {
		if err := env.Inside(f.Exclude); err != nil {
			return none, fmt.Errorf("exclude: %w", err)
		}
		var err error
		if left, err = readExclusion(f.Exclude); err != nil {
			return none, fmt.Errorf("exclude: %w", err)
		}
	}
	l, err := scan(ctx, f.Root, f.Extensions, left, env.Inside)
	if err != nil {
		return none, err
	}
	lines := l.lines(f.Root)
	if line := left.line(f.Root); line != "" {
		lines = append(lines, line)
	}
	if l.paths.Len() == 0 {
		return none, fmt.Errorf("folder %q: %w%s", f.Root, graph.ErrEmpty, strings.Join(append([]string{""}, lines...), "; "))
	}
	for _, line := range lines {
		env.Warn(line)
	}
	return graph.Reader[*item.Sample]{
		Len:         l.paths.Len(),
		Label:       l.label,
		Fingerprint: l.fingerprint(),
		At: func(c *graph.Call, i int64) (*item.Sample, error) {
			return fileSample(c, &l.paths, i, f.Root, l.label(i), f.MaxBytes, nil)
		},
	}, nil
}

// make fills a folder that does not exist, if that is wished for. Where two runs start at once, one of them makes it.
func (f Folder) make(ctx context.Context, env *graph.Env) error {
	if f.Synth == 0 {
		return nil
	}
	if _, err := os.Lstat(f.Root); !errors.Is(err, os.ErrNotExist) {
		return nil // what else may be wrong, listing it tells
	}
	n, err := PhotoFolder{Count: f.Synth}.Write(ctx, f.Root)
	if err != nil {
		if _, serr := os.Lstat(f.Root); serr == nil && context.Cause(ctx) == nil {
			return nil
		}
		return fmt.Errorf("making pictures in %q: %w", f.Root, err)
	}
	env.Warn(fmt.Sprintf("made %d pictures (%d bytes) in %q, which did not exist", f.Synth, n, f.Root))
	return nil
}

// Classes lists the classes of a folder in the order of their labels, as [Folder] has them. It reads no deeper than the
// root.
func Classes(root string) ([]string, error) {
	s := &scanner{ctx: context.Background(), root: root, inside: func(string) error { return nil }}
	n, err := s.read(nil, 0)
	if err != nil {
		return nil, err
	}
	for _, r := range n.ends {
		if name, ok := strings.CutSuffix(string(n.at(r)), "/"); ok {
			s.classes = append(s.classes, name)
		}
	}
	s.finish()
	return s.classes, nil
}

func fileSample(c *graph.Call, paths *Paths, i int64, root string, label, limit int64, inside func(string) error) (*item.Sample, error) {
	var room [256]byte
	key := string(paths.Append(room[:0], i))
	path := filepath.Join(root, filepath.FromSlash(key))
	if inside != nil {
		if err := inside(path); err != nil {
			return nil, graph.Keyed(key, err)
		}
	}
	buf, err := readFile(c, path, limit)
	if err != nil {
		return nil, graph.Keyed(key, passing(err))
	}
	s := item.NewSample(key)
	s.Set(fieldImage, item.Bytes(buf))
	s.Set(fieldLabel, item.Int(label))
	return s, nil
}
