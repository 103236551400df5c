package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// The soak: a long run over pictures of which 1 % are cut short and 1 % come late, within a byte budget and, where a
// control group can be made, within a memory limit of the kernel. Below 128 MiB, what is no part of a budget shows: the
// tables and lines of the decoders, some 8 MB.
const (
	soakBudget = 128 << 20
	soakLimit  = 320 << 20
	soakParts  = 4 // of the time, each with a peak of its own
	soakEpoch  = 5000
)

// soakPictures are made once and kept in memory; each read copies one.
type soakPictures [][]byte

func makeSoakPictures() (all soakPictures) {
	var painter sources.Painter
	for i := range int64(100) {
		pic := sources.Picture{Seed: 1, Index: i, Width: 500, Height: 375}
		if i%20 == 0 {
			pic.Width, pic.Height = 2000, 1500
		}
		all = append(all, painter.Append(nil, pic))
	}
	return all
}

// Open makes a source of pictures of which some are cut short and some come late.
func (s soakPictures) Open(context.Context, *graph.Env) (graph.Reader[sample], error) {
	return graph.Reader[sample]{Len: soakEpoch, At: s.at}, nil
}

func (s soakPictures) at(c *graph.Call, i int64) (sample, error) {
	data := s[i%100]
	switch i / 100 % 100 {
	case i % 100: // one of a hundred
		data = data[:len(data)/2]
	case (i + 50) % 100:
		select {
		case <-time.After(100 * time.Millisecond):
		case <-c.Context().Done():
			return nil, c.Context().Err()
		}
	}
	buf := c.Buffer(len(data))
	copy(buf.Data, data)
	out := item.NewSample(strconv.FormatInt(i, 10))
	out.Set("image", item.Bytes(buf))
	return out, nil
}

// soakChild runs for so many seconds and prints what was seen.
func soakChild(arg string) {
	seconds, err := strconv.Atoi(arg)
	must(err)
	pictures := makeSoakPictures()
	p := graph.New("soak", graph.Epochs(graph.Forever), graph.WithBudget(graph.Budget{Memory: soakBudget}))
	read := graph.From(p, "read", pictures, graph.Sampler(sources.Shuffled{}), graph.Workers(8))
	pics := graph.Via[sample, sample](read, "decode", stages.DecodeImage{}, graph.OnError(graph.Skip))
	crop := graph.Via[sample, sample](pics, "crop", stages.RandomResizedCrop{Size: 224})
	norm := graph.Via[sample, sample](crop, "normalize", stages.Normalize{})
	out := graph.Output(graph.Via[sample, batch](norm, "collate", stages.Collate{Size: 32}), "train")
	runtime.GC()
	debug.FreeOSMemory()
	idle, _ := resident()
	debug.SetMemoryLimit(int64(idle) + soakBudget)
	forgetPeak()
	run, err := p.Start(context.Background())
	must(err)
	began, part := time.Now(), 0
	var most float64
	tell := func() {
		_, peak := resident()
		most = max(most, peak)
		forgetPeak()
		fmt.Printf("peak_%d %.0f\ngoroutines_%d %d\nfiles_%d %d\n", part, peak, part, runtime.NumGoroutine(), part, openFiles())
		part++
	}
	for _, err := range out.All(run) {
		must(err)
		if time.Since(began) > time.Duration(seconds)*time.Second*time.Duration(part+1)/soakParts {
			if tell(); part == soakParts {
				break
			}
		}
	}
	must(run.Wait())
	s := run.Snapshot()
	fmt.Println("share", (most-idle)/soakBudget)
	fmt.Println("samples", s.Totals.Samples)
	fmt.Println("skipped", s.Totals.Skipped)
	fmt.Println("unbalanced", len(s.Totals.Unbalanced))
	fmt.Println("scarce", s.Memory.Scarce.Seconds())
	fmt.Println("overdraft", float64(s.Memory.OverdraftPeak)/soakBudget)
}

func openFiles() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}

// limited makes a control group with a memory limit and gives its list of processes; "" where that cannot be done.
func limited(t testing.TB, limit int) string {
	for root, file := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(root, fmt.Sprintf("penstock-soak-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(limit)), 0o644) == nil {
			return filepath.Join(dir, "cgroup.procs")
		}
	}
	return ""
}

// TestSoak runs for ten seconds, or for PENSTOCK_SOAK, such as 30m.
func TestSoak(t *testing.T) {
	long := 10 * time.Second
	if v := os.Getenv("PENSTOCK_SOAK"); v != "" {
		var err error
		long, err = time.ParseDuration(v)
		require.NoError(t, err)
	} else if testing.Short() {
		t.Skip("takes ten seconds")
	}
	var env []string
	if group := limited(t, soakLimit); group != "" {
		env = append(env, childGroup+"="+group)
	} else {
		t.Log("no control group can be made here: the kernel sets no limit")
	}
	f := child(t, "soak", int(long.Seconds()), env...)
	t.Logf("%v", f)
	require.Zero(t, f["unbalanced"], "counts balance")
	require.Greater(t, f["samples"], 1000.0)
	require.InDelta(t, 0.01, f["skipped"]/(f["samples"]+f["skipped"]), 0.005)
	for part := 2; part < soakParts; part++ { // the first is for warming up
		require.LessOrEqual(t, f[fmt.Sprintf("goroutines_%d", part)], f["goroutines_1"]+1)
		require.LessOrEqual(t, f[fmt.Sprintf("files_%d", part)], f["files_1"])
		require.LessOrEqual(t, f[fmt.Sprintf("peak_%d", part)], f["peak_1"]*1.1+(4<<20), "resident memory is flat")
	}
	require.LessOrEqual(t, f["share"], 1.15, "of the budget, beyond what the idle process held")
}
