package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
)

// row is a program's own type: it travels as it is.
type row struct{ a, b int }

func ExampleMap() {
	p := graph.New("rows")
	rows := graph.From(p, "rows", sources.Map(sources.Slice[row]{{1, 2}, {3, 4}}))
	sums := graph.Via(rows, "add", graph.Map(func(r row) (int, error) { return r.a + r.b, nil }))
	print(p, graph.Output(sums, "out"))
	// Output: 3 7
}

// lines is iterable data: two parts that can only be read forward.
type lines [2][]string

func (lines) Splits() int { return 2 }

func (l lines) Read(_ context.Context, split int, from int64, emit func(string) error) error {
	for _, s := range l[split][from:] {
		if err := emit(s); err != nil {
			return err
		}
	}
	return nil
}

func ExampleIter() {
	p := graph.New("logs")
	logs := graph.From(p, "logs", sources.Iter(lines{{"a", "b"}, {"c", "d"}}))
	print(p, graph.Output(logs, "out"))
	// Output: a c b d
}

func ExampleFolder() {
	root, _ := os.MkdirTemp("", "photos")
	defer os.RemoveAll(root)
	for _, f := range []string{"cat/1.jpg", "dog/2.jpg", "cat/3.jpg"} {
		_ = os.MkdirAll(filepath.Join(root, filepath.Dir(f)), 0o777)
		_ = os.WriteFile(filepath.Join(root, f), []byte("pixels"), 0o666)
	}
	p := graph.New("photos")
	files := graph.From(p, "read", sources.Folder{Root: root})
	print(p, graph.Output(graph.Via(files, "tell", graph.Map(func(s *item.Sample) (string, error) {
		defer s.Release()
		return fmt.Sprint(s.Key(), "=", s.Get("label").Int()), nil
	})), "out"))
	// Output: cat/1.jpg=0 cat/3.jpg=0 dog/2.jpg=1
}

func ExampleNewPaths() {
	p := sources.NewPaths(slices.Values([]string{"train/cat/1.jpg", "train/cat/2.jpg"}))
	path, err := p.At(context.Background(), 1)
	fmt.Println(p.Len(), path, err)
	// Output: 2 train/cat/2.jpg <nil>
}

func ExampleShuffled() {
	p := graph.New("shuffled", graph.Seed(7), graph.Epochs(2))
	rows := graph.From(p, "rows", sources.Map(sources.Slice[string]{"a", "b", "c", "d", "e"}), graph.Sampler(sources.Shuffled{}))
	print(p, graph.Output(rows, "out"))
	// Output: c e b d a a c e b d
}

// print shows what arrives.
func print[T any](p *graph.Pipeline, out *graph.Out[T]) {
	run, err := p.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, err := range out.All(run) {
		if err != nil {
			fmt.Println(err)
		}
		fmt.Print(v, " ")
	}
	if err := run.Wait(); err != nil {
		fmt.Println(err)
	}
}

func ExampleConcat() {
	p := graph.New("both")
	old, fresh := sources.Map(sources.Slice[string]{"a", "b"}), sources.Map(sources.Slice[string]{"c"})
	print(p, graph.Output(graph.From(p, "read", sources.Concat(old, fresh)), "out"))
	// Output: a b c
}

func ExampleZipWith() {
	p := graph.New("pairs")
	texts, labels := sources.Map(sources.Slice[string]{"cat", "dog"}), sources.Map(sources.Slice[int]{0, 1})
	pairs := sources.ZipWith(texts, labels, func(t string, l int) (string, error) { return fmt.Sprint(t, "=", l), nil })
	print(p, graph.Output(graph.From(p, "read", pairs), "out"))
	// Output: cat=0 dog=1
}

func ExampleWeighted() {
	p := graph.New("drawn", graph.Seed(1))
	words := sources.Map(sources.Slice[string]{"rare", "never", "often"})
	weights := []float64{1, 0, 9}
	read := graph.From(p, "read", words, graph.Sampler(sources.Weighted{
		Weight: func(i int64) float64 { return weights[i] }, Count: 5,
	}))
	print(p, graph.Output(read, "out"))
	// Output: often rare often often often
}

// channel has the shape of a source of go-streams.
type channel chan any

func (c channel) Out() <-chan any { return c }

func ExampleOutlet() {
	values := make(channel, 2)
	values <- "x"
	values <- "y"
	close(values)
	p := graph.New("stream")
	in := graph.From(p, "in", sources.Outlet(values, nil))
	print(p, graph.Output(graph.Via(in, "unpack", graph.Map(sources.As[string])), "out"))
	// Output: x y
}

// Small rows in memory come as batches at once.
func ExampleRows() {
	columns := []item.Column{
		item.ColumnOf("point", []float32{0, 0, 1, 1, 2, 4, 3, 9}, 2),
		item.ColumnOf("label", []int64{0, 1, 0, 1}),
	}
	p := graph.New("points")
	out := graph.Output(graph.From[*item.Batch](p, "read", sources.Rows{Columns: columns, Size: 3}), "train")
	run, err := p.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for b, err := range out.All(run) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.Column("point").Float32s(), b.Column("label").Int64s())
	}
	// Output:
	// [0 0 1 1 2 4] [0 1 0]
	// [3 9] [1]
}
