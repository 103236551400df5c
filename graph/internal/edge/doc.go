// Package edge is the link between two stages: a ring of item values under a short lock, from which workers take up to
// k items and into which they put up to k, with the order of the input restored on the way.
//
//	e := edge.New[int](edge.Config{Producers: 4, Consumers: 2, Ordered: true})
//	w := edge.NewWaiter()
//	ok := e.Put(w, clock, &edge.Part[int]{Lo: 0, N: 1, Cells: cells})
//	got := e.Take(w, buf, k, now)
//
// Order is kept by ordinals: the number of an input of the producing stage, counted by that stage's own input edge. A
// finished part says which ordinals [Lo, Lo+N) it covers; holes, flat-maps, errors and giving work back are
// arithmetic. An edge ends once, at an ordinal, with nil or an error.
//
// Nobody waits on a condition or a mutex: a waiting worker parks on a channel of its own, so that virtual time stays
// exact. The lock is held for one copy of at most k items.
package edge
