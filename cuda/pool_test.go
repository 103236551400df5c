package cuda

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The run may end while the ring still grows: who waits for such a slab is let go, and it is given back with the others.
func TestASlabTakenAfterTheRunHasEndedIsGivenBack(t *testing.T) {
	d, err := NewEmulated(Emulation{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	p := newPool(d, 1<<20, "", nil)
	cancel()
	p.lock(ctx)
	mem, err := p.Slab(1000)
	require.NoError(t, err)
	require.ErrorIs(t, p.find(mem).wait(t.Context()), context.Canceled)
	require.NoError(t, p.close())
	assert.Zero(t, p.bytes)
}

// A consumer may release what it kept between the end of a run and its close, while others still write into slabs.
func TestSlabsStayUntilThePoolIsClosed(t *testing.T) {
	d, err := NewEmulated(Emulation{LockRate: 1e18})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	p := newPool(d, 1<<20, "", nil)
	mem, err := p.Slab(1000)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { p.lock(ctx); close(ended) }()
	require.NoError(t, p.find(mem).wait(t.Context()))
	p.keep(1)
	cancel()
	<-ended
	p.keep(-1)
	assert.NotNil(t, p.find(mem), "it is still in use")
	require.NoError(t, p.close())
	assert.Zero(t, d.Stats().Locked)
	assert.Nil(t, p.find(mem))

	p = newPool(d, 1<<20, "", nil)
	_, err = p.Slab(1000)
	require.NoError(t, err)
	p.keep(1)
	require.NoError(t, p.close())
	assert.NotZero(t, p.bytes, "a kept batch lies in it")
	p.keep(-1)
	assert.Zero(t, p.bytes)
}
