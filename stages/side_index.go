package stages

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/stages/jpeg"
)

// sideIndexes keeps the side indexes of a run's JPEGs, so that from the second epoch on decoding starts at the crop. A
// picture is known by its source and its index there. It is shared by all workers of a stage.
type sideIndexes struct {
	limit int64
	env   *graph.Env
	taken int64 // of the memory budget, under mu
	held  int64
	full  atomic.Bool

	mu sync.RWMutex
	of map[pictureID]jpeg.Index
}

type pictureID struct {
	source int
	index  int64
}

// indexStep is how much memory is taken off the budget at a time.
const indexStep = 256 << 10

// entryBytes is about what the map takes for an entry beside the index.
const entryBytes = 64

func newSideIndexes(env *graph.Env, limit int64) *sideIndexes {
	return &sideIndexes{limit: limit, env: env, of: map[pictureID]jpeg.Index{}}
}

// idOf is how a call's picture is known; ok is false where it has no index of its own.
func idOf(c *graph.Call) (id pictureID, ok bool) {
	id = pictureID{c.Pos().Source, c.Index()}
	return id, id.index >= 0
}

func (s *sideIndexes) get(id pictureID) jpeg.Index {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.of[id]
}

// put keeps a copy of an index while there is room.
func (s *sideIndexes) put(id pictureID, x jpeg.Index) {
	if len(x) == 0 || s.full.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.of[id]; ok { // another worker had the same picture
		return
	}
	need := int64(len(x)) + entryBytes
	for s.held+need > s.taken {
		if s.taken+indexStep > s.limit || !s.env.Reserve(indexStep) {
			s.full.Store(true)
			s.env.Degraded("side indexes of JPEGs fill their room; the other pictures are decoded from their beginning (see index_limit and budget.memory)")
			return
		}
		s.taken += indexStep
	}
	s.held += need
	s.of[id] = append(jpeg.Index(nil), x...)
}

// forget drops an index that does not fit the data any more.
func (s *sideIndexes) forget(id pictureID) {
	s.mu.Lock()
	if x, ok := s.of[id]; ok {
		s.held -= int64(len(x)) + entryBytes
		delete(s.of, id)
	}
	s.mu.Unlock()
}
