package graph

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/item"
)

// SkipNote tells of an item that was left out.
type SkipNote struct {
	Stage   string
	Key     string
	Err     string
	Attempt int    // the last one, from 1
	Offset  *int64 // in the item's bytes, where the error tells it
	Pos     item.Pos
}

// String is `stage "decode": cat.jpg: the picture is cut short`.
func (n SkipNote) String() string { return fmt.Sprintf("stage %q: %s: %s", n.Stage, n.Key, n.Err) }

// OnSkip calls f for each item that is left out, one call at a time, from the workers: f should be quick.
func OnSkip(f func(SkipNote)) PipelineOption { return func(p *Pipeline) { p.onSkip = f } }

// Temporary marks an error that may pass, so that [Retry] tries again.
func Temporary(err error) error {
	if err == nil {
		return nil
	}
	return &temporary{err}
}

type temporary struct{ err error }

func (t *temporary) Error() string   { return t.err.Error() }
func (t *temporary) Unwrap() error   { return t.err }
func (t *temporary) Temporary() bool { return true }

// ErrTimeout is the error of a call that took longer than its stage's timeout.
var ErrTimeout = errors.New("timed out")

func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// offsetIn is the place in an item's bytes that an error tells of.
func offsetIn(err error) *int64 {
	var o interface{ ByteOffset() int64 }
	if !errors.As(err, &o) || o.ByteOffset() < 0 {
		return nil
	}
	at := o.ByteOffset()
	return &at
}

// probation is how many items pass before a rate of skips is looked at.
const probation = 100

// capsOf sees the marks of a stage leave it, in order, and says when there are too many.
func (b *builder) capsOf(s *stageRun) func(*edge.Tag, int64) error {
	counts := map[*stageRun]int64{}
	return func(t *edge.Tag, passed int64) error {
		at, _ := s.culprit(t.Ext.Err)
		counts[at]++
		n, o := counts[at], &at.n.opts
		over := ""
		switch {
		case o.maxSkips > 0 && n > o.maxSkips:
			over = fmt.Sprintf("max_count is %d", o.maxSkips)
		case o.maxSkipRate > 0 && passed >= probation && float64(n) > o.maxSkipRate*float64(passed):
			over = fmt.Sprintf("of %d that passed, max_rate is %g", passed, o.maxSkipRate)
		default:
			return nil
		}
		return &StageError{
			Pipeline: b.p.name, Stage: at.n.id, Key: t.Ext.Key, Pos: posOf(t), Op: "skip",
			Err: fmt.Errorf("%d items skipped, %s: %w", n, over, t.Ext.Err),
		}
	}
}
