// Package bottlenecks holds six specs of one small training pipeline, each with another planted slow stage. The first
// line of each says what the verdict must be; the tests hold the reports to it, on the real clock and exactly in virtual
// time. Run one and read its report:
//
//	go run ./cmd/penstock run examples/bottlenecks/jitter.yaml
//
// Then turn the knob that it names, and see whether that helps:
//
//	go run ./cmd/penstock run examples/bottlenecks/read.yaml --set read.workers=4
package bottlenecks
