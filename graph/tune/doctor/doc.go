// Package doctor examines a pipeline by measuring: it walks the questions that one asks when an accelerator waits (is the
// sink waiting at all? at the start, at epoch edges, or always? for which stage, and is that storage, decoding,
// transforming, batching or copying? slow on average, or only now and then? are the cores the limit? does more
// concurrency help?) and runs the pipeline anew where only a run can answer. It ends in at most three actions, each with
// the rate that was predicted for it before it was tried.
//
//	x, err := doctor.Examine(func(set []string, most time.Duration) (graph.Snapshot, error) {
//		return measure(spec, set, most) // runs the pipeline with these settings for at most so long
//	}, doctor.Options{Time: 30 * time.Second})
//	fmt.Print(x.Text())
//	for _, a := range x.Actions {
//		fmt.Println(a.Set, a.Predicted, a.Measured) // decode.workers=4 1200 1190
//	}
//
// Nothing here reads a clock or starts anything: what runs the pipeline is a function of the caller, who thereby decides
// what a run is. Predictions are simulations of the recorded run ([tune.Simulate]).
package doctor
