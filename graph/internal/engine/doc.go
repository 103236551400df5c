// Package engine runs stages: it starts every goroutine of a pipeline, moves slices of items through the bodies of
// stages, closes what has ended, turns panics into errors and reads every clock. It knows no item type and no kind of
// stage.
//
//	r := engine.NewRun(ctx, clock)
//	st := &engine.Stage[int, int]{Meter: m, Workers: 2, In: a, Out: b, NewBody: body}
//	st.Start(r)
//	for c := sink.Next(); c != nil; c = sink.Next() { ... }
//	err := r.Wait()
//
// Every goroutine is joined by Wait. Stages never close anything shared: the last worker of a stage closes its output
// edge with what its input ended with.
package engine
