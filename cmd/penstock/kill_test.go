//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// runnerEnv makes this test binary a runner that knows the kind record.
const runnerEnv = "PENSTOCK_TEST_RUNNER"

func TestMain(m *testing.M) {
	if os.Getenv(runnerEnv) == "" {
		os.Exit(m.Run())
	}
	a, err := newApp(os.Stdin, os.Stdout, os.Stderr)
	if err == nil {
		a.catalog, err = recording()
	}
	if err != nil {
		panic(err)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	a.signals = signals
	os.Exit(a.main(os.Args[1:]))
}

func recording() (*registry.Catalog, error) {
	all := append(sources.Kinds(), stages.Kinds()...)
	meta := registry.Meta{Name: "record", Summary: "Writes the keys of each batch into a file.", Example: "record: {file: x}"}
	return registry.NewCatalog(append(append(all, sinks.Kinds()...), registry.Sink[record](meta, (*record).Bind))...)
}

// record is a sink that adds a line for each batch to a file, by one call of the system: what it has taken survives it.
type record struct {
	File string
	Step graph.Time
}

func (r *record) Bind(f *registry.Fields) {
	f.Path(&r.File, "file", "", "the file", registry.Required())
	f.Time(&r.Step, "step", graph.Time{}, "time that each batch takes")
}

func (r record) Open(context.Context, *graph.Env) (graph.Consumer[*item.Batch], error) {
	f, err := os.OpenFile(r.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return graph.Consumer[*item.Batch]{}, err
	}
	return graph.Consumer[*item.Batch]{
		Take: func(c *graph.Call, b *item.Batch) error {
			var line bytes.Buffer
			fmt.Fprintf(&line, "%d", b.Rows[0].Pos.Epoch)
			for i := range b.Rows {
				fmt.Fprintf(&line, " %s", b.Rows[i].Key)
			}
			line.WriteByte('\n')
			time.Sleep(r.Step.Draw(c.Rand()))
			_, err := f.Write(line.Bytes())
			return err
		},
		Close: f.Close,
	}, nil
}

const killed = `pipeline: killed
seed: 5
epochs: 3
stages:
  - {id: read, range: {count: 505}, sampler: shuffled, workers: 2}
  - {id: wait, delay: {time: {uniform: {min: 1us, max: 200us}}}, workers: 4}
  - {id: pack, collate: {size: 4}}
  - {id: end,  record: {file: taken, step: {uniform: {min: 1us, max: 500us}}}}
`

// recorded reads the lines of the record, which are whole but for one that a kill may have cut.
func recorded(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) || err == nil && len(b) == 0 { // killed before the first batch
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// digestIn is the digest of a report.
func digestIn(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct{ Digest *string }
	require.NoError(t, json.Unmarshal(b, &doc))
	require.NotNil(t, doc.Digest)
	return *doc.Digest
}

// kills is how often the runner is killed: PENSTOCK_KILLS, else 20.
func kills(t *testing.T) int {
	text := os.Getenv("PENSTOCK_KILLS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

type killTest struct {
	t     *testing.T
	dir   string
	every int
	want  []string // the batches of a run that was never interrupted
	r     *rand.Rand
	seen  int // recorded lines that were looked at
	next  int // batch with which the next run has to begin
}

func (k *killTest) path(name string) string { return filepath.Join(k.dir, name) }

func (k *killTest) command(more ...string) *exec.Cmd {
	exe, err := os.Executable()
	require.NoError(k.t, err)
	args := append([]string{"run", k.path("killed.yaml"), "--state", k.path("state.json"), "--every", strconv.Itoa(k.every), "--resume",
		"--report", k.path("report.json"), "--set", fmt.Sprintf("wait.workers=%d", 1<<k.r.Intn(4)),
		"--set", fmt.Sprintf("read.buffer=%d", 1+k.r.Intn(40))}, more...)
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), runnerEnv+"=1")
	return c
}

// round starts the runner and kills it when it has taken some batches more; over says that it was through before.
func (k *killTest) round() (over bool) {
	c := k.command()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	require.NoError(k.t, c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	aim := k.r.Intn(40)
	begun := time.Now()
	for {
		select {
		case err := <-done:
			require.NoError(k.t, err, stderr.String())
			return true
		case <-tick.C:
		}
		got := len(recorded(k.t, k.path("taken"))) - k.seen
		if aim > 0 && got >= aim || aim == 0 && time.Since(begun) > time.Duration(k.r.Intn(60))*time.Millisecond {
			break
		}
		require.Less(k.t, time.Since(begun), time.Minute, stderr.String())
	}
	time.Sleep(time.Duration(k.r.Intn(1500)) * time.Microsecond)
	require.NoError(k.t, c.Process.Kill())
	return <-done == nil
}

// check looks at what a run has left behind.
func (k *killTest) check() {
	t := k.t
	lines := recorded(t, k.path("taken"))
	at := k.next
	for i, l := range lines[k.seen:] {
		require.Less(t, at, len(k.want))
		require.Equal(t, k.want[at], l, "batch %d of the run that began with batch %d", i, k.next)
		at++
	}
	k.seen = len(lines)
	entries, err := os.ReadDir(k.dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, []string{"killed.yaml", "taken", "whole", "state.json", ".state.json.new", "report.json", "whole.json"}, e.Name())
	}
	s, err := graph.LoadState(k.path("state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		k.next = 0
	} else {
		require.NoError(t, err, "the state is always whole")
		k.next = int(s.Epoch)*((505+3)/4) + int(s.Batches)
	}
	require.LessOrEqual(t, k.next, at, "the state is not ahead of what was taken: nothing is lost")
	require.LessOrEqual(t, at-k.next, k.every, "no more is repeated than lies between two states")
}

func TestARunThatIsKilledAgainAndAgainLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	k := &killTest{t: t, r: rand.New(rand.NewSource(seed))}
	total := kills(t)
	for n := 0; n < total; {
		k.dir, k.seen, k.next, k.every = t.TempDir(), 0, 0, 1+k.r.Intn(7)
		require.NoError(t, os.WriteFile(k.path("killed.yaml"), []byte(killed), 0o644))
		whole := k.command("--set", "end.file="+k.path("whole"), "--set", "end.step=1us", "--report", k.path("whole.json"))
		out, err := whole.CombinedOutput()
		require.NoError(t, err, string(out))
		k.want = recorded(t, k.path("whole"))
		require.Len(t, k.want, 3*127)
		require.NoError(t, os.Remove(k.path("state.json")))
		for over := false; !over; n++ {
			over = k.round()
			k.check()
			if n >= total && !over { // enough: let it end
				out, err := k.command().CombinedOutput()
				require.NoError(t, err, string(out))
				k.check()
				over = true
			}
		}
		require.Equal(t, len(k.want), k.next, "the last state is that of the end")
		require.Equal(t, digestIn(t, k.path("whole.json")), digestIn(t, k.path("report.json")), "the digest is that of the whole stream")
	}
}
