package cache

import (
	"sync"

	"github.com/penstock-go/penstock/graph"
)

// store keeps entries by index, in memory.
type store[T any] struct {
	limit       int64
	copy, share func(T) T
	free        func(T)
	size        func(T) int64

	mu      sync.RWMutex
	entries map[int64][]T
	held    int64
	least   int64 // the smallest entry seen that holds anything; 0: none yet
}

func (s *store[T]) transform() graph.Transform[T, T] {
	s.entries = map[int64][]T{}
	return graph.Transform[T, T]{
		Cache: &graph.Cache[T]{Keep: s.keep, Find: s.find, Full: s.full, Held: s.holds, Limit: s.limit},
		Close: s.close,
	}
}

// keep copies an entry if there is room for it.
func (s *store[T]) keep(index int64, made []T) bool {
	var size int64
	for _, v := range made {
		size += s.size(v)
	}
	s.mu.Lock()
	if size > 0 && (s.least == 0 || size < s.least) {
		s.least = size
	}
	fits := size <= s.limit-s.held
	if fits {
		s.held += size
	}
	s.mu.Unlock()
	if !fits {
		return false
	}
	entry := make([]T, len(made))
	for i, v := range made {
		entry[i] = s.copy(v)
	}
	s.mu.Lock()
	s.entries[index] = entry
	s.mu.Unlock()
	return true
}

func (s *store[T]) find(index int64, emit func(T)) {
	s.mu.RLock()
	entry := s.entries[index]
	s.mu.RUnlock()
	for _, v := range entry {
		emit(s.share(v))
	}
}

// full says that not even the smallest entry seen would find room.
func (s *store[T]) full() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.least > 0 && s.limit-s.held < s.least
}

func (s *store[T]) holds() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.held
}

// close gives everything back.
func (s *store[T]) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range s.entries {
		for _, v := range entry {
			s.free(v)
		}
	}
	s.entries = nil
	return nil
}
