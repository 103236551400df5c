package edge

import "math/bits"

// kept holds early parts by their first ordinal, in a table with linear probing that is at most half full. It is as
// large as the most that were kept at once needs, however wide the window.
type kept[T any] struct {
	slots []*Part[T]
	n     int
}

// spread is 2^64 divided by the golden ratio: it spreads ordinals that lie whole slices apart.
const spread = 0x9e3779b97f4a7c15

func (k *kept[T]) home(lo int64) int {
	return int(uint64(lo) * spread >> (65 - bits.Len(uint(len(k.slots)))))
}

// index is where the part of an ordinal lies, or where it would.
func (k *kept[T]) index(lo int64) int {
	i := k.home(lo)
	for k.slots[i] != nil && k.slots[i].Lo != lo {
		i = (i + 1) & (len(k.slots) - 1)
	}
	return i
}

func (k *kept[T]) put(p *Part[T]) {
	if 2*k.n >= len(k.slots) {
		old := k.slots
		k.slots = make([]*Part[T], max(16, 2*len(old)))
		for _, q := range old {
			if q != nil {
				k.slots[k.index(q.Lo)] = q
			}
		}
	}
	k.slots[k.index(p.Lo)] = p
	k.n++
}

// find gives the part of an ordinal, or nil.
func (k *kept[T]) find(lo int64) *Part[T] {
	if k.n == 0 {
		return nil
	}
	return k.slots[k.index(lo)]
}

// remove takes a part out. What lay behind it for want of a better place moves up.
func (k *kept[T]) remove(p *Part[T]) {
	mask := len(k.slots) - 1
	gap := k.index(p.Lo)
	for i := (gap + 1) & mask; k.slots[i] != nil; i = (i + 1) & mask {
		if (i-k.home(k.slots[i].Lo))&mask >= (i-gap)&mask {
			k.slots[gap], gap = k.slots[i], i
		}
	}
	k.slots[gap] = nil
	k.n--
}

// clear takes all parts out.
func (k *kept[T]) clear(out func(*Part[T])) {
	for i, p := range k.slots {
		if p != nil {
			out(p)
			k.slots[i] = nil
		}
	}
	k.n = 0
}
