package report_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// slowDecode is a run of 1,000 batches of which one takes 10 ms to make and 4 ms to use.
func slowDecode() graph.Snapshot {
	ratio := 0.6
	return graph.Snapshot{
		Pipeline: "flowers", World: 1, Environment: graph.Environment{Cores: 8},
		Totals: graph.Totals{Epochs: 1, Samples: 32000, Batches: 1000, Elapsed: 10 * time.Second, Balanced: true},
		Sink: graph.SinkStats{Wait: 6 * time.Second, Busy: 4 * time.Second, Steady: 6 * time.Second, SteadyItems: 1000,
			SteadyWait: 6 * time.Second, SteadyBusy: 4 * time.Second, WaitRatio: &ratio},
		Blame: []graph.Blame{{Stage: "decode", Cause: graph.CauseService, Phase: graph.PhaseSteady, Time: 6 * time.Second}},
		Stages: []graph.StageStats{
			{ID: "decode", Kind: "decode_image", Load: graph.CPU, Workers: 1, Buffer: 4, ItemsOut: 1000, Busy: 10 * time.Second,
				Service: graph.Distribution{Count: 1000, Mean: 10 * time.Millisecond}},
			{ID: "train", Kind: "each", Workers: 1, ItemsIn: 1000, From: []string{"decode"}},
		},
	}
}

func ExampleJudge() {
	v := report.Judge(slowDecode())
	fmt.Println(v.Starved, v.Bottleneck, v.Cause)
	fmt.Println(v.Next)
	fmt.Println(v.Sentence)
	// Output:
	// true decode service
	// decode.workers 1 -> 3
	// "train" waits 60 % of the steady time, more than half is lost. "decode" causes 100 % of that: 6 ms of the 10 ms a batch takes. Next: raise workers of "decode" from 1 to 3. That should give 8,000 samples/s (now 3,200, 2.5 x as fast); then "train" itself limits.
}

func ExampleLiveLine() {
	fmt.Println(report.LiveLine(slowDecode()))
	// Output: 3,200 samples/s, waits 60 %, slowest decode, epoch 1
}

func ExampleJSON() {
	text, _ := report.JSON(slowDecode())
	var doc struct {
		Verdict struct {
			Bottleneck string
			Predicted  float64 `json:"predicted_samples_per_second"`
		}
	}
	_ = json.Unmarshal(text, &doc)
	fmt.Println(doc.Verdict.Bottleneck, doc.Verdict.Predicted)
	// Output: decode 8000
}

func ExampleDraw() {
	text, _ := report.Draw(graph.Outline{Pipeline: "flowers", Stages: []graph.OutlineStage{
		{ID: "read", Kind: "folder", Role: "source", Load: graph.Wait},
		{ID: "train", Kind: "each", Role: "sink", From: []string{"read"}},
	}}, "mermaid")
	fmt.Print(text)
	// Output:
	// flowchart TD
	//   s0(["<b>read</b><br/>folder, wait"])
	//   s1(["<b>train</b><br/>each"])
	//   s0 --> s1
}
