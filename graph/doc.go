// Package graph declares and runs input pipelines: typed graphs of stages, each with its own workers and its own buffer,
// whose timing tells which stage keeps the consumer waiting.
//
//	p := graph.New("flowers", graph.Seed(7), graph.Epochs(3))
//	files := graph.From(p, "read", sources.Folder{Root: "data/train"}, graph.Sampler(sources.Shuffled{}))
//	pics := graph.Via(files, "decode", stages.DecodeImage{}, graph.Workers(8))
//	batch := graph.Via(pics, "collate", stages.Collate{Size: 64})
//	out := graph.Output(batch, "train")
//
//	run, err := p.Start(ctx) // every problem of the declaration at once
//	for epoch := range out.Epochs(run) {
//		for batch, err := range epoch.All() { ... } // the loop body is the sink's busy time
//	}
//	err = run.Wait() // *StageError: pipeline, stage, worker, key, cause
//	fmt.Print(report.Table(run.Snapshot()))
//
// # Declaring
//
// A [Pipeline] is data. [From], [Via] and [Merge] give a [Port], whose type must fit the next stage; [Into] and [Output]
// end the pipeline. A stage is the config struct of a kind, or a plain function: [Map], [Filter], [FlatMap], [Collect].
// Settings that every stage has are options ([Workers], [Buffer], [Window], [Order], [OnError]); settings of one kind are
// fields of its struct, and a zero means the default. [Pipeline.Build] checks everything and opens nothing.
//
// # Running
//
// Items come out in the order of the source, for any number of workers, unless a stage has [CompletionOrder]. Randomness
// is keyed by seed, stage and position ([Call.Rand]), so that the same seed gives the same stream. A stage owns what it
// takes: it hands it on, stores it in its output, or releases it. What the sink was given is valid until it asks for the
// next. The first error in the order of the stream ends the run; what came before it is delivered. [Run.Stop] lets
// everything drain; cancelling the context drops it; leaving the loop ends the run as well. [Run.Wait] joins every
// goroutine.
//
// # Writing a stage
//
// A [Stage] opens a [Transform] of plain functions that are called by all workers at once. It starts no goroutine (see
// [Env.Go]), measures nothing and knows nothing about order. Package graphtest has the suites that hold it to that.
package graph
