package sources

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// tree makes files (content is their own path), and links where a value is given.
func tree(t testing.TB, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path, to, link := strings.Cut(f, " -> ")
		full := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		switch {
		case link:
			require.NoError(t, os.Symlink(to, full))
		case strings.HasSuffix(path, "/"):
			require.NoError(t, os.MkdirAll(full, 0o777))
		default:
			require.NoError(t, os.WriteFile(full, []byte(path), 0o666))
		}
	}
	return root
}

func listed(t testing.TB, root string, exts ...string) *listing {
	t.Helper()
	l, err := scan(t.Context(), root, exts, nil, env().Inside)
	require.NoError(t, err)
	return l
}

func (l *listing) all() (paths []string, labels []int64) {
	for i := range l.paths.Len() {
		paths, labels = append(paths, string(l.paths.Append(nil, i))), append(labels, l.label(i))
	}
	return paths, labels
}

func TestFolderReadsFilesInByteOrderWithTheirClass(t *testing.T) {
	root := tree(t, "b/2.jpg", "b/10.jpg", "a/z/deep.png", "a/x", "a-b/1.jpg", "a.b/1.jpg", "c/")
	paths, labels := listed(t, root).all()
	assert.Equal(t, []string{"a-b/1.jpg", "a.b/1.jpg", "a/x", "a/z/deep.png", "b/10.jpg", "b/2.jpg"}, paths)
	assert.True(t, slices.IsSorted(paths))
	assert.Equal(t, []int64{1, 2, 0, 0, 3, 3}, labels, "labels go by the classes' names: a, a-b, a.b, b, c")
	classes, err := Classes(root)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "a-b", "a.b", "b", "c"}, classes)

	r := open(t, Folder{Root: root})
	require.EqualValues(t, 6, r.Len)
	for i := range r.Len {
		s, err := r.At(call(i), i)
		require.NoError(t, err)
		v, err := s.Need("image", item.KindBytes)
		require.NoError(t, err)
		assert.Equal(t, paths[i], s.Key())
		assert.Equal(t, paths[i], string(v.Data()))
		assert.Equal(t, labels[i], s.Get("label").Int())
		s.Release()
	}
}

func TestFolderSaysWhatItLeavesOut(t *testing.T) {
	root := tree(t, "a/1.jpg", "a/.hidden", ".git/x.jpg", "a/note.txt", "a/lost -> nowhere", "a/up -> ..", "empty/", "stray.jpg")
	makePipe(t, filepath.Join(root, "a", "pipe"))
	l := listed(t, root, "jpg")
	paths, labels := l.all()
	assert.Equal(t, []string{"a/1.jpg", "stray.jpg"}, paths)
	assert.Equal(t, []int64{0, -1}, labels)
	got := strings.Join(l.lines("R"), "\n")
	for _, want := range []string{
		`left out 2 hidden files and folders, whose names begin with a dot (the first is "`,
		`left out 1 files whose names do not end in one of extensions (the first is "a/note.txt")`,
		`left out 1 special files: pipes, sockets, devices (the first is "a/pipe")`,
		`left out 1 links that lead nowhere (the first is "a/lost")`,
		`left out 1 links to a folder they lie in, which would never end (the first is "a/up")`,
		`1 files lie in the root itself, so they have no class: their label is -1 (the first is "stray.jpg")`,
		`1 class folders hold no files; they keep their labels (the first is "empty")`,
	} {
		assert.Contains(t, got, want)
	}
	assert.Len(t, l.lines("R"), 7)
	assert.Empty(t, listed(t, tree(t, "a/1")).lines("R"))
}

func TestFolderFollowsLinksButNeverForEver(t *testing.T) {
	l := listed(t, tree(t, "a/real.jpg", "a/loop -> ..", "a/self -> .", "b/two.jpg", "b/sister -> ../a", "c -> a", "d/file.jpg -> ../b/two.jpg"))
	paths, _ := l.all()
	assert.Equal(t, []string{"a/real.jpg", "b/sister/real.jpg", "b/two.jpg", "c/real.jpg", "d/file.jpg"}, paths)
	assert.EqualValues(t, 6, l.left[leftLoop].n, "loop and self, through a, b/sister and c")

	// Every folder links to all others: without a bound on links there would be 10! paths.
	var files []string
	for i := range 10 {
		files = append(files, fmt.Sprintf("%d/f", i))
		for k := range 10 {
			files = append(files, fmt.Sprintf("%d/to%d -> ../%d", i, k, k))
		}
	}
	paths, _ = listed(t, tree(t, files...)).all()
	assert.Len(t, paths, 10+10*9+10*9*8+10*9*8*7)
}

