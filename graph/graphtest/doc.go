// Package graphtest holds the suites that every source, stage and sink must pass. Their authors call them from a test:
//
//	func TestDecodeImageConforms(t *testing.T) {
//		graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Sample]{
//			Stage:   stages.DecodeImage{},
//			Input:   func(c *graph.Call, i int64) (*item.Sample, error) { return picture(c, i), nil },
//			Schema:  item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}}},
//			Refused: []graph.Stage[*item.Sample, *item.Sample]{stages.DecodeImage{MaxPixels: -1}},
//		})
//	}
//
// A suite runs the part in real pipelines: with 1, 2 and 8 workers, buffers of 1 and 16, without goroutines, with an
// error, a panic and a cancellation at calls of the part, and with a consumer that breaks off. It demands the same
// output in the same order each time, every buffer released, everything opened closed once, counts that balance, and
// output that is what the schema says. Run it with the race detector as well: released memory is then overwritten and
// late uses panic.
//
// [Recorder], [Gauge], [Memory], [Inject] and [Golden] are the pieces the suites are made of.
package graphtest
