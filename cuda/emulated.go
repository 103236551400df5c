package cuda

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// links are rates of copy engines, in bytes a second: what one reaches, not what is printed on the bus.
var links = map[string]float64{"pcie3x16": 12e9, "pcie4x16": 25e9, "pcie5x16": 54e9, "c2c": 350e9}

// linkNames lists the emulated devices, slowest first.
func linkNames() string {
	names := make([]string, 0, len(links))
	for n := range links {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(links[a], links[b]) })
	return "emu:" + strings.Join(names, ", emu:")
}

// Emulation is how an emulated device behaves. The zero value of a field is its default.
type Emulation struct {
	Link     string        // one of pcie3x16, pcie4x16, pcie5x16, c2c
	Rate     float64       // of copies, in bytes a second; default: that of the link
	Pageable float64       // of copies from memory that is not page-locked; default: a quarter
	Latency  time.Duration // of a copy; default 8 microseconds
	Launch   time.Duration // of a piece of work; default 4 microseconds
	LockRate float64       // of page-locking; default 1 GiB a second
	Memory   int64         // of the device; default 16 GiB
	Lockable int64         // bytes that may be page-locked at once; default: any

	// Late and Fault are called while the device is locked: they must not use it.

	// Late, if set, gives an additional delay of each operation: a device under other loads.
	Late func() time.Duration
	// Fault, if set, is asked at each operation ("alloc", "lock", "event", "copy", "spin") with its number, from 1. What
	// is not 0 is the code that it fails with: alloc, lock and event at once, copy and spin when they are carried out,
	// which loses the context if the code is one that does.
	Fault func(op string, n int64) int
	// Watch looks for sources that have changed between the call and the end of their copy, and counts them: a buffer
	// was used again too early. It reads every source twice.
	Watch bool
}

// Emulated is a device that exists only as a time line. An operation begins when it has been put in, the work before it
// on its stream is done and its part of the device (copies in, copies out, computing) is free, and ends after the time
// that the model gives. So when it is put in, its end is known, and no goroutine is needed: bytes move when somebody
// looks whether they have. All times are those of package time, exact in testing/synctest.
//
// Parts of the device are taken in the order in which operations are put in, also across streams.
type Emulated struct {
	cfg Emulation

	mu     sync.Mutex
	free   [parts]time.Time
	todo   []todo
	blocks []block // by address
	next   Ptr
	used   int64
	pages  map[*byte]int // page-locked memory by its beginning
	locked int64
	lost   *Error
	seen   map[string]int64
	queues map[uintptr]*queue // of the streams, by number
	count  EmulatedStats
}

// EmulatedStats are what an emulated device has counted.
type EmulatedStats struct {
	Copies, Bytes int64
	Staged        int64 // from memory that is not page-locked
	Races         int64 // sources that changed before the copy had ended, see [Emulation.Watch]
	Locked, Used  int64 // bytes page-locked, and allocated, now
	Events        int64 // open now
	Streams       int64
}

// The parts of the device.
const (
	copiesIn = iota
	copiesOut
	computing
	parts
)

type block struct {
	at  Ptr
	mem []byte
}

// todo is what is to be done at a time that is known.
type todo struct {
	at   time.Time
	do   func()
	code int
	op   string
}

// NewEmulated makes an emulated device.
func NewEmulated(c Emulation) (*Emulated, error) {
	if c.Link == "" && c.Rate == 0 {
		c.Link = "pcie5x16"
	}
	if c.Rate == 0 {
		c.Rate = links[c.Link]
	}
	c.Pageable = cmp.Or(c.Pageable, c.Rate/4)
	c.Latency = cmp.Or(c.Latency, 8*time.Microsecond)
	c.Launch = cmp.Or(c.Launch, 4*time.Microsecond)
	c.LockRate = cmp.Or(c.LockRate, 1<<30)
	c.Memory = cmp.Or(c.Memory, 16<<30)
	if c.Rate <= 0 || c.Pageable <= 0 || c.LockRate <= 0 || c.Latency < 0 || c.Launch < 0 {
		return nil, fault("open the emulated device", invalidValue)
	}
	return &Emulated{cfg: c, next: 1 << 60, pages: map[*byte]int{}, seen: map[string]int64{}, queues: map[uintptr]*queue{}}, nil
}

// Info says that the device is emulated.
func (d *Emulated) Info() Info {
	return Info{Backend: "emulated", Name: "emulated device behind " + cmp.Or(d.cfg.Link, "a link"), Memory: d.cfg.Memory, Node: -1, Emulated: true}
}

// Stats reads the counters.
func (d *Emulated) Stats() EmulatedStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.count
	s.Locked, s.Used = d.locked, d.used
	return s
}

// asks says what an operation is to fail with. With mu held.
func (d *Emulated) asks(op string) int {
	d.seen[op]++
	if d.cfg.Fault == nil {
		return 0
	}
	return d.cfg.Fault(op, d.seen[op])
}

