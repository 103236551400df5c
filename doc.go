// Package penstock is the root of the module and holds nothing but this page and the tests of the module as a whole.
//
// A pipeline is declared with package graph, of sources, stages and sinks, and read with package report:
//
//	p := graph.New("flowers", graph.Seed(7))
//	files := graph.From(p, "read", sources.Folder{Root: "data/train"}, graph.Sampler(sources.Shuffled{}))
//	pics := graph.Via(files, "decode", stages.DecodeImage{})
//	crops := graph.Via(pics, "crop", stages.RandomResizedCrop{Size: 224})
//	batch := graph.Via(crops, "collate", stages.Collate{Size: 64})
//	graph.Into(batch, "train", sinks.Accelerator[*item.Batch]{Step: graph.Fixed(30 * time.Millisecond)})
//	run, err := p.Start(ctx)
//	...
//	err = run.Wait()
//	fmt.Print(report.Table(run.Snapshot()))
//
// The command of the same name runs pipelines that are written in YAML: go run ./cmd/penstock help. The rooms and what
// they may import are in docs/architecture.md; lint_test.go holds the code to it.
package penstock
