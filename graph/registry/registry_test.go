package registry_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// blur is a kind with a field of each type.
type blur[T any] struct {
	Radius  int
	Seed    uint64
	Share   float64
	Grey    bool
	Name    string
	Mode    string
	Root    string
	Wait    graph.Time
	Limit   int64
	Means   []float64
	Sizes   []int
	Words   []string
	Files   []string
	Needed  int
	Records int64
}

func (c *blur[T]) Bind(f *registry.Fields) {
	f.Int(&c.Radius, "radius", 3, "in pixels", registry.Min(1), registry.Max(99))
	f.Uint64(&c.Seed, "key", 0, "of the noise")
	f.Float(&c.Share, "share", 0.5, "of all pictures", registry.Over(0), registry.Max(1))
	f.Bool(&c.Grey, "grey", "one channel")
	f.Text(&c.Name, "name", "x", "a name", registry.Length(1, 5))
	f.Choice(&c.Mode, "mode", "sleep", "how", "sleep", "spin")
	f.Path(&c.Root, "root", "", "a folder")
	f.Time(&c.Wait, "wait", graph.Fixed(time.Millisecond), "a time", registry.Max(time.Second))
	f.Size(&c.Limit, "limit", 64<<20, "most bytes", registry.Min(1))
	f.Floats(&c.Means, "means", []float64{0.5}, "per channel", registry.Length(1, 4), registry.Min(0))
	f.Ints(&c.Sizes, "sizes", nil, "edges", registry.Length(0, 2), registry.Min(1))
	f.Texts(&c.Words, "words", nil, "words")
	f.Paths(&c.Files, "files", nil, "files")
	f.Int(&c.Needed, "needed", 0, "what must be given", registry.Required(), registry.Min(1))
	f.Int64(&c.Records, "records", 0, "most records; 0: all", registry.Min(0))
}

func (c blur[T]) Check() error { return registry.Check(&c, (*blur[T]).Bind) }

func (c blur[T]) Open(context.Context, *graph.Env) (graph.Transform[T, T], error) {
	return graph.Transform[T, T]{}, nil
}

func (c blur[T]) Random() bool { return true }

var meta = registry.Meta{Name: "blur", Summary: "Blurs.", Example: "blur: {needed: 1}"}

func entry[T any]() registry.Entry { return registry.Stage[blur[T]](meta, (*blur[T]).Bind) }

func plain(key, text string) registry.Member {
	return registry.Member{Key: key, At: key + " key", Value: registry.Value{At: key, Text: text}}
}

func list(key string, texts ...string) registry.Member {
	v := registry.Value{At: key, Form: registry.List}
	for _, t := range texts {
		v.Items = append(v.Items, registry.Value{At: t, Text: t})
	}
	return registry.Member{Key: key, Value: v}
}

func quoted(key, text string) registry.Member {
	return registry.Member{Key: key, Value: registry.Value{At: key, Form: registry.Quoted, Text: text}}
}

func TestDecodingFillsEveryType(t *testing.T) {
	got, problems := entry[*item.Sample]().Decode([]registry.Member{
		plain("radius", "7"), plain("key", "18446744073709551615"), plain("share", "1e-1"), plain("grey", "true"),
		quoted("name", "12"), plain("mode", "spin"), plain("root", "data"), plain("wait", "5ms"), plain("limit", "1.5KiB"),
		plain("means", "0.25"), list("sizes", "3", "4"), list("words", "a", "b"), list("files", "a", "/b", "s3://c/d"),
		plain("needed", "1"), plain("records", "9007199254740993"),
	}, "/specs")
	require.Empty(t, problems)
	assert.Equal(t, blur[*item.Sample]{
		Radius: 7, Seed: 18446744073709551615, Share: 0.1, Grey: true, Name: "12", Mode: "spin", Root: "/specs/data",
		Wait: graph.Fixed(5 * time.Millisecond), Limit: 1536, Means: []float64{0.25}, Sizes: []int{3, 4},
		Words: []string{"a", "b"}, Files: []string{"/specs/a", "/b", "s3://c/d"}, Needed: 1, Records: 9007199254740993,
	}, got)
}

func TestDecodingFindsEveryProblemAtOnce(t *testing.T) {
	_, problems := entry[*item.Sample]().Decode([]registry.Member{
		plain("radius", "0"), plain("raduis", "3"), plain("grey", "on"), plain("mode", "sleeep"), list("means", "0.1", "-1"),
	}, "")
	var got []string
	for _, p := range problems {
		got = append(got, p.Msg+" ["+p.Code+"] "+p.Hint)
	}
	assert.Equal(t, []string{
		"radius must be at least 1, got 0 [field_range] ",
		`unknown key "raduis" [unknown_key] did you mean "radius"?`,
		"grey: wanted true or false, got on [field_type] write true",
		`mode must be one of sleep, spin, got "sleeep" [field_value] did you mean "sleep"?`,
		"means[1] must be at least 0, got -1 [field_range] ",
		"needed is missing [field_missing] needed: what must be given",
	}, got)
	assert.Equal(t, "radius", problems[0].At)
	assert.Equal(t, "raduis key", problems[1].At)
}

