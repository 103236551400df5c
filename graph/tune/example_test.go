package tune_test

import (
	"fmt"
	"os"

	"github.com/penstock-go/penstock/graph/tune"
)

func ExampleProfile_Predict() {
	text, err := os.ReadFile("testdata/report.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := tune.Read(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Predict())
	q, err := tune.ParseQuestion("read.workers=4")
	if err != nil {
		fmt.Println(err)
		return
	}
	if p, err = q.Apply(p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Predict())
	fmt.Printf("%.0f samples/s in the simulation\n", tune.Simulate(p, tune.Options{Items: 1000}).Rate)
	// Output:
	// 125 samples/s, limited by read
	// 400 samples/s, limited by train
	// 400 samples/s in the simulation
}
