// Command own_structs sends a program's own struct types through a pipeline: documents are split into passages, short
// ones are left out, the rest is gathered into lists. No type of the framework appears in them.
//
//	go run ./examples/own_structs
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sources"
)

// document is what is read. Key is optional: messages and reports name an item by it.
type document struct {
	name, text string
}

// Key names the document.
func (d document) Key() string { return d.name }

// passage is a piece of a document.
type passage struct {
	from  string
	words []string
}

// Key names the passage by its document.
func (p passage) Key() string { return p.from }

// Bytes is optional too: with it the pipeline's byte budget counts the item.
func (p passage) Bytes() int64 {
	n := int64(0)
	for _, w := range p.words {
		n += int64(len(w))
	}
	return n
}

// encoded is what a model is given.
type encoded struct {
	from string
	ids  []int
}

var library = []document{
	{"fox", "The quick brown fox jumps over the lazy dog. The dog sleeps. It did not see the fox coming at all."},
	{"river", "A river runs through the valley, slow and wide. Ships go up it in spring."},
	{"empty", ""},
	{"clock", "The clock in the hall strikes twelve. Nobody counts. All of them have gone to bed long ago."},
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "own_structs:", err)
		os.Exit(1)
	}
}

// declare joins plain functions. Their types must fit: graph.Via(words, "encode", graph.Map(encode)) with another
// argument type does not compile.
func declare(docs []document) (*graph.Pipeline, *graph.Out[[]encoded]) {
	p := graph.New("passages", graph.Seed(3))
	read := graph.From(p, "read", sources.Map(sources.Slice[document](docs)), graph.Sampler(sources.Shuffled{}))
	split := graph.Via(read, "split", graph.FlatMap(split), graph.Workers(2))
	long := graph.Via(split, "long", graph.Filter(func(p passage) (bool, error) { return len(p.words) >= 4, nil }))
	codes := graph.Via(long, "encode", graph.Map(encode), graph.Workers(4))
	lists := graph.Via(codes, "collect", graph.Collect[encoded](2))
	return p, graph.Output(lists, "take")
}

// split makes a passage of each sentence.
func split(d document, emit func(passage)) error {
	for _, sentence := range strings.FieldsFunc(d.text, func(r rune) bool { return r == '.' }) {
		emit(passage{d.name, strings.Fields(strings.ToLower(sentence))})
	}
	return nil
}

// encode turns words into numbers. An error would end the run and name the stage and the passage's key.
func encode(p passage) (encoded, error) {
	e := encoded{from: p.from}
	for _, w := range p.words {
		id := len(w)
		for _, b := range []byte(w) {
			id = (id*31 + int(b)) % 1000
		}
		e.ids = append(e.ids, id)
	}
	return e, nil
}

func run(ctx context.Context, w io.Writer) error {
	p, out := declare(library)
	r, err := p.Start(ctx)
	if err != nil {
		return err
	}
	for list, err := range out.All(r) {
		if err != nil {
			return err
		}
		for i, e := range list {
			fmt.Fprintf(w, "%d %-5s %3d\n", i, e.from, e.ids)
		}
	}
	return r.Wait()
}
