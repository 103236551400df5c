//go:build !amd64 || noasm

package item

func foldBlocks(lanes *[8]uint64, data []byte) { foldBlocksGo(lanes, data) }
