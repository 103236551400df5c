package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

// Mixing declares the shares in which a mix takes from its inputs, and when an epoch of it ends.
//
// Which input gives output n is a function of n, the epoch, the pipeline's seed and the stage's id, whatever the workers
// and buffers are: after any number of outputs, what each of k inputs gave is within 1 - 1/(2k-2) items of its share. The
// seed decides between inputs that are equally due. Each epoch counts afresh.
type Mixing struct {
	// Weights are the shares, in the order of the inputs, in any unit: 3 and 1 is the same as 0.75 and 0.25. None are
	// equal shares. Weights that whole numbers up to 2^40 cannot express together, such as 1.0/3, are rounded to parts
	// of 2^40.
	Weights []float64
	Stop    StopRule
}

// StopRule says when an epoch of a mix ends.
type StopRule string

// The rules. An input has run out when it is due and has nothing left for the epoch.
const (
	// StopFirst ends the epoch with the first input that has run out, so that the shares hold to its end; it is the
	// default. What the others have left of their epoch is not read, but for what is on its way already, which is dropped
	// and counted.
	StopFirst StopRule = "first"
	// StopAll lets an input that has run out drop out. The others share among themselves by their weights, counted
	// afresh from there, until all have run out: every item comes once.
	StopAll StopRule = "all"
	// StopRepeat begins another pass of an input that has run out, in the same epoch, at places after its last one and in
	// the same order. The epoch ends when each input has been gone through once: every item comes at least once.
	StopRepeat StopRule = "repeat"
)

// Kind is the word of a spec.
func (Mixing) Kind() string { return "mix" }

func (m Mixing) stop() StopRule {
	if m.Stop == "" {
		return StopFirst
	}
	return m.Stop
}

// String writes the mixing out for the pipeline's description.
func (m Mixing) String() string {
	words := make([]string, len(m.Weights))
	for i, w := range m.Weights {
		words[i] = strconv.FormatFloat(w, 'g', -1, 64)
	}
	return fmt.Sprintf("{weights: [%s], stop: %s}", strings.Join(words, ", "), m.stop())
}

// Check refuses weights that are no shares and rules that there are not.
func (m Mixing) Check() error {
	for i, w := range m.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return &FieldError{Field: "weights", Code: "field_range", Msg: fmt.Sprintf("weights[%d] must be above 0, got %v; leave an input out that shall give nothing", i, w)}
		}
	}
	switch m.stop() {
	case StopFirst, StopAll, StopRepeat:
		return nil
	}
	return &FieldError{Field: "stop", Code: "field_value", Msg: fmt.Sprintf("stop must be first, all or repeat, got %q", string(m.Stop))}
}

// Mix declares a stage that takes items of its inputs in the shares of m, within each epoch, in the order of each input.
func Mix[T any](p *Pipeline, id string, ins []Port[T], m Mixing, opts ...Option) Port[T] {
	nodes := make([]*node, len(ins))
	for i := range ins {
		nodes[i] = ins[i].n
	}
	n := p.add(id, mergeRole, m, nodes, opts)
	if len(ins) < 2 {
		p.problem(n, "from", "merge_inputs", "a mix needs at least two inputs, got %d", len(ins))
	}
	if len(m.Weights) > 0 && len(m.Weights) != len(ins) {
		p.problem(n, "weights", "field_value", "weights must have one for each of the %d inputs, got %d", len(ins), len(m.Weights))
	}
	n.open = func(b *builder) error { return openMix[T](b, n, m) }
	return Port[T]{n}
}

