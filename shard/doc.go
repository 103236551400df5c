// Package shard is the arithmetic of who reads what and in which order: permutations of any length in constant memory,
// seeds for epochs, and which places of a job are a rank's. It does no I/O, keeps no state and imports only the standard library. Every result is the same
// on every processor.
//
//	p := shard.NewPermutation(1_281_167, shard.EpochSeed(7, 0))
//	for place := range int64(1_281_167) {
//		index := p.At(place) // each index once, in no order
//		...
//	}
//	next := shard.NewPermutation(1_281_167, shard.EpochSeed(7, 1)) // another order
//
//	rank := shard.World{Rank: 2, World: 8}
//	for j := range rank.Count(1_281_167, shard.Pad) { // as many on all ranks
//		place := rank.Place(j) // from 1_281_167 on: the first places again
//	}
package shard
