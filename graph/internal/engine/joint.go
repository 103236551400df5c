package engine

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/pool"
)

// Joint is one byte limit for the admissions of several runs. Half of what their slabs leave is kept in equal parts, one
// for each run; whoever comes first takes from the other half. So a run that stands still, full, leaves room to another.
type Joint struct {
	limit int64 // 0: none

	mu      sync.Mutex
	fixed   int64 // taken for good, of all
	shared  bool
	members []*Admission
}

// NewJoint makes a limit in bytes, 0 for none.
func NewJoint(limit int64) *Joint { return &Joint{limit: limit} }

// Limit is the whole limit.
func (j *Joint) Limit() int64 { return j.limit }

// Share keeps a part for a second run from now on, also while there is only one.
func (j *Joint) Share() {
	j.mu.Lock()
	j.shared = true
	j.mu.Unlock()
}

// Join adds the admission of a run; the oldest hold items of each of its sources always pass.
func (j *Joint) Join(hold int64) *Admission {
	a := &Admission{free: j.limit == 0, j: j, b: pool.Budget{Limit: j.limit, Hold: hold}}
	j.mu.Lock()
	j.members = append(j.members, a)
	j.mu.Unlock()
	return a
}

// Leave ends the run's part: what it had, others may take. It gives what the run had taken off the limit.
func (a *Admission) Leave() int64 {
	j := a.j
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, m := range j.members {
		if m == a {
			j.members = append(j.members[:i], j.members[i+1:]...)
			j.fixed -= a.fixed
			break
		}
	}
	j.wake()
	return a.fixed
}

// Parts is into how many the kept half is divided; 1: the run has everything.
func (a *Admission) Parts() int64 {
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return a.j.parts()
}

func (j *Joint) parts() int64 {
	if n := int64(len(j.members)); n > 1 || !j.shared {
		return max(1, n)
	}
	return 2
}

// kept is how much of total each of several runs finds.
func kept(total, parts int64) int64 {
	if parts == 1 {
		return 0
	}
	return total / (2 * parts)
}

// most is what a run may take for itself, fixed memory and samples together, whatever others do.
func (j *Joint) most() int64 {
	n := j.parts()
	return j.limit - (n-1)*kept(j.limit, n)
}

// refresh sets the limit of a to what the others leave now.
func (j *Joint) refresh(a *Admission) {
	left := max(1, j.limit-j.fixed)
	each := kept(left, j.parts())
	left -= each * (j.parts() - max(1, int64(len(j.members))))
	for _, m := range j.members {
		if m != a {
			left -= max(each, m.b.Used())
		}
	}
	a.b.Limit = max(1, left)
}

// noteOver notes by how much all together are above the limit.
func (j *Joint) noteOver() {
	over := j.fixed - j.limit
	for _, m := range j.members {
		over += m.b.Used()
	}
	for _, m := range j.members {
		m.over = max(m.over, over)
	}
}

// wake wakes one who waits on each lane.
func (j *Joint) wake() {
	for _, m := range j.members {
		for _, l := range m.lanes {
			l.wake()
		}
	}
}
