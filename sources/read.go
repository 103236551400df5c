package sources

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

var errEmptyFile = errors.New("empty file")

// readFile reads a whole file into recycled memory. The size is checked before memory is taken. A file that changes its
// length meanwhile is an error: half a picture must not pass for a whole one.
func readFile(c *graph.Call, path string, limit int64) (*item.Buffer, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fail := func(err error) (*item.Buffer, error) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return fail(errors.New("is a folder"))
	case !info.Mode().IsRegular():
		return fail(errors.New("is a special file: a pipe, socket or device"))
	case info.Size() == 0:
		return fail(errEmptyFile)
	case info.Size() > limit:
		return fail(fmt.Errorf("the file has %d bytes, more than max_bytes, %d", info.Size(), limit))
	}
	buf := c.Buffer(int(info.Size()))
	n, err := io.ReadFull(f, buf.Data)
	var more [1]byte
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the file shrank from %d to %d bytes while it was read", info.Size(), n)
	case err == nil:
		if n, _ := f.Read(more[:]); n > 0 {
			err = fmt.Errorf("the file grew beyond its %d bytes while it was read", info.Size())
		}
	}
	if err != nil {
		buf.Release()
		return fail(err)
	}
	return buf, nil
}
