package pool

import "sync"

// blocks is where the first middle-sized slices are cut from. A run takes some hundred pictures' worth of fresh memory
// before its first batch, and pages that lie together can be huge, which spares most of the time that takes. What comes
// later is allocated by itself, so that it can be collected once it is let go: a block stays as long as any piece of it.
type blocks struct {
	mu   sync.Mutex
	left []byte
	n    int
}

const (
	blockBytes = 2 * hugePage
	mostBlocks = 6
	leastPiece = 16 << 10
	mostPiece  = 1 << 20
)

// cut gives a piece of that size, or nil where it is of another size than blocks are for, or where there is no more.
func (b *blocks) cut(size int) []byte {
	if size < leastPiece || size > mostPiece {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.left) < size {
		if b.n == mostBlocks {
			return nil
		}
		b.n++
		b.left = huge(blockBytes)
	}
	piece := b.left[:size:size]
	b.left = b.left[size:]
	return piece
}
