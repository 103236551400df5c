package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/penstock-go/penstock/graph"
)

// console is standard error while a pipeline runs: lines of several goroutines and, on a terminal, one line that is
// written over itself.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	drawn bool
}

const wipe = "\r\x1b[K"

// Write writes whole lines, in place of the live one.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.w.Write(p)
}

// draw replaces the live line.
func (c *console) draw(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn = true
	fmt.Fprint(c.w, wipe+line)
}

// wipe takes the live line away.
func (c *console) wipe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

func (c *console) clear() {
	if c.drawn {
		c.drawn = false
		fmt.Fprint(c.w, wipe)
	}
}

// plain writes what would break a line or move the cursor as escapes: names of files may hold anything.
func plain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// message is an error as it may be printed. One that concerns an item is one line, since its key may hold line breaks;
// others may have several of their own.
func message(err error) string {
	var se *graph.StageError
	if errors.As(err, &se) && se.Key != "" {
		return plain(err.Error())
	}
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = plain(l)
	}
	return strings.Join(lines, "\n")
}
