package stages

import (
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// soundFiles remembers which JPEGs of a run have been read to their end without a fault, by a checksum. While it stays,
// no more of them need be read than the crop wants. It takes four bytes for each picture, and is shared by all workers of
// a stage.
type soundFiles struct{ pages sync.Map } // pageID: *soundPage

type pageID struct {
	source int
	number int64
}

const soundPage = 1024 // pictures

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is never 0, which stands for a picture that is not known.
func checksum(data []byte) uint32 { return max(1, crc32.Checksum(data, castagnoli)) }

func (s *soundFiles) of(id pictureID) *atomic.Uint32 {
	page := pageID{id.source, id.index / soundPage}
	p, ok := s.pages.Load(page)
	if !ok {
		p, _ = s.pages.LoadOrStore(page, new([soundPage]atomic.Uint32))
	}
	return &p.(*[soundPage]atomic.Uint32)[id.index%soundPage]
}
