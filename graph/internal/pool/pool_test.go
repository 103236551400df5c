package pool

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestClassesFitAndAreNotMuchLarger(t *testing.T) {
	last := -1
	for n := 1; n < 1<<20; n += 1 + n/97 {
		i, size := classOf(n)
		require.GreaterOrEqual(t, size, n)
		if n > 64 {
			require.LessOrEqual(t, float64(size), 1.25*float64(n)+1)
		}
		require.GreaterOrEqual(t, i, last)
		j, same := classOf(size)
		require.Equal(t, i, j)
		require.Equal(t, size, same)
		last = i
	}
}

func TestMemoryComesBack(t *testing.T) {
	m := NewMemory(0)
	a := m.Take(1000)
	p := &a[0]
	require.Len(t, a, 1000)
	m.Back(a)
	b := m.Take(990)
	require.Same(t, p, &b[0], "the same class is used again")
	used, peak := m.Held()
	require.Equal(t, int64(cap(b)), used)
	require.Equal(t, used, peak)
	m.Back(b)
	m.Back(make([]byte, 77)) // of another size than any class: left alone
	used, _ = m.Held()
	require.Zero(t, used)
}

// Files are of many sizes: what came back in one must serve another, and what nobody asks for must make room.
func TestFilesOfMixedSizesAreReadIntoMemoryThatCameBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := NewMemory(0)
	for range 40 { // sizes that are not seen again
		m.Back(m.Take(10_000 + r.IntN(20_000)))
	}
	under := make([][]byte, 40)
	seen := map[*byte]bool{}
	fresh, kept := 0, int64(0)
	for i := range 20_000 {
		at := i % len(under)
		if b := under[at]; b != nil {
			m.Back(b)
		}
		under[at] = m.Take(80_000 + r.IntN(60_000))
		if p := unsafe.SliceData(under[at]); !seen[p] {
			seen[p] = true
			fresh++
		}
		kept = max(kept, m.used.Load()+m.idle.Load())
	}
	_, peak := m.Held()
	require.Less(t, fresh, 2000, "of 20,000")
	require.LessOrEqual(t, float64(kept), 1.1*float64(peak))
}

func TestIdleMemoryStaysWithinTheLimit(t *testing.T) {
	m := NewMemory(10_000)
	var small [][]byte
	for range 100 {
		small = append(small, m.Take(100))
	}
	for _, b := range small {
		m.Back(b)
	}
	require.LessOrEqual(t, m.idle.Load(), int64(10_000))
	big := m.Take(8000)
	require.LessOrEqual(t, m.used.Load()+m.idle.Load(), int64(10_000), "idle memory of other sizes is let go")
	m.Back(big)
}

func TestSlabsBeginWithAHugePage(t *testing.T) {
	for _, n := range []int{0, 1, 100, hugePage, 4*hugePage - 1, 4 * hugePage, 7*hugePage + 12_345} {
		var s Slabs
		b, ahead := s.Take(n)
		require.Len(t, b, n)
		if n >= 4*hugePage {
			require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%hugePage)
			require.Equal(t, n, cap(b))
		}
		require.Equal(t, n >= 4*hugePage, ahead != nil)
		for i := 0; i < n; i += 4096 {
			b[i] = 1
		}
		if ahead != nil { // what is written before stays, and nothing else changes
			ahead(func() bool { return false })
			for i, x := range b {
				want := byte(0)
				if i%4096 == 0 {
					want = 1
				}
				if x != want {
					t.Fatalf("byte %d is %d", i, x)
				}
			}
		}
	}
}

func TestBudgetLetsTheOldestPass(t *testing.T) {
	b := Budget{Limit: 100, Hold: 2}
	require.True(t, b.Admit(60, 0))
	require.True(t, b.Admit(60, 1), "the oldest two always pass")
	require.Equal(t, int64(120), b.Used())
	require.False(t, b.Admit(1, 2))
	b.Free(60)
	require.True(t, b.Admit(40, 2))
	require.False(t, b.Admit(1, 2))
	b.Grow(50)
	require.Equal(t, int64(150), b.Used())
	require.Equal(t, int64(150), b.Peak)
	free := Budget{}
	require.True(t, free.Admit(1<<60, 1000), "no limit")
}
