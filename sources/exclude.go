package sources

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The limits of a list of keys to leave out.
const (
	maxExcludeBytes = 256 << 20
	maxExcludeLine  = 1 << 20
)

// exclusion is a set of keys that a source leaves out. The value tells whether the key was met.
type exclusion struct {
	file string
	keys map[string]bool
	cut  bool // the last line was left out, for its end is missing
}

// readExclusion reads the file of a field exclude. A file whose first character, white space aside, is { is taken for a
// quarantine file; any other for a plain list.
//
// A quarantine file is what penstock run --quarantine writes: on each line a JSON object with the text key, and, where
// the key is no valid UTF-8, its bytes in base64 as key_bytes, which goes first. Other members are not looked at. The
// last line may be cut short, as a killed run leaves it: then it is left out, which is told.
//
// A plain list has one key a line. A carriage return at the end of a line, a byte-order mark at the start of the file
// and ./ at the start of a key are taken off, and empty lines are left out; all else belongs to the key. So a key that
// begins with { at the start of a file is written ./{, and one with a line break in it needs the other form.
//
// The limits are 256 MiB for the file and 1 MiB for a line.
func readExclusion(path string) (*exclusion, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("is no plain file")}
	case info.Size() > maxExcludeBytes:
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has %d bytes, more than the limit of %d", info.Size(), maxExcludeBytes)}
	}
	x, err := parseExclusion(io.LimitReader(f, maxExcludeBytes))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	x.file = path
	return x, nil
}

func parseExclusion(r io.Reader) (*exclusion, error) {
	x := &exclusion{keys: map[string]bool{}}
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	records, decided := false, false
	for n := 1; ; n++ {
		line, ended, err := readLine(in)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if blank := len(bytes.TrimSpace(line)) == 0; blank && !ended {
			return x, nil
		} else if blank && (records || !decided) {
			continue // in a list, a key may be made of blanks
		}
		if !decided {
			records, decided = bytes.TrimSpace(line)[0] == '{', true
		}
		if !records {
			err = x.plain(line)
		} else if err = x.record(line); err != nil && !ended {
			x.cut, err = true, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if !ended {
			return x, nil
		}
	}
}

// readLine gives a line without its end, and whether it had one.
func readLine(in *bufio.Reader) (line []byte, ended bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxExcludeLine:
			return nil, false, fmt.Errorf("it has more than %d bytes", maxExcludeLine)
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func (x *exclusion) plain(line []byte) error {
	line = bytes.TrimPrefix(bytes.TrimSuffix(line, []byte("\r")), []byte("./"))
	if bytes.IndexByte(line, 0) >= 0 {
		return errors.New("it holds a zero byte, which no key has; wanted a list of keys or a quarantine file")
	}
	if len(line) > 0 {
		x.keys[string(line)] = false
	}
	return nil
}

func (x *exclusion) record(line []byte) error {
	key, err := recordKey(line)
	if err == nil {
		x.keys[key] = false
	}
	return err
}

// has says whether a key is left out. A nil exclusion leaves nothing out.
func (x *exclusion) has(key []byte) bool {
	if x == nil {
		return false
	}
	_, ok := x.keys[string(key)]
	if ok {
		x.keys[string(key)] = true
	}
	return ok
}

// line says what was left out; "" where nothing is to be said.
func (x *exclusion) line(root string) string {
	if x == nil {
		return ""
	}
	met := 0
	for _, m := range x.keys {
		if m {
			met++
		}
	}
	s := fmt.Sprintf("folder %q: left out %d files that %q lists", root, met, x.file)
	if n := len(x.keys) - met; n > 0 {
		s += fmt.Sprintf("; %d of its keys name no file here", n)
	}
	if x.cut {
		s += "; its last line is cut short and was not used"
	}
	return s
}
