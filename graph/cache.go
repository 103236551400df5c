package graph

// Cache is the running part of a stage that keeps what each index of a map-style source made, so that in later epochs
// neither the source nor the stages between are asked again. It is filled as items pass and forgets nothing.
//
// What comes out is what would come out without it, in the same order. An entry is everything that one index made, also
// nothing; of items that failed or were skipped nothing is kept. An index that is on its way to the cache is waited for.
type Cache[T any] struct {
	// Keep is offered everything that an index made, in order, and says whether it was kept, as a copy: the items go on
	// and may be changed. One goroutine calls it, never twice for one index that it kept.
	Keep func(index int64, made []T) bool
	// Find calls emit with new items that have the content of those kept of an index, in order. They may share memory
	// with what is kept: whoever writes to an item in place makes sure first that nobody else holds it (see
	// [item.Value.Shared]). It is called by several goroutines at once, only for an index that was kept.
	Find func(index int64, emit func(T))
	// Full says that nothing more will be kept, whatever comes.
	Full func() bool
	// Held is the bytes kept now, and may be called at any time.
	Held func() int64
	// Limit is the most that they may be.
	Limit int64
}

func isCache(n *node) bool {
	_, ok := n.decl.(Cacher)
	return ok && n.role == stageRole
}

// cacheBelow is the cache that what n makes goes to; nil: none.
func (n *node) cacheBelow() *node {
	for m := n.next; m != nil && m.role == stageRole; m = m.next {
		if isCache(m) {
			return m
		}
	}
	return nil
}

// checkCache looks at what stands between a cache and its source, and at settings that a cache does not have.
func (p *Pipeline) checkCache(n *node) {
	if m := n.cacheBelow(); m != nil && n.opts.order == CompletionOrder && !isCache(n) {
		p.hint(n, "order", "no_effect", "order: completion has no effect before the cache %q: what comes to a cache stays in order", m.id)
	}
	if !isCache(n) {
		return
	}
	o := &n.opts
	for _, key := range []string{"workers", "on_error", "retry", "timeout"} {
		if o.set[key] && !(key == "workers" && o.workers <= 1) && !(key == "on_error" && o.onError == Fail) {
			p.problem(n, key, "serial_stage", "a cache takes items one by one and has no %s", key)
		}
	}
	random := (*node)(nil)
	for m := n; ; m = m.ins[0] {
		if r, ok := m.decl.(Randomizer); ok && r.Random() {
			random = m
		}
		switch {
		case m != n && isCache(m):
			p.problem(n, "from", "cache_place", "its items come from the cache %q already; one of the two is enough", m.id)
			return
		case m.role == mergeRole:
			p.problem(n, "from", "cache_place",
				"a cache keeps what one source makes, and before it stands the merge %q; put it before that, into each of its inputs", m.id)
			return
		case len(m.ins) == 0:
			p.checkRandom(n, random)
			return
		}
	}
}

// checkRandom refuses a cache behind a random stage; the first one stands nearest to the source.
func (p *Pipeline) checkRandom(n, first *node) {
	switch {
	case first == nil:
	case len(first.ins) == 0:
		p.problem(n, "from", "cache_place", "the items of %q are made at random, others in each epoch: a cache would repeat the first ones", first.id)
	default:
		p.problem(n, "from", "cache_place",
			"it stands behind %q, which is random: every epoch would get the same picks; put it between %q and %q",
			first.id, first.ins[0].id, first.id)
	}
}
