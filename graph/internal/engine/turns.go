package engine

import "sync"

// turns lets so many of several goroutines go on at a time. The number may be changed meanwhile.
type turns struct {
	mu   sync.Mutex
	most int
	used int
	wait []chan struct{}
}

func (t *turns) take() {
	t.mu.Lock()
	if t.used < t.most {
		t.used++
		t.mu.Unlock()
		return
	}
	c := make(chan struct{})
	t.wait = append(t.wait, c)
	t.mu.Unlock()
	<-c
}

func (t *turns) give() {
	t.mu.Lock()
	t.used--
	t.next()
	t.mu.Unlock()
}

// next lets those go on for whom there is room.
func (t *turns) next() {
	for t.used < t.most && len(t.wait) > 0 {
		close(t.wait[0])
		t.wait[0] = nil
		t.wait = t.wait[1:]
		t.used++
	}
}

func (t *turns) set(n int) {
	t.mu.Lock()
	t.most = n
	t.next()
	t.mu.Unlock()
}
