package cache

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Memory](registry.Meta{
	Name: "memory_cache", Summary: "Keeps what comes in memory, so that later epochs need not make it again.",
	Example: "memory_cache: {limit: 2GiB}",
}, (*Memory).Bind))

// Memory keeps samples in memory, at most Limit bytes of them, 1 GiB by default. It is filled once, by what comes first,
// and forgets nothing before the run ends: for data that is gone through epoch by epoch in any order, no rule of what to
// forget gives more hits (see docs/caching.md).
//
// Samples come out in the order they would have without it, with the same content. A sample that it had shares its
// memory with the cache, so a stage that writes in place copies first. From the source to the cache the pipeline is one
// line of stages that are not random, and the source is map-style. It has one worker; each sample that it keeps is
// copied once, into memory of exactly its size. Limit counts the samples' bytes; beside them an entry of two fields takes
// about 440 bytes (BenchmarkMemoryEntry, amd64). The budget's memory does not cover it.
type Memory struct {
	Limit int64
}

// Bind names the fields.
func (m *Memory) Bind(f *registry.Fields) {
	f.Size(&m.Limit, "limit", 1<<30, "the most bytes of samples that it keeps", registry.Min(1))
}

// Check refuses settings that are out of range.
func (m Memory) Check() error { return registry.Check(&m, (*Memory).Bind) }

// Kind is the name in reports.
func (Memory) Kind() string { return "memory_cache" }

// CacheLimit is the most bytes that it keeps.
func (m Memory) CacheLimit() int64 { return registry.Filled(m, (*Memory).Bind).Limit }

// Schema is that of the input.
func (Memory) Schema(in item.Schema) (item.Schema, error) { return in, nil }

// Stream is empty: how much is kept does not decide on what comes out.
func (Memory) Stream() string { return "" }

// Open makes the cache, which is empty.
func (m Memory) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	s := &store[*item.Sample]{limit: m.CacheLimit(), copy: (*item.Sample).Clone, share: (*item.Sample).Share,
		free: (*item.Sample).Release, size: (*item.Sample).Bytes}
	return s.transform(), nil
}