func TestNumbersAreReadByOneStatedRule(t *testing.T) {
	for text, want := range map[string]string{
		"4.0": "write 4", "1e3": "write 1000", "+4": "write 4", "1_000": "write 1000",
		"0777": "write 777, or 511 if octal was meant", "0o17": "write 15", "0x1F": "write 31", "on": "",
		"~": "leave the key out for the default", "": "leave the key out for the default", "4.5": "", ".inf": "", "٣": "",
	} {
		_, problems := entry[*item.Sample]().Decode([]registry.Member{plain("radius", text), plain("needed", "1")}, "")
		require.Len(t, problems, 1, text)
		assert.Equal(t, "field_type", problems[0].Code, text)
		assert.Equal(t, want, problems[0].Hint, text)
	}
	_, problems := entry[*item.Sample]().Decode([]registry.Member{quoted("radius", "4"),
		plain("needed", "99999999999999999999")}, "")
	require.Len(t, problems, 2)
	assert.Equal(t, `radius: wanted a whole number, got the text "4"`, problems[0].Msg)
	assert.Equal(t, "needed: 99999999999999999999 does not fit in 64 bits", problems[1].Msg)
}

func TestAZeroInASpecIsNotTheDefault(t *testing.T) {
	_, problems := entry[*item.Sample]().Decode([]registry.Member{
		quoted("name", ""), plain("wait", "0s"), plain("needed", "0"), plain("records", "0"), list("means"),
	}, "")
	var got []string
	for _, p := range problems {
		got = append(got, p.Msg)
	}
	assert.Equal(t, []string{"name must be 1 to 5 long, got 0 bytes", "wait must not be 0", "needed must be at least 1, got 0",
		"means must be 1 to 4 long, got 0 elements"}, got)
}

func TestTimesAreFixedOrDrawn(t *testing.T) {
	normal := func(members ...registry.Member) registry.Member {
		return registry.Member{Key: "wait", Value: registry.Value{At: "v", Form: registry.Map, Members: []registry.Member{
			{Key: "normal", At: "n", Value: registry.Value{At: "m", Form: registry.Map, Members: members}}}}}
	}
	got, problems := entry[*item.Sample]().Decode([]registry.Member{normal(plain("mean", "5ms"), plain("stddev", "1ms")),
		plain("needed", "1")}, "")
	require.Empty(t, problems)
	assert.Equal(t, graph.NormalTime(5*time.Millisecond, time.Millisecond), got.(blur[*item.Sample]).Wait)

	for _, c := range []struct {
		m    registry.Member
		want string
	}{
		{plain("wait", "5"), "wait: wanted a time with a unit such as 5ms or 5s, got 5"},
		{plain("wait", "soon"), `wait: wanted a time such as 5ms (ns, us, ms, s, m, h), got "soon"`},
		{plain("wait", "-5ms"), "wait: a time must not be negative, got -5ms"},
		{plain("wait", "2s"), "wait must be at most 1s, got 2s"},
		{normal(plain("mean", "5ms")), "wait: normal needs {mean, stddev}, stddev is missing"},
		{normal(plain("mean", "5ms"), plain("std", "1ms")), `wait: unknown key "std" of normal, wanted {mean, stddev}`},
		{normal(plain("mean", "5"), plain("stddev", "1ms")), "wait.normal.mean: wanted a time with a unit such as 5ms or 5s, got 5"},
		{list("wait", "1ms"), "wait: wanted a time such as 5ms, got a list"},
	} {
		_, problems := entry[*item.Sample]().Decode([]registry.Member{c.m, plain("needed", "1")}, "")
		require.Len(t, problems, 1, c.want)
		assert.Equal(t, c.want, problems[0].Msg)
	}
}

func TestSizesNeedAUnit(t *testing.T) {
	for text, want := range map[string]int64{"64MiB": 64 << 20, "1.5GB": 15e8, "512B": 512, "1KB": 1000, "2TiB": 2 << 40} {
		n, err := registry.ParseSize(text)
		require.NoError(t, err)
		assert.Equal(t, want, n)
		back, err := registry.ParseSize(registry.FormatSize(n))
		require.NoError(t, err)
		assert.Equal(t, n, back)
	}
	for _, text := range []string{"64", "64M", "MiB", "0x1KiB", "1e30GiB", "", "64 MiB", "NaNB"} {
		_, err := registry.ParseSize(text)
		assert.Error(t, err, text)
	}
}

