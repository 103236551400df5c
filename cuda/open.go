package cuda

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Auto, as a device's name, is the first real device that can be opened.
const Auto = "auto"

// BackendVariable names the one back end to use, where a program has several.
const BackendVariable = "PENSTOCK_CUDA_BACKEND"

// Open opens a device by its name: "emu:pcie3x16", "emu:pcie4x16", "emu:pcie5x16" and "emu:c2c" are emulated; "cuda:0"
// is a real one, and "auto" the first real one, by the first back end that can open it. The error says what was tried
// and why each failed. An emulated device is opened only by its own name.
func Open(name string, backends ...Backend) (Device, error) {
	number, link, err := parse(name)
	switch {
	case err != nil:
		return nil, err
	case link != "":
		return NewEmulated(Emulation{Link: link})
	}
	forced := os.Getenv(BackendVariable)
	var tried []error
	for _, b := range backends {
		if forced != "" && b.Name() != forced {
			continue
		}
		d, err := b.Open(number)
		if err == nil {
			return d, nil
		}
		tried = append(tried, fmt.Errorf("%s: %w", b.Name(), err))
	}
	return nil, &openError{name, forced, len(backends), tried}
}

// openError says what was tried.
type openError struct {
	name, forced string
	had          int
	tried        []error
}

func (e *openError) Error() string {
	s := fmt.Sprintf("device %q cannot be opened: ", e.name)
	switch {
	case e.had == 0:
		s += "this program has no back end for real devices"
	case len(e.tried) == 0:
		s += fmt.Sprintf("%s is %q, and this program has no back end of that name", BackendVariable, e.forced)
	default:
		lines := make([]string, len(e.tried))
		for i, err := range e.tried {
			lines[i] = err.Error()
		}
		s += strings.Join(lines, "; ")
	}
	return s + `. To go on without one, name an emulated device: "emu:pcie5x16"`
}

func (e *openError) Unwrap() []error { return e.tried }

// parse takes a device's name apart: its number, or the link of an emulated one.
func parse(name string) (number int, link string, err error) {
	if link, ok := strings.CutPrefix(name, "emu:"); ok {
		if _, ok := links[link]; !ok {
			return 0, "", fmt.Errorf("there is no emulated device %q; there are %s", name, linkNames())
		}
		return 0, link, nil
	}
	if name == Auto {
		return 0, "", nil
	}
	if n, ok := strings.CutPrefix(name, "cuda:"); ok {
		if number, err := strconv.Atoi(n); err == nil && number >= 0 && number < 1024 && strconv.Itoa(number) == n {
			return number, "", nil
		}
	}
	return 0, "", errors.New(`device must be auto, cuda:0 (or another number) or one of ` + linkNames() + fmt.Sprintf(", got %q", name))
}
