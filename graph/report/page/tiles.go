package page

import "github.com/penstock-go/penstock/graph/report/internal/words"

// tiles are the answers: how much waiting, which stage, what to change, what that brings.
func (p *page) tiles() []tile {
	v, sink := p.r.at("verdict"), p.r.at("sink")
	wait := tile{"wait", "the sink waits", percent(sink.at("wait_ratio")), "of the steady time"}
	if sink.at("wait_ratio").null() {
		wait.Note = "no steady phase yet"
	}
	stage := tile{"stage", "bottleneck", literal(v.at("bottleneck")), ""}
	if v.at("bottleneck").null() {
		stage.C.Text, stage.Note = "none", "no stage is to blame"
	} else if s := v.at("share_of_wait"); !s.null() {
		stage.Note = "causes " + words.Percent(s.value()) + " of the wait"
	}
	next := tile{"next", "next", p.next(), ""}
	if !v.at("next").null() {
		next.Note = "change this, run again, compare"
	}
	gain := tile{"gain", "that should give", show(v.at("gain"), words.Digits(1+v.at("gain").value(), 2)+" × as fast"), "no prediction"}
	if n, ok := v.at("predicted_samples_per_second").number(); ok {
		gain.Note = words.Rate(n) + " samples/s"
	}
	if v.at("gain").null() && v.at("next").null() {
		gain.Note = "nothing to change"
	}
	return []tile{wait, stage, next, gain}
}

// next is the knob to turn. Its exact value is written as in `decode.workers 1 -> 4`.
func (p *page) next() cell {
	n := p.r.at("verdict.next")
	if n.null() {
		return show(n, "")
	}
	value := n.at("stage").text() + "." + n.at("knob").text()
	text := words.Plain(n.at("knob").text() + " of " + n.at("stage").text())
	if to := n.at("to"); !to.null() {
		from := ""
		if f := n.at("from"); !f.null() {
			from = " " + f.raw()
		}
		value += from + " -> " + to.raw()
		text += "," + from + " → " + to.raw()
	}
	return cell{Path: n.path, Value: value, Text: text}
}