func TestCheckAndFilledTreatZeroAsTheDefault(t *testing.T) {
	require.NoError(t, blur[*item.Sample]{Needed: 1}.Check())
	err := blur[*item.Sample]{Radius: 100, Mode: "spni"}.Check()
	require.EqualError(t, err, "radius must be at most 99, got 100\n"+
		"mode must be one of sleep, spin, got \"spni\" (did you mean \"spin\"?)\nneeded is missing")
	var fe *graph.FieldError
	require.ErrorAs(t, err, &fe)
	assert.Equal(t, "radius", fe.Field)

	c := registry.Filled(blur[*item.Sample]{Radius: 9}, (*blur[*item.Sample]).Bind)
	assert.Equal(t, 9, c.Radius)
	assert.Equal(t, "sleep", c.Mode)
	assert.Equal(t, []float64{0.5}, c.Means)
}

func TestDefaultsAreCopied(t *testing.T) {
	def := []float64{0.5}
	var got []float64
	bind := func(p *[]float64, f *registry.Fields) { f.Floats(p, "x", def, "doc") }
	got = registry.Filled(got, bind)
	got[0] = 9
	assert.Equal(t, []float64{0.5}, registry.Filled([]float64(nil), bind))
}

type oops struct{ A, B int }

func (c *oops) Bind(f *registry.Fields) {
	f.Int(&c.A, "workers", 1, "", registry.Max(5))
	f.Int(&c.B, "b", 3, "doc", registry.Max(5))
}

func (c oops) Open(context.Context, *graph.Env) (graph.Transform[int, int], error) {
	return graph.Transform[int, int]{}, nil
}

func TestCatalogReportsEveryFaultAtOnce(t *testing.T) {
	_, err := registry.NewCatalog(entry[*item.Sample](), entry[*item.Batch](), entry[*item.Sample](),
		registry.Stage[oops](registry.Meta{Name: "Oops", Example: "oop"}, (*oops).Bind))
	for _, want := range []string{`kind "blur" is registered twice for samples`, `kind "Oops": a name is lower_snake_case`,
		`kind "Oops" has no summary`, `the example must begin with "Oops:"`, `field "workers": the name is a reserved key`,
		`field "b": its rules allow 0, which means the default 3`} {
		assert.ErrorContains(t, err, want)
	}
}

func TestACatalogCanBeMadeTwiceOfTheSameEntries(t *testing.T) {
	e := entry[*item.Sample]()
	for range 2 {
		_, err := registry.NewCatalog(e)
		require.NoError(t, err)
	}
}

func TestCatalogFindsKindsByName(t *testing.T) {
	c, err := registry.NewCatalog(entry[*item.Sample](), entry[*item.Batch]())
	require.NoError(t, err)
	k, ok := c.Kind("blur")
	require.True(t, ok)
	assert.Equal(t, []string{"samples", "batches"}, k.Takes())
	assert.True(t, k.Entries[0].Random)
	assert.Equal(t, graph.CPU, k.Entries[0].Load)
	_, ok = c.Kind("blurr")
	assert.False(t, ok)
	assert.Equal(t, []string{"blur", "merge", "mix"}, c.Names())
	assert.Equal(t, []string{"at least 1", "at most 99"}, k.Entries[0].Fields[0].Limits())
}

func TestNearNamesAreFoundWithFewEdits(t *testing.T) {
	names := []string{"decode_image", "delay", "discard", "collate", "shuffled"}
	for word, want := range map[string]string{"decode_imge": "decode_image", "dealy": "delay", "decode": "decode_image",
		"suffled": "shuffled", "zzz": "", "": "", "Collate": "collate", "image": "decode_image"} {
		assert.Equal(t, want, registry.Near(word, names), word)
	}
}

func TestASetIsFrozenOnceItIsRead(t *testing.T) {
	var s registry.Set
	s.Add(entry[*item.Sample]())
	assert.Len(t, s.Entries(), 1)
	assert.Panics(t, func() { s.Add(entry[*item.Batch]()) })
}

func FuzzSizesAndTimesAreReadOrRefused(f *testing.F) {
	for _, s := range []string{"64MiB", "1.5GB", "-1B", "1e400TiB", "5ms", "1h30m", "0", "99999999h", "NaNB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := registry.ParseSize(s); err == nil && n >= 0 {
			back, err := registry.ParseSize(registry.FormatSize(n))
			if err != nil || back != n && n < 1<<53 {
				t.Fatalf("%q is %d, written %s, read %d: %v", s, n, registry.FormatSize(n), back, err)
			}
		}
		_, _ = registry.ParseDuration(s)
	})
}
