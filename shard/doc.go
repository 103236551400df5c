// Package shard is the arithmetic of who reads what and in which order: permutations of any length in constant memory,
// and seeds for epochs. It does no I/O, keeps no state and imports only the standard library. Every result is the same
// on every processor.
//
//	p := shard.NewPermutation(1_281_167, shard.EpochSeed(7, 0))
//	for place := range int64(1_281_167) {
//		index := p.At(place) // each index once, in no order
//		...
//	}
//	next := shard.NewPermutation(1_281_167, shard.EpochSeed(7, 1)) // another order
package shard
