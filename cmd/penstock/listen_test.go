package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// shared is a buffer that several goroutines use.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// served is a run that is looked at.
type served struct {
	t    *testing.T
	base string
	err  *shared
	ch   chan os.Signal
	done chan int
}

func serve(t *testing.T, spec string, args ...string) *served {
	t.Helper()
	s := &served{t: t, err: &shared{}, ch: make(chan os.Signal, 2), done: make(chan int, 1)}
	a := testApp(t, io.Discard, s.err)
	a.signals = s.ch
	file := write(t, "served.yaml", spec)
	go func() { s.done <- a.main(append([]string{"run", file, "--listen", "127.0.0.1:0"}, args...)) }()
	t.Cleanup(s.stop)
	require.Eventually(t, func() bool { return strings.Contains(s.err.String(), "debug/pprof/\n") }, time.Minute, time.Millisecond)
	s.base = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(s.err.String())
	require.NotEmpty(t, s.base, s.err.String())
	require.Eventually(t, func() bool {
		code, _, _ := s.get("/report.json")
		return code == http.StatusOK
	}, time.Minute, time.Millisecond)
	return s
}

func (s *served) stop() {
	s.ch <- syscall.SIGTERM
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Error("the run does not end")
	}
	s.done <- 0
}

func (s *served) get(path string) (code int, body string, h http.Header) {
	s.t.Helper()
	r, err := http.Get(s.base + path)
	require.NoError(s.t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	return r.StatusCode, string(b), r.Header
}

const spinning = `pipeline: spinning
epochs: forever
stages:
  - {id: read, range: {count: 100}, workers: 1}
  - {id: grind, delay: {time: 300us, mode: spin}, workers: 1}
  - {id: pack, collate: {size: 10}, workers: 1}
  - {id: end,  accelerator: {step: 1ms}}
`

func TestARunThatListensServesItsPageReportAndMetrics(t *testing.T) {
	s := serve(t, endless)
	code, body, h := s.get("/")
	require.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, `<b class="state running">running</b>`)
	assert.Contains(t, body, "<h1>endless</h1>")
	assert.Contains(t, body, "connect-src 'self'")
	assert.Equal(t, "DENY", h.Get("X-Frame-Options"))
	assert.Equal(t, "no-store", h.Get("Cache-Control"))
	_, text, _ := s.get("/report.json")
	var doc struct {
		Pipeline string
		Timeline *struct{ Stages []any }
		Spec     struct{ Text string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	assert.Equal(t, "endless", doc.Pipeline)
	assert.Equal(t, endless, doc.Spec.Text)
	require.NotNil(t, doc.Timeline)
	_, text, h = s.get("/metrics")
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", h.Get("Content-Type"))
	wellFormed(t, text)
	assert.Contains(t, text, `penstock_running{pipeline="endless"} 1`)

	code, _, _ = s.get("/nothing")
	assert.Equal(t, http.StatusNotFound, code)
	for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		code, _, _ = s.get(path)
		assert.Equal(t, http.StatusNotFound, code, path)
	}
}

func TestOnlyReadingAndOnlyThisMachineIsServed(t *testing.T) {
	s := serve(t, endless)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		r, err := http.NewRequest(method, s.base+"/", strings.NewReader("x"))
		require.NoError(t, err)
		got, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = got.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, got.StatusCode, method)
	}
	for host, want := range map[string]int{"evil.example": 403, "evil.example:80": 403, "localhost": 200, "localhost:1": 200, "127.0.0.1": 200,
		"[::1]:80": 200, "": 200, "10.1.2.3": 403} {
		r, err := http.NewRequest("GET", s.base+"/metrics", nil)
		require.NoError(t, err)
		r.Host = host
		got, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = got.Body.Close()
		assert.Equal(t, want, got.StatusCode, "%q", host)
	}
}

func TestAnAddressWithoutAHostIsThisMachineAlone(t *testing.T) {
	w, err := listen(":0")
	require.NoError(t, err)
	defer w.close()
	assert.Contains(t, w.address(), "http://127.0.0.1:")
	assert.True(t, w.local)
	var told bytes.Buffer
	w.announce(&told)
	assert.NotContains(t, told.String(), "whoever")

	r, err := http.Get(w.address())
	require.NoError(t, err)
	_ = r.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode, "nothing runs yet")

	all, err := listen("0.0.0.0:0")
	require.NoError(t, err)
	defer all.close()
	assert.False(t, all.local)
	all.announce(&told)
	assert.Contains(t, told.String(), "whoever reaches this address")
}

func TestGoroutinesBearTheirStageAsALabel(t *testing.T) {
	s := serve(t, spinning, "--set", "grind.workers=2")
	wants := []string{`"pipeline":"spinning"`, `"stage":"read"`, `"stage":"grind"`, `"worker":"1"`}
	var text string
	assert.Eventually(t, func() bool { // some goroutines may not have begun when the first snapshot is there
		_, text, _ = s.get("/debug/pprof/goroutine?debug=1")
		return !slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(text, want) })
	}, time.Minute, time.Millisecond)
	for _, want := range wants {
		assert.Contains(t, text, want)
	}
	_, text, _ = s.get("/debug/pprof/trace?seconds=0.2")
	assert.Contains(t, text, "grind busy", "states are regions of a trace of the runtime")
}

func TestAProfileIsSplitByStage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a profile")
	}
	s := serve(t, spinning)
	_, text, _ := s.get("/debug/pprof/profile?seconds=1")
	file := filepath.Join(t.TempDir(), "cpu")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	share := func(stage string) string {
		out, err := exec.Command("go", "tool", "pprof", "-top", "-tagfocus=stage="+stage+"$", file).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	assert.Contains(t, share("grind"), "stages.spin")
	assert.NotContains(t, share("pack"), "stages.spin")
}

func TestWhoLooksOnGetsTheLastState(t *testing.T) {
	w, err := listen("127.0.0.1:0")
	require.NoError(t, err)
	get := func() string {
		r, err := http.Get(w.address())
		require.NoError(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return string(b)
	}
	w.set(func() graph.Snapshot { return graph.Snapshot{Pipeline: "p", Running: true} })
	require.Contains(t, get(), "state running")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.end(graph.Snapshot{Pipeline: "p"}, true)
	}()
	require.Eventually(t, func() bool { return !strings.Contains(get(), "state running") }, 2*time.Second, time.Millisecond)
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		t.Fatal("the site closes as soon as the last state was fetched")
	}
	_, err = http.Get(w.address())
	assert.Error(t, err)
}
