// Package sources holds the readers with which a pipeline begins, and the samplers that order them.
//
//	p := graph.New("flowers", graph.Seed(7), graph.Epochs(3))
//	files := graph.From(p, "read", sources.Folder{Root: "data/train"}, graph.Sampler(sources.Shuffled{}))
//	made  := graph.From(q, "made", sources.SyntheticImages{Count: 1000})
//	rows  := graph.From(r, "rows", sources.Map(sources.Slice[row]{{1, 2}, {3, 4}}))
//	lines := graph.From(s, "logs", sources.Iter(logs)) // anything with Splits and Read
//	both  := graph.From(t, "both", sources.Concat(sources.Map(a), sources.Map(b)))
//
// A map-style source says how many samples it has and reads any of them; the engine decides on the order and reads many
// at once. An iterable is read forward, in splits. A source never starts a goroutine, and no worker number reaches what
// it gives.
package sources
