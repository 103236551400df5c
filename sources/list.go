package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// List reads the files of a list, in its order: the content in the field image and, in label, what Label gives for the
// index, -1 without it. Paths are relative to Root, "" is the working folder. Size limit and errors are those of
// [Folder]; nothing is looked at before its turn comes.
type List struct {
	Root     string
	Paths    *Paths
	Label    func(i int64) int64 // called by many workers at once
	MaxBytes int64               // 0: 256 MiB
}

// Stream is what decides on the stream beside the list of files, which the reader's fingerprint tells.
func (l List) Stream() string { return fmt.Sprintf("{MaxBytes:%d}", l.MaxBytes) }

// Load is waiting for storage.
func (List) Load() graph.Load { return graph.Wait }

// Schema is image and label.
func (List) Schema(item.Schema) (item.Schema, error) { return encodedSchema(), nil }

// Open makes the reader.
func (l List) Open(_ context.Context, env *graph.Env) (graph.Reader[*item.Sample], error) {
	if l.Paths == nil {
		return graph.Reader[*item.Sample]{}, errors.New("sources.List without Paths")
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = defaultMaxBytes
	}
	return graph.Reader[*item.Sample]{
		Len:         l.Paths.Len(),
		Label:       l.Label,
		Fingerprint: l.Paths.fingerprint(),
		At: func(c *graph.Call, i int64) (*item.Sample, error) {
			label := int64(-1)
			if l.Label != nil {
				label = l.Label(i)
			}
			return fileSample(c, l.Paths, i, l.Root, label, l.MaxBytes, env.Inside)
		},
	}, nil
}
