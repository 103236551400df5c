//go:build !unix

package sources

const openFlags = 0
