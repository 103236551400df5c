package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	httppprof "net/http/pprof"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/report/page"
)

// site serves a run to those who look on: the page, the report, metrics, profiles. All of it is reading.
type site struct {
	ln    net.Listener
	srv   *http.Server
	local bool // it is reached from this machine only
	done  sync.WaitGroup

	making sync.Mutex // held while a page is made

	mu      sync.Mutex
	shot    func() graph.Snapshot // nil: not started yet
	made    time.Time             // when text was
	text    []byte                // of the page
	asked   time.Time             // when a page was last asked for
	over    bool                  // text is of the end
	fetched chan struct{}         // the page of the end was
}

// fresh is how old a page may be that is given out again, and lookers how long after its last request someone counts as
// looking on.
const (
	fresh   = time.Second
	lookers = 5 * time.Second
	parting = 3 * time.Second
)

// listen opens the address. One without a host is that of this machine alone.
func listen(addr string) (*site, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--listen %q: wanted HOST:PORT or :PORT", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--listen %q: %w", addr, err)
	}
	w := &site{ln: ln, fetched: make(chan struct{})}
	if a, ok := ln.Addr().(*net.TCPAddr); ok {
		w.local = a.IP.IsLoopback()
	}
	w.srv = &http.Server{Handler: w.guarded(w.routes()), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 1 << 14}
	w.done.Go(func() { _ = w.srv.Serve(ln) })
	return w, nil
}

func (w *site) address() string { return "http://" + w.ln.Addr().String() + "/" }

// observe makes what a run must keep and tell for this: goroutines bear labels, and their states are regions while
// somebody takes a trace of the Go runtime.
func (w *site) observe(p *graph.Pipeline, name string) {
	ctx := context.Background()
	p.With(graph.OnWorker(func(stage string, worker int) {
		pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("pipeline", name, "stage", stage, "worker", strconv.Itoa(worker))))
	}), graph.OnState(func(stage string) func(string) {
		var in *trace.Region
		return func(state string) {
			if in != nil {
				in.End()
				in = nil
			}
			if state != "" && trace.IsEnabled() {
				in = trace.StartRegion(ctx, stage+" "+state)
			}
		}
	}))
}

func (w *site) set(shot func() graph.Snapshot) {
	w.mu.Lock()
	w.shot = shot
	w.mu.Unlock()
}

// end gives whoever looks on the last state, and closes.
func (w *site) end(last graph.Snapshot, wait bool) {
	w.mu.Lock()
	text, err := page.Live(last)
	if err == nil {
		w.text, w.over = text, true
	}
	w.shot = func() graph.Snapshot { return last }
	wait = wait && err == nil && time.Since(w.asked) < lookers
	w.mu.Unlock()
	if wait {
		t := time.NewTimer(parting)
		defer t.Stop()
		select {
		case <-w.fetched:
		case <-t.C:
		}
	}
	w.close()
}

// close ends what is asked at the moment, profiles too.
func (w *site) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.srv.Shutdown(ctx); err != nil {
		_ = w.srv.Close()
	}
	w.done.Wait()
}

func (w *site) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/{$}", w.page)
	m.HandleFunc("/report.json", w.of("application/json", report.JSON))
	m.HandleFunc("/metrics", w.of("text/plain; version=0.0.4; charset=utf-8", func(s graph.Snapshot) ([]byte, error) { return []byte(metrics(s)), nil }))
	m.HandleFunc("/debug/pprof/", httppprof.Index)
	m.HandleFunc("/debug/pprof/profile", httppprof.Profile)
	m.HandleFunc("/debug/pprof/trace", httppprof.Trace)
	return m
}

// guarded lets only reading pass. Where the site is of this machine alone it also refuses names of other hosts: a page
// from elsewhere, open in a browser here, must not read it by a name that leads here.
func (w *site) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		h := out.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(out, "only GET", http.StatusMethodNotAllowed)
		case w.local && !localName(r.Host):
			http.Error(out, "this is served to this machine only", http.StatusForbidden)
		default:
			next.ServeHTTP(out, r)
		}
	})
}

func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var errNotStarted = errors.New("the run has not started yet; ask again")

func (w *site) snapshot() (graph.Snapshot, error) {
	w.mu.Lock()
	shot := w.shot
	w.mu.Unlock()
	if shot == nil {
		return graph.Snapshot{}, errNotStarted
	}
	return shot(), nil
}

func (w *site) of(kind string, make func(graph.Snapshot) ([]byte, error)) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		s, err := w.snapshot()
		var text []byte
		if err == nil {
			text, err = make(s)
		}
		w.answer(out, kind, text, err)
	}
}

func (w *site) answer(out http.ResponseWriter, kind string, text []byte, err error) {
	switch {
	case errors.Is(err, errNotStarted):
		out.Header().Set("Retry-After", "1")
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(out, err.Error(), http.StatusInternalServerError)
	default:
		out.Header().Set("Content-Type", kind)
		_, _ = out.Write(text)
	}
}

// page gives the page out. Many who look on cost no more than one.
func (w *site) page(out http.ResponseWriter, r *http.Request) {
	text, over, err := w.current()
	w.answer(out, "text/html; charset=utf-8", text, err)
	if over && r.Method == http.MethodGet {
		w.mu.Lock()
		defer w.mu.Unlock()
		select {
		case <-w.fetched:
		default:
			close(w.fetched)
		}
	}
}

// current is the page as it is given out now, made anew if it is old, and whether it is that of the end.
func (w *site) current() (text []byte, over bool, err error) {
	w.making.Lock()
	defer w.making.Unlock()
	w.mu.Lock()
	w.asked = time.Now()
	over, old, shot := w.over, time.Since(w.made) > fresh, w.shot
	text = w.text
	w.mu.Unlock()
	if shot == nil {
		return nil, false, errNotStarted
	}
	if old && !over {
		if text, err = page.Live(shot()); err == nil {
			w.mu.Lock()
			if w.made = time.Now(); !w.over {
				w.text = text
			}
			w.mu.Unlock()
		}
	}
	return text, over, err
}

// announce says where the site is.
func (w *site) announce(to io.Writer) {
	fmt.Fprintf(to, "penstock: the report of this run is at %s, metrics at %smetrics, profiles at %sdebug/pprof/\n", w.address(), w.address(), w.address())
	if !w.local {
		fmt.Fprintln(to, "penstock: whoever reaches this address can read the spec, names of samples and profiles")
	}
}
