package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// Memory is measured in a process of its own: a child runs the named function and prints figures, one "name value" a
// line.
const childVariable = "PENSTOCK_BENCH_CHILD"

// childGroup names the list of processes of the control group that the child joins.
const childGroup = "PENSTOCK_BENCH_GROUP"

func TestMain(m *testing.M) {
	if name, arg, ok := strings.Cut(os.Getenv(childVariable), " "); ok {
		if group := os.Getenv(childGroup); group != "" {
			must(os.WriteFile(group, []byte(strconv.Itoa(os.Getpid())), 0o644))
		}
		children[name](arg)
		return
	}
	os.Exit(m.Run())
}

var children = map[string]func(arg string){"paths": pathsChild, "budget": budgetChild, "soak": soakChild}

func child(t testing.TB, name string, arg any, env ...string) map[string]float64 {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc, which only Linux has")
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), fmt.Sprintf("%s=%s %v", childVariable, name, arg)), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s", errs.String())
	figures := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		var name string
		var v float64
		if _, err := fmt.Sscan(line, &name, &v); err == nil {
			figures[name] = v
		}
	}
	return figures
}

// resident is the process's resident memory now and the most it was since the last call of forgetPeak, in bytes.
func resident() (now, peak float64) {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			now = kib * 1024
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			peak = kib * 1024
		}
	}
	return now, peak
}

func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pathsChild goes through five million paths once, shuffled, and prints what the process then holds.
func pathsChild(arg string) {
	workers, err := strconv.Atoi(arg)
	must(err)
	paths := sources.NewPaths(func(yield func(string) bool) {
		for i := range 5_000_000 {
			if !yield(fmt.Sprintf("train/class_%04d/image_%08d.jpg", i/5000, i)) {
				return
			}
		}
	})
	runtime.GC()
	debug.FreeOSMemory()
	p := graph.New("paths", graph.NoDigest())
	src := graph.From(p, "read", sources.Map[string](paths), graph.Workers(workers), graph.Sampler(sources.Shuffled{}))
	out := graph.Output(graph.Via(src, "group", graph.Collect[string](256)), "train")
	run, err := p.Start(context.Background())
	must(err)
	n := 0
	for b, err := range out.All(run) {
		must(err)
		n += len(b)
	}
	must(run.Wait())
	raw, _ := resident()
	runtime.GC()
	debug.FreeOSMemory()
	held, _ := resident()
	fmt.Println("paths", n)
	fmt.Println("rss", raw)
	fmt.Println("held", held)
	fmt.Println("seconds", run.Snapshot().Totals.Elapsed.Seconds())
	runtime.KeepAlive(paths)
}

// BenchmarkFiveMillionPaths tells what five million paths take after an epoch, with 1 and with 64 workers.
func BenchmarkFiveMillionPaths(b *testing.B) {
	one := child(b, "paths", 1)
	many := child(b, "paths", 64)
	b.ReportMetric(one["rss"]/1e6, "MB_1_worker")
	b.ReportMetric(many["rss"]/1e6, "MB_64_workers")
	b.ReportMetric(many["rss"]/one["rss"], "ratio")
	b.ReportMetric(many["held"]/one["held"], "ratio_after_collection")
	b.ReportMetric(one["paths"]/one["seconds"], "paths/s_1")
	b.ReportMetric(many["paths"]/many["seconds"], "paths/s_64")
	b.ReportMetric(0, "ns/op")
}

// budgetChild decodes large pictures within a byte budget, in MiB, and prints how much the process took beyond what it
// held idle.
func budgetChild(arg string) {
	mib, err := strconv.ParseInt(arg, 10, 64)
	must(err)
	limit := mib << 20
	p := graph.New("budget", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: limit}))
	read := graph.From(p, "read", sources.SyntheticImages{Count: 60, Width: 2000, Height: 1500})
	pics := graph.Via[sample, sample](read, "decode", stages.DecodeImage{})
	crop := graph.Via[sample, sample](pics, "crop", stages.RandomResizedCrop{Size: 224})
	norm := graph.Via[sample, sample](crop, "normalize", stages.Normalize{})
	out := graph.Output(graph.Via[sample, batch](norm, "collate", stages.Collate{Size: 16}), "train")
	runtime.GC()
	debug.FreeOSMemory()
	idle, _ := resident()
	forgetPeak()
	debug.SetMemoryLimit(int64(idle) + limit)
	run, err := p.Start(context.Background())
	must(err)
	for _, err := range out.All(run) {
		must(err)
	}
	must(run.Wait())
	_, peak := resident()
	s := run.Snapshot()
	fmt.Println("share", (peak-idle)/float64(limit))
	fmt.Println("counted", float64(s.Memory.InFlightPeak)/float64(limit))
	fmt.Println("overdraft", float64(s.Memory.OverdraftPeak)/float64(limit))
	fmt.Println("rate", float64(s.Totals.Samples)/s.Totals.Elapsed.Seconds())
}

// BenchmarkByteBudget tells the resident memory beyond idle, as a share of the budget.
func BenchmarkByteBudget(b *testing.B) {
	for _, mib := range []int{64, 256} {
		b.Run(fmt.Sprintf("MiB=%d", mib), func(b *testing.B) {
			f := child(b, "budget", mib)
			for _, name := range []string{"share", "counted", "overdraft", "rate"} {
				b.ReportMetric(f[name], name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
