// Package mixing holds a spec that mixes two sources in asked shares, a large one and a small one that comes round again,
// and its twin in Go. The report shows the shares that were achieved, and digests that are the same in every run:
//
//	go run ./cmd/penstock run examples/mixing/mixing.yaml
//
// Ask for other shares, or end an epoch when the small source has run out:
//
//	go run ./cmd/penstock run examples/mixing/mixing.yaml --set 'blend.weights=[0.5, 0.5]' --set blend.stop=first
package mixing