// begin settles what is over, and says whether an operation can be done. With mu held.
func (d *Emulated) begin(op string) error {
	d.settle(time.Now())
	if d.lost != nil {
		return fault(op, d.lost.Code)
	}
	return nil
}

// settle carries out what is due, in order of time. With mu held.
func (d *Emulated) settle(now time.Time) {
	for len(d.todo) > 0 {
		first := 0
		for i := range d.todo {
			if d.todo[i].at.Before(d.todo[first].at) {
				first = i
			}
		}
		t := d.todo[first]
		if t.at.After(now) {
			return
		}
		d.todo = slices.Delete(d.todo, first, first+1)
		if t.code != 0 {
			if e := fault(t.op, t.code); d.lost == nil && e.Sticky() {
				d.lost, d.todo = e, nil
			}
			continue
		}
		if t.do != nil {
			t.do()
		}
	}
}

// Alloc takes memory of the device: the host's, behind an address that the host does not have.
func (d *Emulated) Alloc(n int) (Ptr, error) {
	const op = "allocate device memory"
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(op); err != nil {
		return 0, err
	}
	if code := d.asks("alloc"); code != 0 {
		return 0, fault(op, code)
	}
	if n <= 0 || d.used+int64(n) > d.cfg.Memory {
		return 0, fault(op, outOfMemory)
	}
	p := d.next
	d.next += Ptr(n+511) &^ 511
	d.used += int64(n)
	d.blocks = append(d.blocks, block{p, make([]byte, n)})
	return p, nil
}

// Free gives memory back.
func (d *Emulated) Free(p Ptr) error {
	const op = "free device memory"
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(op); err != nil {
		return err
	}
	i, ok := d.find(p)
	if !ok || d.blocks[i].at != p {
		return fault(op, invalidValue)
	}
	d.used -= int64(len(d.blocks[i].mem))
	d.blocks = slices.Delete(d.blocks, i, i+1)
	return nil
}

// find is the block that an address lies in. With mu held.
func (d *Emulated) find(p Ptr) (int, bool) {
	i, found := slices.BinarySearchFunc(d.blocks, p, func(b block, p Ptr) int { return cmp.Compare(b.at, p) })
	if !found {
		i--
	}
	return i, i >= 0 && p < d.blocks[i].at+Ptr(len(d.blocks[i].mem))
}

// bytes is a piece of the device's memory, nil where there is none. With mu held.
func (d *Emulated) bytes(p Ptr, n int) []byte {
	i, ok := d.find(p)
	if !ok || int(p-d.blocks[i].at)+n > len(d.blocks[i].mem) {
		return nil
	}
	at := int(p - d.blocks[i].at)
	return d.blocks[i].mem[at : at+n]
}

// Map takes memory of the host. It belongs to the garbage collector.
func (d *Emulated) Map(n int) ([]byte, error) { return make([]byte, n), nil }

// Unmap leaves the memory to the garbage collector.
func (d *Emulated) Unmap([]byte) error { return nil }

// Lock marks memory as page-locked, after the time that that takes.
func (d *Emulated) Lock(b []byte) error {
	const op = "page-lock host memory"
	d.mu.Lock()
	err := d.begin(op)
	code := d.asks("lock")
	switch p := unsafe.SliceData(b); {
	case err != nil:
	case code != 0:
		err = fault(op, code)
	case len(b) == 0 || d.pages[p] > 0:
		err = fault(op, invalidValue)
	case d.cfg.Lockable > 0 && d.locked+int64(len(b)) > d.cfg.Lockable:
		err = fault(op, outOfMemory)
	default:
		d.pages[p] = len(b)
		d.locked += int64(len(b))
	}
	d.mu.Unlock()
	if err == nil {
		wait(time.Duration(float64(len(b)) / d.cfg.LockRate * 1e9))
	}
	return err
}

// Unlock ends that.
func (d *Emulated) Unlock(b []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := unsafe.SliceData(b)
	if d.pages[p] == 0 {
		return fault("unlock host memory", invalidValue)
	}
	d.locked -= int64(d.pages[p])
	delete(d.pages, p)
	return nil
}

// isLocked says whether memory is page-locked. With mu held.
func (d *Emulated) isLocked(b []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for p, n := range d.pages {
		if lo := uintptr(unsafe.Pointer(p)); at >= lo && at+uintptr(len(b)) <= lo+uintptr(n) {
			return true
		}
	}
	return false
}

// Close forgets the device's memory.
func (d *Emulated) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(time.Now())
	d.blocks, d.todo, d.used = nil, nil, 0
	return nil
}

// wait lets time pass.
func wait(d time.Duration) {
	if d > 0 {
		<-time.NewTimer(d).C
	}
}
