package pool

// Slab takes memory for one batch. It is taken once and used again, so it asks for huge pages: a fresh page of 4 KiB
// costs 14 microseconds on a virtual machine, one of 2 MiB not much more.
func Slab(n int) []byte {
	b := make([]byte, max(n, 8))[:n] // at least 8, so that every view is aligned
	adviseHuge(b)
	return b
}
