package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// kind is a program that can take part: ours, or a peer.
type kind struct {
	name string
	argv []string
	env  []string // added to the environment
}

// side is a running one. It belongs to one goroutine.
type side struct {
	kind
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	said    *tail
}

// command asks for one pass. The fields are those of bench/ours.
type command map[string]any

// answer is what a side says of a pass. Times are seconds.
type answer struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // its own figure, where only a part of the pass counts; 0: none
	First   float64 `json:"first"`
	Items   int64   `json:"items"`
	Worked  int64   `json:"worked"` // items the processor worked on, if more than Items
	Batches int64   `json:"batches"`
	Sum     float64 `json:"sum"`
	Shape   []int   `json:"shape"`
	DType   string  `json:"dtype"`
	Labels  []int64 `json:"labels"`
	Version string  `json:"version"`
	Import  float64 `json:"import_seconds"`
}

// pass is an answer with what the driver saw from outside.
type pass struct {
	answer
	whole   float64 // seconds until the answer came
	cpu     float64 // of the process and its children, an item
	pss     float64 // the most that they held, in bytes; 0: not watched
	foreign float64 // share of all cores that other programs took
}

func (p pass) rate() float64 { return float64(p.Items) / p.Seconds }

// start runs a side and waits until it is set up.
func start(k kind, setup any) (*side, error) {
	arg, err := json.Marshal(setup)
	if err != nil {
		return nil, err
	}
	s := &side{kind: k, said: &tail{}}
	s.cmd = exec.Command(k.argv[0], append(k.argv[1:len(k.argv):len(k.argv)], string(arg))...)
	s.cmd.Env = append(os.Environ(), k.env...)
	s.cmd.Stderr = s.said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err = s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<24)
	var a answer
	if err = s.read(&a); err != nil {
		s.stop()
		return nil, err
	}
	s.version = a.Version
	return s, nil
}

func (s *side) read(a *answer) error {
	if !s.out.Scan() {
		s.cmd.Wait()
		return fmt.Errorf("%s ended without an answer: %s", s.name, s.said)
	}
	if err := json.Unmarshal(s.out.Bytes(), a); err != nil {
		return fmt.Errorf("%s: %w: %.200q", s.name, err, s.out.Text())
	}
	return nil
}

// run asks for one pass. watch samples the memory meanwhile, which costs the side a little.
func (s *side) run(c command, watch bool) (pass, error) {
	if c["do"] == nil {
		c["do"] = "run"
	}
	line, err := json.Marshal(c)
	if err != nil {
		return pass{}, err
	}
	pid := s.cmd.Process.Pid
	var most chan float64
	done := make(chan struct{})
	if watch {
		most = make(chan float64, 1)
		go func() { most <- highest(pid, done) }()
	}
	before, all := treeCPU(pid), machineCPU()
	began := time.Now()
	var p pass
	_, err = s.in.Write(append(line, '\n'))
	if err == nil {
		err = s.read(&p.answer)
	}
	p.whole = time.Since(began).Seconds()
	mine := treeCPU(pid) - before
	others := machineCPU() - all - mine
	close(done)
	if watch {
		p.pss = <-most
	}
	if err != nil {
		return p, err
	}
	if p.CPU > 0 {
		p.cpu = p.CPU / float64(p.Items)
	} else {
		p.cpu = mine / float64(max(p.Items, p.Worked))
	}
	p.foreign = max(0, others/p.whole/cores())
	if p.Items == 0 || p.Seconds <= 0 || p.Seconds > p.whole+0.001 {
		return p, fmt.Errorf("%s says that %d items took %.4f s, and its answer came after %.4f s", s.name, p.Items, p.Seconds, p.whole)
	}
	return p, nil
}

// stop ends the side; one that does not end by itself within ten seconds is killed.
func (s *side) stop() {
	s.in.Close()
	t := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	t.Stop()
}

// tail keeps the last of what a side says on standard error.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if over := len(t.text) - 4000; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.text)) }

// malloc tuned to keep its memory: glibc gives freed large blocks back at once, and on a virtual machine a fresh page
// is dear.
var tuned = []string{"MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=17179869184", "MALLOC_TOP_PAD_=268435456"}

// peers finds the programs that bench/peers/install.sh has put into dir. missing says, by name, why others are not there.
func peers(dir string) (found map[string]kind, missing map[string]string) {
	found, missing = map[string]kind{}, map[string]string{}
	python := filepath.Join(dir, "python/bin/python")
	deb := filepath.Join(dir, "debian/usr/lib")
	libs := deb + "/x86_64-linux-gnu"
	debian := []string{
		"LD_LIBRARY_PATH=" + strings.Join([]string{libs, dir + "/debian/lib/x86_64-linux-gnu", libs + "/openblas-pthread", libs + "/blas", libs + "/lapack", deb}, ":"),
		"PYTHONPATH=" + deb + "/python3/dist-packages", "NUMBA_CACHE_DIR=" + dir,
	}
	for name, k := range map[string]kind{
		"torch":        {argv: []string{python, "bench/peers/torch_peer.py"}},
		"torch-debian": {argv: []string{"/usr/bin/python3", "bench/peers/torch_peer.py"}, env: debian},
		"ffcv":         {argv: []string{"/usr/bin/python3", "bench/peers/ffcv_peer.py"}, env: debian},
		"spdl":         {argv: []string{python, "bench/peers/spdl_peer.py"}},
		"grain":        {argv: []string{python, "bench/peers/grain_peer.py"}},
		"dali":         {argv: []string{dir + "/dali/bin/python", "bench/peers/dali_peer.py"}},
		"tf.data":      {argv: []string{dir + "/tensorflow/bin/python", "bench/peers/tensorflow_peer.py"}},
	} {
		why, err := os.ReadFile(filepath.Join(dir, "state", name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing[name] = "not installed"
		case err != nil:
			missing[name] = err.Error()
		case strings.TrimSpace(string(why)) != "ok":
			missing[name] = strings.TrimSpace(string(why))
		default:
			k.name = name
			found[name] = k
		}
	}
	tried, _ := os.ReadDir(filepath.Join(dir, "state"))
	for _, f := range tried { // what was tried beside these
		why, _ := os.ReadFile(filepath.Join(dir, "state", f.Name()))
		if _, ok := found[f.Name()]; !ok && strings.TrimSpace(string(why)) != "ok" {
			missing[f.Name()] = strings.TrimSpace(string(why))
		}
	}
	return found, missing
}
