package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/penstock-go/penstock/graph"
)

// tellMost is how many skipped items are told one by one.
const tellMost = 20

// skipLog tells of skipped items as they happen and writes them down.
type skipLog struct {
	err  io.Writer
	file *quarantine // nil: none was asked for

	mu sync.Mutex
	n  int64
}

func (l *skipLog) take(n graph.SkipNote) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n <= tellMost {
		fmt.Fprintf(l.err, "penstock: skipped: %s\n", plain(clipped(n.String(), 1000)))
	}
	if l.n == tellMost {
		fmt.Fprintln(l.err, "penstock: more skipped items are only counted")
	}
	if l.file != nil {
		l.file.add(n)
	}
}

// end tells the count and closes the file.
func (l *skipLog) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n > tellMost {
		fmt.Fprintf(l.err, "penstock: skipped %d items in all\n", l.n)
	}
	if l.file == nil {
		return nil
	}
	err := l.file.close()
	if err == nil && l.n > 0 {
		fmt.Fprintf(l.err, "penstock: %q lists the skipped items\n", l.file.name)
	}
	return err
}

func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// maxErrorText bounds the error in a quarantine file: a reader of it takes lines of 1 MiB.
const maxErrorText = 64 << 10

// quarantineLine is one skipped item. Key is what people read; where that is no valid UTF-8, Bytes are the key.
type quarantineLine struct {
	Key     string `json:"key"`
	Bytes   []byte `json:"key_bytes,omitempty"`
	Stage   string `json:"stage"`
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	Offset  *int64 `json:"offset"`
	Epoch   int64  `json:"epoch"`
	Place   int64  `json:"place"`
}

// quarantine is a file with a line for each skipped item, written as it happens by one call of the system.
type quarantine struct {
	name string
	f    *os.File
	err  error
}

// openQuarantine opens a file to add lines to. What is in it already must be such lines; half a line at its end, which a
// killed run can leave, is cut off.
func openQuarantine(name string) (*quarantine, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err = mend(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%q: %w", name, err), f.Close())
	}
	return &quarantine{name: name, f: f}, nil
}

func mend(f *os.File) error {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return err
	}
	first := make([]byte, 1)
	if _, err := f.ReadAt(first, 0); err != nil {
		return err
	}
	if first[0] != '{' {
		return errors.New("the file holds something else than skipped items; name another one")
	}
	tail := make([]byte, min(st.Size(), 1<<20))
	if _, err := f.ReadAt(tail, st.Size()-int64(len(tail))); err != nil {
		return err
	}
	last := tail[bytes.LastIndexByte(tail, '\n')+1:]
	switch {
	case len(last) == 0:
		return nil
	case json.Valid(last):
		_, err = f.WriteString("\n")
		return err
	}
	return f.Truncate(st.Size() - int64(len(last)))
}

func (q *quarantine) add(n graph.SkipNote) {
	line := quarantineLine{Key: n.Key, Stage: n.Stage, Error: clipped(n.Err, maxErrorText), Attempt: n.Attempt, Offset: n.Offset,
		Epoch: n.Pos.Epoch, Place: n.Pos.Place}
	if !utf8.ValidString(n.Key) {
		line.Bytes = []byte(n.Key)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(line)
	if err == nil {
		_, err = q.f.Write(b.Bytes())
	}
	if err != nil && q.err == nil {
		q.err = err
	}
}

// close gives the first error of all lines.
func (q *quarantine) close() error {
	err := q.err
	if st, serr := q.f.Stat(); err == nil && serr == nil && st.Mode().IsRegular() {
		err = q.f.Sync()
	}
	if cerr := q.f.Close(); err == nil {
		err = cerr
	}
	return err
}