// checkMix refuses a repeat where it is not one source that would begin another pass.
func (p *Pipeline) checkMix(n *node) {
	m, ok := n.decl.(Mixing)
	if !ok {
		return
	}
	if p.steps > 0 {
		p.problem(n, "", "not_supported", "steps_per_epoch does not go with a mix yet, whose stop ends the epoch")
	}
	if p.uneven == Keep && p.world.Size() > 1 {
		p.problem(n, "", "field_value", "uneven: keep lets an input of the mix end earlier on one rank than on another, so that ranks would make other numbers of steps; use pad or drop")
	}
	if m.stop() != StopRepeat {
		return
	}
	for _, in := range n.ins {
		if k := sourcesAbove(in); len(k) > 1 {
			p.problem(n, "stop", "field_value", "stop: repeat begins another pass of a source, but the input %q joins %d of them; "+
				"give the mix each source as an input of its own, or make one source of them with concat", in.id, len(k))
		}
	}
}

func (n *node) mixes() bool {
	_, ok := n.decl.(Mixing)
	return ok
}

func sourcesAbove(n *node) (all []*node) {
	if n.role == sourceRole {
		return []*node{n}
	}
	for _, in := range n.ins {
		all = append(all, sourcesAbove(in)...)
	}
	return all
}

// repeatedBy is the mix below a source that may begin another pass of it, and how many items may lie between the two.
func repeatedBy(n *node) (mix *node, between int64) {
	between = 1 << 16
	for m := n; m != nil; m = m.next {
		if x, ok := m.decl.(Mixing); ok && x.stop() == StopRepeat {
			return m, between
		}
		between += int64(m.opts.buffer + m.opts.window)
		if h, ok := m.decl.(interface{ Holds() int64 }); ok {
			between *= max(1, h.Holds())
		}
	}
	return nil, 0
}

// wholeWeights writes weights as whole numbers. Decimals are taken as they are written.
func wholeWeights(weights []float64, inputs int) []int64 {
	whole := make([]int64, inputs)
	if len(weights) == 0 {
		for i := range whole {
			whole[i] = 1
		}
		return whole
	}
	for scale := 1.0; scale <= 1e9; scale *= 10 {
		if exact(whole, weights, scale) {
			return whole
		}
	}
	sum := 0.0
	for _, w := range weights {
		sum += w / float64(len(weights)) // which cannot overflow
	}
	for i, w := range weights {
		whole[i] = max(1, int64(math.Round(w/sum/float64(len(weights))*(engine.MaxWeights/2))))
	}
	return whole
}

// exact scales weights to whole numbers, if that is what the decimals say which stand for them.
func exact(whole []int64, weights []float64, scale float64) bool {
	sum := int64(0)
	for i, w := range weights {
		x := math.Round(w * scale)
		if x < 1 || x >= engine.MaxWeights || x/scale != w {
			return false
		}
		whole[i] = int64(x)
		sum += whole[i]
	}
	return sum <= engine.MaxWeights
}

func openMix[T any](b *builder, n *node, decl Mixing) error {
	s := b.begin(n)
	h := hooksOf[T](b.index)
	weights := wholeWeights(decl.Weights, len(n.ins))
	m := &engine.Mix[T]{
		Merge:  engine.Merge[T]{Meter: s.m, Out: newEdge[T](b, s), Drop: h.dropQuietly},
		Shares: engine.NewShares(weights, stageKey(b.p.seed, n.id)),
		Stop:   map[StopRule]engine.Stop{StopFirst: engine.StopFirst, StopAll: engine.StopAll, StopRepeat: engine.StopRepeat}[decl.stop()],
		Epochs: b.p.epochs,
		Skip: func(epoch int32) {
			for _, src := range b.sourcesOf(n) {
				b.steer[src].skipTo(int64(epoch))
			}
		},
		Pass: func(t *edge.Tag) int64 { return b.steer[t.Source].pass(t) },
	}
	tally := b.mixed(n, m.Shares, weights)
	m.Resumed = tally.resumed
	m.Book = tally.note
	ins, pulls := inputsOf[T](b, n)
	m.Ins = ins
	b.launch(func() { m.Start(b.eng) })
	if b.p.sync {
		b.pulls[n.no] = m.Pull(b.eng, pulls)
	}
	return nil
}
