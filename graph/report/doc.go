// Package report turns the numbers of a run into something to read: which stage keeps the sink waiting, what that
// costs, what to change, and what the change should bring.
//
// Everything here is a pure function of a [graph.Snapshot]: no clock, no files, no goroutines. All functions are safe
// for concurrent use, never change the snapshot, and cost well under a millisecond for a pipeline of a hundred stages.
//
//	err := run.Wait()
//	s := run.Snapshot()
//	fmt.Print(report.Table(s))              // for people
//	v := report.Judge(s)                    // the verdict alone
//	if v.Starved {
//		fmt.Println(v.Bottleneck, v.Next)   // decode raise workers from 1 to 2
//	}
//	text, err := report.JSON(s)             // report.json, version 1; see report.schema.json
//
// A figure that does not exist is left out, "-" in tables and null in JSON. A figure that cannot be true (negative, not
// a number) is left out as well, and a warning says so.
package report
