package page_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report/page"
)

// element is a node of a parsed page.
type element struct {
	name   string
	attr   map[string]string
	text   string // of all below
	inside []*element
	up     *element
}

// parse reads a page as a browser would: attributes without values, elements that need no end.
func parse(t testing.TB, html []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	root := &element{}
	at := root
	for {
		tok, err := d.Token()
		if err == io.EOF {
			require.Same(t, root, at, "all elements are closed")
			return root
		}
		require.NoError(t, err)
		switch x := tok.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attr: map[string]string{}, up: at}
			for _, a := range x.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			at.inside = append(at.inside, e)
			at = e
		case xml.EndElement:
			at = at.up
		case xml.CharData:
			for e := at; e != nil; e = e.up {
				e.text += string(x)
			}
		}
	}
}

func (e *element) each(f func(*element)) {
	f(e)
	for _, x := range e.inside {
		x.each(f)
	}
}

// all lists the elements of a name, "" for any, that have an attribute, "" for none in particular.
func (e *element) all(name, attr string) (list []*element) {
	e.each(func(x *element) {
		if _, ok := x.attr[attr]; (name == "" || x.name == name) && (attr == "" || ok) {
			list = append(list, x)
		}
	})
	return list
}

func (e *element) id(t testing.TB, id string) *element {
	t.Helper()
	for _, x := range e.all("", "id") {
		if x.attr["id"] == id {
			return x
		}
	}
	require.Fail(t, "there is no element", id)
	return nil
}

// document is a report to compare with.
type document struct{ v any }

func read(t testing.TB, text []byte) document {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return document{v}
}

// at is what stands at a path.
func (d document) at(path string) any {
	v := d.v
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return fmt.Errorf("no element %q of %s", key, path)
			}
			v = x[i]
		default:
			return fmt.Errorf("nothing at %s", path)
		}
	}
	return v
}

func (d document) raw(path string) string {
	switch x := d.at(path).(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number, bool, error:
		return fmt.Sprint(x)
	default:
		b, _ := json.Marshal(x)
		return string(b)
	}
}

func (d document) len(path string) int {
	list, _ := d.at(path).([]any)
	return len(list)
}

// reports are those of graph/report's tests.
func reports(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 10)
	all := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = text
	}
	return all
}

func TestEveryFigureOfThePageIsThatOfTheReport(t *testing.T) {
	for name, text := range reports(t) {
		t.Run(name, func(t *testing.T) {
			html, err := page.FromJSON(text)
			require.NoError(t, err)
			root, doc := parse(t, html), read(t, text)
			figures := root.all("data", "data-path")
			require.Greater(t, len(figures), 30)
			for _, e := range figures {
				path := e.attr["data-path"]
				if path == "verdict.next" {
					continue
				}
				require.Equal(t, doc.raw(path), e.attr["value"], path)
				require.Equal(t, doc.at(path) == nil && e.attr["id"] == "", e.text == "–" && e.attr["id"] == "", "%s: %s", path, e.text)
			}
			for _, kind := range []string{"p", "li", "code", "pre"} {
				for _, e := range root.all(kind, "data-path") {
					require.Equal(t, doc.raw(e.attr["data-path"]), e.text)
				}
			}
			for _, e := range root.all("th", "data-path") {
				if e.attr["scope"] == "row" && doc.at(e.attr["data-path"]) != nil {
					require.Equal(t, doc.raw(e.attr["data-path"]), e.text)
				}
			}
			tables(t, root, doc)
			assert.JSONEq(t, string(text), root.id(t, "report").text, "the report itself is in the page")
		})
	}
}

// tables checks that each table has as many rows as the list it shows, and that each cell is a figure of the report.
func tables(t *testing.T, root *element, doc document) {
	t.Helper()
	rows := map[string]int{"t-stages": doc.len("stages"), "t-blame": doc.len("blame"), "t-epochs": doc.len("epochs"), "t-buckets": doc.len("sink.waits.buckets")}
	for i := range doc.len("stages") {
		rows["t-slowest"] += doc.len(fmt.Sprintf("stages.%d.slowest", i))
		rows["t-stragglers"] += doc.len(fmt.Sprintf("stages.%d.stragglers", i))
	}
	for i := range doc.len("mix") {
		rows["t-mix"] += doc.len(fmt.Sprintf("mix.%d.inputs", i))
	}
	for i := range doc.len("timeline.stages") {
		rows[fmt.Sprintf("t-line-%d", i)] = doc.len("timeline.rss_bytes")
	}
	seen := map[string]int{}
	for _, table := range root.all("table", "") {
		heads, body := table.all("thead", "")[0].all("th", ""), table.all("tbody", "")[0].all("tr", "")
		seen[table.attr["id"]] = len(body)
		require.NotEmpty(t, table.all("caption", "")[0].text)
		for r, row := range body {
			require.Len(t, row.inside, len(heads), table.attr["id"])
			for c, cell := range row.inside {
				if cell.name == "th" {
					continue
				}
				if list := heads[c].attr["data-path"]; list != "" {
					want := doc.raw(list + "." + strconv.Itoa(r))
					if want == "" {
						want = "–"
					}
					require.Equal(t, want, cell.text, list)
					continue
				}
				require.Len(t, cell.all("data", "data-path"), 1, "a cell without a figure of the report: %s", cell.text)
			}
		}
	}
	for id, n := range rows {
		if n > 0 {
			require.Equal(t, n, seen[id], id)
		}
	}
}

