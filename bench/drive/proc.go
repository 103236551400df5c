package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const ticks = 100 // clock ticks a second in /proc, on every Linux

func cores() float64 { return float64(runtime.NumCPU()) }

// tree is a process and all below it.
func tree(pid int) []int {
	all := []int{pid}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, f := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(f); err == nil {
				all = append(all, tree(child)...)
			}
		}
	}
	return all
}

// treeCPU is the processor time, in seconds, of a process and all below it, those that have ended included.
func treeCPU(pid int) float64 {
	sum := 0.0
	for _, p := range tree(pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		for _, k := range []int{11, 12, 13, 14} { // utime, stime, and those of children that were waited for
			if k < len(f) {
				v, _ := strconv.ParseFloat(f[k], 64)
				sum += v
			}
		}
	}
	return sum / ticks
}

// machineCPU is the processor time, in seconds, that all programs have had.
func machineCPU() float64 {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	sum := 0.0
	for i, f := range strings.Fields(line) {
		if v, err := strconv.ParseFloat(f, 64); err == nil && i != 4 && i != 5 && i < 9 { // without idle and iowait
			sum += v
		}
	}
	return sum / ticks
}

// treePSS is the memory, in bytes, that a process and all below it hold, shared pages counted in parts.
func treePSS(pid int) float64 {
	sum := 0.0
	for _, p := range tree(pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		for line := range strings.Lines(string(text)) {
			var kib float64
			if _, err := fmt.Sscanf(line, "Pss: %f kB", &kib); err == nil {
				sum += kib * 1024
			}
		}
	}
	return sum
}

// highest looks at the memory ten times a second, and once at the end.
func highest(pid int, done <-chan struct{}) float64 {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	most := treePSS(pid)
	for {
		select {
		case <-done:
			return max(most, treePSS(pid))
		case <-t.C:
			most = max(most, treePSS(pid))
		}
	}
}
