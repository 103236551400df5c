// Package cache holds the stages that keep what was made, so that later epochs need not make it again.
//
//	p := graph.New("flowers", graph.Seed(7), graph.Epochs(30))
//	files := graph.From(p, "read", sources.Folder{Root: "data/train"}, graph.Sampler(sources.Shuffled{}))
//	pics  := graph.Via(files, "decode", stages.DecodeImage{})
//	small := graph.Via(pics, "resize", stages.Resize{Size: 256})
//	kept  := graph.Via(small, "keep", cache.Memory{Limit: 4 << 30}) // the first epoch fills it
//	crops := graph.Via(kept, "crop", stages.RandomResizedCrop{Size: 224}) // what is random comes after it
//	rows  := graph.Via(typed, "rows", cache.Items[row](1<<30)) // a program's own type
//
// The engine asks a cache with the index of the source before it reads, so that a hit costs neither reading nor the
// stages between. What comes out is what would come out without the cache, in the same order. See [graph.Cache].
package cache