func TestFolderWithoutSamplesSaysSo(t *testing.T) {
	for _, files := range [][]string{{}, {"a/"}, {"a/.x"}} {
		_, err := Folder{Root: tree(t, files...)}.Open(t.Context(), env())
		assert.ErrorIs(t, err, graph.ErrEmpty)
	}
	_, err := Folder{Root: tree(t, "a/.x")}.Open(t.Context(), env())
	assert.ErrorContains(t, err, "left out 1 hidden")
}

func TestFolderNeedsARootItCanRead(t *testing.T) {
	assert.ErrorContains(t, Folder{}.Check(), "root")
	_, err := Folder{Root: "/does/not/exist"}.Open(t.Context(), env())
	assert.ErrorIs(t, err, fs.ErrNotExist)
	root := tree(t, "a/1")
	_, err = Folder{Root: filepath.Join(root, "a", "1")}.Open(t.Context(), env())
	assert.ErrorContains(t, err, "is a file, wanted a folder")
	if os.Getuid() != 0 {
		require.NoError(t, os.Chmod(filepath.Join(root, "a"), 0))
		_, err = Folder{Root: root}.Open(t.Context(), env())
		assert.ErrorIs(t, err, fs.ErrPermission, "a folder that cannot be read is not left out quietly")
	}
}

func TestFolderMakesPicturesOnlyWhereThereIsNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "new", "data")
	for range 2 {
		r, err := Folder{Root: root, Synth: 7}.Open(t.Context(), env())
		require.NoError(t, err)
		assert.Equal(t, int64(7), r.Len)
	}
	there := t.TempDir()
	_, err := Folder{Root: there, Synth: 7}.Open(t.Context(), env())
	assert.ErrorIs(t, err, graph.ErrEmpty, "a folder that is there is never written to")
	_, err = Folder{Root: "/proc/no/such", Synth: 7}.Open(t.Context(), env())
	assert.ErrorContains(t, err, "making pictures in")
}

func TestFolderStopsListingWhenTheRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Folder{Root: tree(t, "a/1")}.Open(ctx, env())
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFilesThatCannotBeReadAreErrorsThatNameThem(t *testing.T) {
	root := tree(t, "a/gone", "a/big")
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "empty"), nil, 0o666))
	r := open(t, Folder{Root: root, MaxBytes: 4})
	require.NoError(t, os.Remove(filepath.Join(root, "a", "gone")))
	for i, want := range []string{"a/big: the file has 5 bytes, more than max_bytes, 4", "a/empty: empty file", "a/gone: no such file"} {
		_, err := r.At(call(0), int64(i))
		assert.ErrorContains(t, err, want)
	}
}

func TestAPipeNeverHoldsAReaderUp(t *testing.T) {
	root := t.TempDir()
	makePipe(t, filepath.Join(root, "pipe"))
	_, err := open(t, List{Root: root, Paths: NewPaths(slices.Values([]string{"pipe"}))}).At(call(0), 0)
	assert.ErrorContains(t, err, "special file")
	_, err = open(t, List{Root: root, Paths: NewPaths(slices.Values([]string{"."}))}).At(call(0), 0)
	assert.ErrorContains(t, err, "is a folder")
}

func TestAGiantIsRefusedBeforeMemoryIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "giant")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<40)) // takes no room on disk
	require.NoError(t, f.Close())
	_, err = readFile(call(0), path, defaultMaxBytes)
	assert.ErrorContains(t, err, "more than max_bytes")
}

func TestOddNamesAreFilesLikeOthers(t *testing.T) {
	names := []string{"new\nline", "tab\tx", "per%25cent", "#hash", "que?ry", `quo"te`, "-dash", strings.Repeat("n", 255),
		"caf\u00e9", "cafe\u0301", "sp ace", "\xff\xfe"}
	var files []string
	for _, n := range names {
		files = append(files, "c/"+n)
	}
	r := open(t, Folder{Root: tree(t, files...)})
	require.EqualValues(t, len(names), r.Len)
	for i := range r.Len {
		s, err := r.At(call(i), i)
		require.NoError(t, err)
		assert.Equal(t, s.Key(), string(s.Get("image").Data()))
	}
}

func TestListKeepsItsOrderAndLabels(t *testing.T) {
	root := tree(t, "x", "y")
	l := List{Root: root, Paths: NewPaths(slices.Values([]string{"y", "x", "y"})), Label: func(i int64) int64 { return i * 10 }}
	r := open(t, l)
	require.EqualValues(t, 3, r.Len)
	s, err := r.At(call(0), 2)
	require.NoError(t, err)
	assert.Equal(t, "y", s.Key())
	assert.EqualValues(t, 20, s.Get("label").Int())
	_, err = List{}.Open(t.Context(), env())
	assert.Error(t, err)
}

