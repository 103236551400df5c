package sources

import (
	"bufio"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/shard"
)

// eachNumber reads a file that holds one number a line. Empty lines may stand at its end only. What is wrong is told
// with file and line.
func eachNumber(file string, take func(line int64, x float64) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 4096), 4096) // a line holds one number, whatever a file says
	line, empty := int64(0), int64(0)
	for lines.Scan() {
		line++
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			empty = max(empty, 1)
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case empty > 0:
			err = errors.New("an empty line before it")
		case err != nil:
			err = fmt.Errorf("wanted a number, got %.40q", text)
		default:
			err = take(line-1, x)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, line+1, err)
	}
	return nil
}

// numbersOf reads exactly n numbers.
func numbersOf(file string, n int64) ([]float64, error) {
	var xs []float64
	err := eachNumber(file, func(line int64, x float64) error {
		if line >= n {
			return fmt.Errorf("one number too many: the source has %d samples", n)
		}
		xs = append(xs, x)
		return nil
	})
	if err == nil && int64(len(xs)) != n {
		err = fmt.Errorf("%s: %d numbers for the %d samples of the source; it takes one a line, in the order of the source", file, len(xs), n)
	}
	return xs, err
}

// below maps 64 bits to 0..n-1 by the high half of a product.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// fingerprint folds numbers into a word that tells them from others.
func fingerprint[N int64 | uint32 | uint64](list []N) string {
	h := uint64(len(list))
	for _, x := range list {
		h = shard.Hash(h, uint64(x))
	}
	return strconv.FormatUint(h, 16)
}
