package stages_test

import (
	"testing"

	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages"
)

func TestDimConforms(t *testing.T) {
	graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Sample]{
		Stage: stages.Dim{Percent: 30}, Input: allOf(5, 6, 3), Schema: imageSchema(5, 6, 3),
		Refused: []toSample{stages.Dim{Percent: -1}, stages.Dim{Percent: 101}},
		Bad:     noPicture, Wants: `"image"`,
	})
}