func TestPathsComeBackAsTheyWere(t *testing.T) {
	var want []string
	for i := range 1000 {
		want = append(want, strings.Repeat("x", i%300)+fmt.Sprint(i%7), fmt.Sprintf("a/%06d.jpg", i), "")
	}
	p := NewPaths(slices.Values(want))
	require.EqualValues(t, len(want), p.Len())
	for i, w := range want {
		got, err := p.At(t.Context(), int64(i))
		require.NoError(t, err)
		require.Equal(t, w, got)
	}
	long := []string{strings.Repeat("a", 3<<20), strings.Repeat("a", 3<<20) + "b"}
	for i := range 100_000 {
		long = append(long, fmt.Sprintf("%d/%s", i*7919, strings.Repeat("z", i%50)))
	}
	q := NewPaths(slices.Values(long)) // several chunks, and one that had to grow
	for i, w := range long {
		require.Equal(t, w, string(q.Append(nil, int64(i))))
	}
	_, err := p.At(t.Context(), p.Len())
	assert.Error(t, err)
	assert.Panics(t, func() { p.Append(nil, -1) })
}

func FuzzPaths(f *testing.F) {
	f.Add("a\nb\nab\nabc\n")
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Split(text, "\n")
		p := NewPaths(slices.Values(want))
		for i, w := range want {
			if got := string(p.Append(nil, int64(i))); got != w {
				t.Fatalf("path %d is %q, wanted %q", i, got, w)
			}
		}
	})
}

func BenchmarkFiveMillionPaths(b *testing.B) {
	p := NewPaths(func(yield func(string) bool) {
		for i := range 5_000_000 {
			if !yield(fmt.Sprintf("n%08d/n%08d_%d.JPEG", i/1300*977%100000000, i/1300*977%100000000, i*31%100000)) {
				return
			}
		}
	})
	var dst []byte
	i := int64(0)
	for b.Loop() {
		dst = p.Append(dst[:0], i)
		i = (i + 7919) % p.Len()
	}
	b.ReportMetric(float64(p.Bytes())/5e6, "bytes/path")
}

func BenchmarkFolderRead(b *testing.B) {
	root := b.TempDir()
	for _, size := range []int{10_000, 100_000} {
		require.NoError(b, os.WriteFile(filepath.Join(root, fmt.Sprint(size)), make([]byte, size), 0o666))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c := call(0)
			b.SetBytes(int64(size))
			for b.Loop() {
				buf, err := readFile(c, filepath.Join(root, fmt.Sprint(size)), 1<<30)
				require.NoError(b, err)
				buf.Release()
			}
		})
	}
}

// FuzzFolder makes a tree as the input says, one entry a line: f file, d folder, l link (to the entry that many lines
// above), each with a path.
func FuzzFolder(f *testing.F) {
	f.Add("fa/1\nfa-b/2\nla/up\nda\nfa/.x\nlb/c\nf.h/z\nfroot")
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		var made []string
		for i, line := range strings.Split(text, "\n") {
			if len(line) < 2 || i > 12 || len(line) > 60 || !filepath.IsLocal(line[1:]) || strings.ContainsAny(line, "\x00") {
				continue
			}
			full := filepath.Join(root, line[1:])
			_ = os.MkdirAll(filepath.Dir(full), 0o777)
			switch line[0] {
			case 'f':
				_ = os.WriteFile(full, []byte("x"), 0o666)
			case 'd':
				_ = os.Mkdir(full, 0o777)
			case 'l':
				to := root
				if len(made) > 0 {
					to = made[len(line)%len(made)]
				}
				_ = os.Symlink(to, full)
			}
			made = append(made, full)
		}
		l, err := scan(t.Context(), root, nil, nil, env().Inside)
		if err != nil {
			t.Skip(err)
		}
		paths, labels := l.all()
		for i, p := range paths {
			info, err := os.Stat(filepath.Join(root, p))
			switch class, _, nested := strings.Cut(p, "/"); {
			case err != nil || !info.Mode().IsRegular():
				t.Fatalf("%q: %v", p, err)
			case i > 0 && paths[i-1] >= p:
				t.Fatalf("%q comes after %q", p, paths[i-1])
			case strings.HasPrefix(p, ".") || strings.Contains(p, "/."):
				t.Fatalf("%q is hidden", p)
			case nested && l.classes[labels[i]] != class, !nested && labels[i] != -1:
				t.Fatalf("%q has label %d of %q", p, labels[i], l.classes)
			}
		}
	})
}
