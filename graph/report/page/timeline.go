package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// strip is one stage over time.
type strip struct {
	Stage      cell
	Color      string
	Busy       string // share, in words
	Bottleneck bool
	Work       template.HTML
	Queue      template.HTML // "": it has none
}

// line is the timeline; Strips is empty where none was kept.
type line struct {
	Strips []strip
	Ticks  []string
	Waits  template.HTML
	Legend []mark
	Held   []held
	Tables []table
}

// mark explains a color.
type mark struct {
	Color, Name, Text string
}

func (p *page) line() line {
	t := p.r.at("timeline")
	if t.null() || t.at("bucket_seconds").value() <= 0 {
		return line{}
	}
	l := line{Ticks: ticks(t.at("seconds").value())}
	p.width = t.at("seconds").value() / t.at("bucket_seconds").value()
	for _, s := range t.at("stages").list() {
		l.Strips = append(l.Strips, p.strip(s))
		l.Tables = append(l.Tables, p.lineTable(tableID("line-", len(l.Tables)), words.Plain(s.at("id").text()), s.at("wait_in_seconds"), s.at("busy_seconds"),
			s.at("wait_out_seconds"), s.at("queue")))
	}
	l.Waits, l.Legend = p.waitsOverTime()
	waits := []tree{}
	for _, w := range t.at("waits").list() {
		waits = append(waits, w.at("seconds"))
	}
	if len(waits) > 0 {
		all := p.lineTable("line-waits", "What the sink waited for", waits...)
		for i, w := range t.at("waits").list() {
			all.Heads[i+1].Text = "for " + p.name(w.at("stage")) + ", s"
		}
		l.Tables = append(l.Tables, all)
	}
	l.Held = p.held()
	l.Tables = append(l.Tables, p.lineTable("line-process", "The whole process", t.at("rss_bytes"), t.at("goroutines"), t.at("in_flight_bytes")))
	return l
}

func tableID(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, n) }

// name is that of a stage, or of what stands in its place.
func (p *page) name(t tree) string {
	if t.null() {
		return "no stage"
	}
	return words.Plain(t.text())
}

func ticks(seconds float64) []string {
	out := make([]string, 5)
	for i := range out {
		out[i] = fine(words.Seconds(seconds * float64(i) / 4))
	}
	return out
}

func fine(s string) string { return strings.ReplaceAll(s, " us", " µs") }

func (p *page) strip(s tree) strip {
	in, _ := s.at("wait_in_seconds").numbers()
	busy, _ := s.at("busy_seconds").numbers()
	out, _ := s.at("wait_out_seconds").numbers()
	n := min(len(in), len(busy), len(out))
	none, work, room, all := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	var sum [3]float64
	for i := range n {
		life := in[i] + busy[i] + out[i]
		sum[0], sum[1], sum[2] = sum[0]+in[i], sum[1]+busy[i], sum[2]+out[i]
		if life > 0 {
			work[i], room[i], all[i] = busy[i]/life, (busy[i]+out[i])/life, 1
		}
	}
	share := func(x float64) string {
		if r := words.Ratio(x, sum[0]+sum[1]+sum[2]); r != nil {
			return words.Percent(*r)
		}
		return "-"
	}
	id := s.at("id")
	text := fmt.Sprintf("%s over time: busy %s, waits for input %s, waits for room %s", words.Plain(id.text()), share(sum[1]), share(sum[0]), share(sum[2]))
	x := strip{Stage: literal(id), Color: p.color(id.text()), Busy: share(sum[1]), Bottleneck: p.isBottleneck(id.text())}
	x.Work = picture("work", p.width, 100, text, area("idle", none, all, p.width)+area("room", work, room, p.width)+area("busy", none, work, p.width))
	x.Queue = p.heat(s)
	return x
}

// heat is a queue over time: the fuller, the darker.
func (p *page) heat(s tree) template.HTML {
	depth, known := s.at("queue").numbers()
	room := p.stage(s.at("id").text()).at("buffer").value()
	if len(depth) == 0 || room <= 0 {
		return ""
	}
	const levels = 10
	var b strings.Builder
	level := func(i int) int {
		if !known[i] {
			return 0
		}
		return int(math.Min(1, depth[i]/room)*levels + 0.5)
	}
	sum := 0.0
	for i := 0; i < len(depth); {
		end := i
		for end < len(depth) && level(end) == level(i) {
			sum += depth[end]
			end++
		}
		if n := level(i); n > 0 {
			fmt.Fprintf(&b, `<rect x="%d" width="%s" height="10" fill-opacity="%s"/>`, i, trim(math.Min(float64(end), p.width)-float64(i)), trim(float64(n)/levels))
		}
		i = end
	}
	text := fmt.Sprintf("queue behind %s: holds %s of %s on average", words.Plain(s.at("id").text()), words.Digits(sum/float64(len(depth)), 2), words.Count(words.Whole(room)))
	return picture("heat", p.width, 10, text, `<rect class="none" width="`+trim(p.width)+`" height="10"/>`+b.String())
}

// waitsOverTime stacks what the sink waited for.
func (p *page) waitsOverTime() (template.HTML, []mark) {
	bucket := p.r.at("timeline.bucket_seconds").value()
	var inside []string
	var legend []mark
	var below []float64
	total := 0.0
	for _, w := range p.r.at("timeline.waits").list() {
		s, _ := w.at("seconds").numbers()
		if below == nil {
			below = make([]float64, len(s))
		}
		if len(s) != len(below) {
			continue
		}
		top, sum := make([]float64, len(s)), 0.0
		for i, x := range s {
			length := math.Min(1, p.width-float64(i)) * bucket
			sum += x
			if top[i] = below[i]; length > 0 {
				top[i] += x / length
			}
		}
		total += sum
		color := p.color(w.at("stage").text())
		inside = append(inside, area(color, below, top, p.width))
		legend = append(legend, mark{color, p.name(w.at("stage")), fine(words.Seconds(sum))})
		below = top
	}
	if len(inside) == 0 {
		return "", nil
	}
	text := "waits of the sink over time, by the stage that is blamed: " + fine(words.Seconds(total)) + " in all"
	return picture("waits", p.width, 100, text, strings.Join(inside, "")), legend
}

// held is what the process held over time.
type held struct {
	Name, Most, Last string
	Picture          template.HTML
}

func (p *page) held() (all []held) {
	for _, x := range []struct {
		key, name string
		text      func(float64) string
	}{{"rss_bytes", "resident memory", bytesText}, {"in_flight_bytes", "under way", bytesText}, {"goroutines", "goroutines", countText}} {
		v, known := p.r.at("timeline." + x.key).numbers()
		most, last, any := 0.0, 0.0, false
		for i := range v {
			if known[i] {
				most, any = math.Max(most, v[i]), true
			}
		}
		none, top := make([]float64, len(v)), make([]float64, len(v))
		for i := range v { // where nobody looked it stays as it was
			if known[i] {
				last = v[i]
			}
			if most > 0 {
				top[i] = last / most
			}
		}
		if !any {
			continue
		}
		text := fmt.Sprintf("%s over time: %s at most, %s at the end", x.name, x.text(most), x.text(last))
		all = append(all, held{x.name, x.text(most), x.text(last), picture("held", p.width, 100, text, area("busy", none, top, p.width))})
	}
	return all
}

func bytesText(x float64) string { return words.Size(words.Whole(x)) }
func countText(x float64) string { return words.Count(words.Whole(x)) }
