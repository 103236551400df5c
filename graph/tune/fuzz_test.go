package tune_test

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/tune"
)

// Whatever a report holds, reading it ends in a profile or an error, and what is predicted from it is a number.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/report.json")
	require.NoError(f, err)
	f.Add(string(text), "cores=2x,read.workers=3")
	f.Add(`{"version":1,"stages":[{"id":"a","items_in":1}]}`, "a=2x")
	f.Add(`{"version":1,"stages":[{"id":"a","items_out":9},{"id":"b","from":["a"],"items_in":9,"service":{"mean":1e-9}}]}`, "cache=1GB")
	f.Fuzz(func(t *testing.T, text, question string) {
		p, err := tune.Read([]byte(text))
		if err != nil {
			return
		}
		if q, err := tune.ParseQuestion(question); err == nil {
			if asked, err := q.Apply(p); err == nil {
				p = asked
			}
		}
		for _, l := range append(p.Limits(), p.Allocate().Limit) {
			require.False(t, math.IsNaN(l.Rate) || math.IsInf(l.Rate, 0), "%v", l)
		}
		size := 0
		for _, s := range p.Stages {
			size += s.Workers + s.Buffer + s.Window + s.Slabs
		}
		if size < 1<<16 {
			o := tune.Simulate(p, tune.Options{Items: 20, Most: 100_000})
			require.False(t, math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0))
		}
	})
}