func TestThePageAnswersWhichStageWhatItBringsAndWhatToChange(t *testing.T) {
	html, err := page.FromJSON(reports(t)["decode"])
	require.NoError(t, err)
	root, doc := parse(t, html), read(t, reports(t)["decode"])
	assert.Equal(t, doc.raw("verdict.sentence"), root.id(t, "verdict").text)
	assert.Equal(t, "decode", root.id(t, "stage").attr["value"])
	assert.Equal(t, doc.raw("verdict.gain"), root.id(t, "gain").attr["value"])
	assert.Equal(t, "3.6 × as fast", root.id(t, "gain").text)
	assert.Equal(t, "decode.workers 1 -> 4", root.id(t, "next").attr["value"])
	assert.Equal(t, "workers of decode, 1 → 4", root.id(t, "next").text)
	first := slices.IndexFunc(root.all("section", ""), func(e *element) bool { return len(e.all("data", "id")) > 0 })
	assert.Zero(t, first, "the verdict comes first")

	html, err = page.FromJSON(reports(t)["accelerator"])
	require.NoError(t, err)
	root = parse(t, html)
	for id, text := range map[string]string{"stage": "none", "gain": "–", "next": "–"} {
		assert.Equal(t, text, root.id(t, id).text)
		assert.Empty(t, root.id(t, id).attr["value"])
	}
}

func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	for name, text := range reports(t) {
		html, err := page.FromJSON(text)
		require.NoError(t, err)
		root := parse(t, html)
		root.each(func(e *element) {
			for key, value := range e.attr {
				switch key {
				case "href", "src", "srcset", "action", "poster", "data", "background":
					assert.True(t, strings.HasPrefix(value, "#") || value == "data:,", "%s: %s %s=%q", name, e.name, key, value)
				}
				assert.NotContains(t, value, "http:", name)
				assert.NotContains(t, value, "https:", name)
			}
			assert.NotContains(t, []string{"iframe", "object", "embed", "img", "audio", "video", "form", "base"}, e.name)
			if e.name == "style" {
				assert.NotContains(t, e.text, "url(")
				assert.NotContains(t, e.text, "@import")
			}
			if e.name == "script" {
				assert.Equal(t, "application/json", e.attr["type"], "nothing runs")
			}
		})
		assert.Contains(t, string(html), `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;`)
		assert.NotContains(t, string(html), "ZgotmplZ", "the template refused a value")
	}
}

func TestNamesCannotBreakOutOfThePage(t *testing.T) {
	nasty := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</script><script>alert(1)</script>`, "x' onload='alert(1)", `</svg><b>`,
		`]]>--><!--`, `{{.JSON}}`, "a\x1b[2Jb", "</textarea></style></title>"}
	for _, bad := range nasty {
		text := string(reports(t)["jitter"])
		quoted, err := json.Marshal(bad)
		require.NoError(t, err)
		inner := string(quoted[1 : len(quoted)-1])
		for _, name := range []string{"planted_jitter", "decode_image", "decode", "n03/big.jpg", "a processor"} {
			text = strings.ReplaceAll(text, `"`+name+`"`, `"`+inner+`"`)
		}
		text = strings.Replace(text, "pipeline: planted_jitter", inner, 1)
		html, err := page.FromJSON([]byte(text))
		require.NoError(t, err)
		root := parse(t, html)
		known := map[string]bool{}
		clean, err := page.FromJSON(reports(t)["jitter"])
		require.NoError(t, err)
		parse(t, clean).each(func(e *element) { known[e.name] = true })
		root.each(func(e *element) {
			assert.True(t, known[e.name], "%q made an element %q", bad, e.name)
			for key := range e.attr {
				assert.False(t, strings.HasPrefix(key, "on"), "%q made an attribute %q", bad, key)
			}
		})
		assert.Len(t, root.all("script", ""), 1)
		assert.JSONEq(t, text, root.id(t, "report").text)
	}
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	for text, want := range map[string]string{"": "EOF", "[]": "this is no report", "{}": `version 1, got ""`, `{"version": 2}`: `got "2"`} {
		_, err := page.FromJSON([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestAReportWithNextToNothingInItMakesAPage(t *testing.T) {
	html, err := page.FromJSON([]byte(`{"version": 1, "pipeline": "x"}`))
	require.NoError(t, err)
	assert.Equal(t, "x", parse(t, html).all("h1", "")[0].text)
}

func TestTheLargestFiguresOfAReportAreNotNegativeOnItsPage(t *testing.T) {
	html, err := page.FromJSON([]byte(`{"version":1,"pipeline":"x","totals":{"samples":9223372036854775807,"seconds":9223372036.854775807}}`))
	require.NoError(t, err)
	assert.Contains(t, string(html), "9,223,372,036,854,775,807 samples")
	assert.Contains(t, string(html), "2,562,047h47m")
}

// Lists of a timeline that are not of one length, figures without end, figures where texts should be.
func FuzzFromJSON(f *testing.F) {
	f.Add(reports(f)["empty"])
	f.Add([]byte(`{"version":1,"stages":[{"id":3,"from":["x"]},{"id":"x","wait_in_seconds":1e999,"buffer":4}],"timeline":{"bucket_seconds":1e-300,"seconds":1e300,` +
		`"stages":[{"id":"x","busy_seconds":[1],"wait_in_seconds":[1,2],"wait_out_seconds":[1],"queue":[1,null,-3,9]}],"waits":[{"stage":null,"seconds":[1]},{"seconds":[1,2,3]}],` +
		`"rss_bytes":[1,2,null]},"blame":[{"phase":"steady","seconds":1,"cause":"x"}],"sink":{"phases":{"steady":1e-9},"waits":{"buckets":[{"upto":1e99,"count":-1}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		html, err := page.FromJSON(text)
		if err == nil {
			require.True(t, bytes.HasSuffix(html, []byte("</html>\n")))
			require.NotContains(t, string(html), "ZgotmplZ")
		}
	})
}
