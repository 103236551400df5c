// Package pool is recycled memory and the byte budget.
//
//	m := pool.NewMemory()
//	b := m.Take(1 << 20) // at least that long, content undefined
//	...
//	m.Back(b)
//
//	g := pool.NewBudget(256<<20, 1)
//	if g.Admit(bytes) { ... }
package pool
