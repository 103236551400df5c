package report_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/report"
)

func set(kv ...string) (list []graph.Setting) {
	for i := 0; i < len(kv); i += 2 {
		list = append(list, graph.Setting{Key: kv[i], Value: kv[i+1]})
	}
	return list
}

var (
	encodedSchema = item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}, {Name: "label", Kind: item.KindInt}}}
	decodedSchema = encodedSchema.With(item.FieldSpec{Name: "image", Kind: item.KindImage, Typed: true, Shape: item.MakeShape(-1, -1, -1)})
	tensorSchema  = encodedSchema.With(item.FieldSpec{Name: "image", Kind: item.KindTensor, Typed: true, DType: item.Float32, Shape: item.MakeShape(3, 224, 224)})
)

func batched(s item.Schema) item.Schema {
	s.Batch = true
	return s
}

func outlines() map[string]graph.Outline {
	read := graph.OutlineStage{ID: "read", Kind: "folder", Role: "source", Load: graph.Wait, Schema: encodedSchema,
		Config: set("root", "data/train"), Options: set("workers", "4", "sampler", "shuffled")}
	chain := graph.Outline{Pipeline: "flowers", Settings: set("seed", "7", "epochs", "3"), Stages: []graph.OutlineStage{
		read,
		{ID: "decode", Kind: "decode_image", Role: "stage", Load: graph.CPU, From: []string{"read"}, Options: set("workers", "8", "buffer", "64", "on_error", "skip"), Schema: decodedSchema},
		{ID: "flip", Kind: "random_flip", Role: "stage", Load: graph.CPU, Random: true, From: []string{"decode"}, Schema: decodedSchema},
		{ID: "normalize", Kind: "normalize", Role: "stage", Load: graph.CPU, From: []string{"flip"}, Config: set("mean", "[0.485, 0.456, 0.406]", "std", "[0.229, 0.224, 0.225]"), Schema: tensorSchema},
		{ID: "collate", Kind: "collate", Role: "stage", Load: graph.CPU, From: []string{"normalize"}, Config: set("size", "64"), Schema: batched(tensorSchema)},
		{ID: "train", Kind: "accelerator", Role: "sink", Load: graph.Wait, Emulated: true, From: []string{"collate"}, Config: set("step", "30ms")},
	}}
	short, long := read, read
	short.ID, long.ID = "short", "long"
	tree := graph.Outline{Pipeline: "two sources", Settings: set("seed", "0", "epochs", "forever"), Stages: []graph.OutlineStage{
		short, long,
		{ID: "decode", Kind: "decode_image", Role: "stage", Load: graph.CPU, From: []string{"long"}, Schema: decodedSchema},
		{ID: "third", Kind: "map", Role: "source", Load: graph.CPU, Schema: item.Schema{Open: true}},
		{ID: "both", Kind: "merge", Role: "merge", From: []string{"short", "decode", "third"}, Schema: item.Schema{Fields: []item.FieldSpec{{Name: "label", Kind: item.KindInt}}, Open: true}},
		{ID: "end", Kind: "output", Role: "sink", From: []string{"both"}},
	}}
	many := item.Schema{}
	for _, n := range strings.Fields("a b c d e f g h") {
		many = many.With(item.FieldSpec{Name: n + `<b>"&|`, Kind: item.KindText})
	}
	odd := graph.Outline{Pipeline: "a \"b\" </title><script>alert(1)</script> \\ " + strings.Repeat("x", 200), Settings: set("seed", "1"), Stages: []graph.OutlineStage{
		{ID: "end", Kind: "x<y>&\"z\"", Role: "source", Schema: many, Config: set("", "[range{Count:3} `x`]", "path", strings.Repeat("long/", 60), "line", "a\nb\x1b[31m")},
		{ID: "lost", Kind: "discard", Role: "sink", From: []string{"nobody", "end"}},
	}}
	return map[string]graph.Outline{"chain": chain, "tree": tree, "odd": odd, "empty": {Pipeline: "empty"}}
}

func TestDrawingsEqualTheirGoldenFiles(t *testing.T) {
	for name, o := range outlines() {
		for form, ending := range map[string]string{"text": ".txt", "mermaid": ".mmd", "dot": ".dot", "svg": ".svg"} {
			got, err := report.Draw(o, form)
			require.NoError(t, err)
			compare(t, "draw_"+name+ending, got)
		}
	}
	_, err := report.Draw(graph.Outline{}, "png")
	assert.EqualError(t, err, `a drawing is one of text, mermaid, dot, svg, got "png"`)
}

func TestPicturesAreWellFormedAndLoadNothing(t *testing.T) {
	for name, o := range outlines() {
		text, err := report.Draw(o, "svg")
		require.NoError(t, err)
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, name)
			if e, ok := tok.(xml.StartElement); ok {
				assert.NotContains(t, []string{"script", "image", "use", "a", "b", "foreignObject"}, e.Name.Local)
			}
		}
		assert.NotContains(t, strings.Replace(text, "http://www.w3.org/2000/svg", "", 1), "http")
	}
}

func TestTextDrawingsFitATerminal(t *testing.T) {
	for name, o := range outlines() {
		text, err := report.Draw(o, "text")
		require.NoError(t, err)
		for _, line := range strings.Split(text, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 110, "%s: %s", name, line)
			assert.NotContains(t, line, "\x1b")
		}
	}
}
