package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/penstock-go/penstock/cuda"
)

// The ends of the program.
const (
	good     = 0
	failed   = 1
	misused  = 2
	noDevice = 3
)

// result is all that was measured. Times are seconds, rates bytes a second.
type result struct {
	Device  cuda.Info     `json:"device"`
	Locks   []lockCost    `json:"locks"`
	Rates   []rate        `json:"rates"`
	Overlap []overlap     `json:"overlap"`
	Waits   []waits       `json:"waits"`
	Arrived arrivalCounts `json:"arrived"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("accept", flag.ContinueOnError)
	f.SetOutput(errs)
	number := f.Int("device", 0, "the number of the device")
	most := f.Int("most", 256<<20, "bytes of the largest copy; the largest lock is four times that")
	rounds := f.Int("rounds", 5, "rounds of each measurement; the median is told")
	side := f.Int("side", 8192, "the side of the matrices whose product is the work of a batch, on device 0 and where there is cuBLAS")
	name := f.String("backend", "driver", "driver, or gorgonia in a program that was built with it")
	file := f.String("json", "", "a file for the figures")
	if err := f.Parse(args); err != nil {
		return misused
	}
	if *most < smallest || *most > 1<<30 || *rounds < 1 || *rounds > 100 || *number < 0 || f.NArg() > 0 {
		fmt.Fprintf(errs, "accept: -most must be %d to %d, -rounds 1 to 100, -device at least 0, and nothing else be given, got %d, %d, %d and %q\n",
			smallest, 1<<30, *most, *rounds, *number, f.Args())
		return misused
	}
	b, ok := backends()[*name]
	if !ok || *side < 16 || *side > 1<<15 {
		fmt.Fprintf(errs, "accept: -side must be 16 to %d and -backend one of this program, got %d and %q\n", 1<<15, *side, *name)
		return misused
	}
	d, err := b.Open(*number)
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		fmt.Fprintf(errs, "accept: there is no device here, so nothing was measured: %v\n", err)
		return noDevice
	}
	if err != nil {
		fmt.Fprintf(errs, "accept: %v\n", err)
		return failed
	}
	r, err := measure(d, *most, *rounds, out)
	if err == nil {
		if *number != 0 { // cuBLAS takes device 0
			*side = 0
		}
		err = measureWaits(d, &r, *most/4, *side, out)
	}
	if err = errors.Join(err, d.Close()); err == nil && *file != "" {
		err = write(*file, r)
	}
	if err != nil {
		fmt.Fprintf(errs, "accept: %v\n", err)
		return failed
	}
	return good
}

// measure does all measurements in turn, and prints each when it has it.
func measure(d cuda.Device, most, rounds int, out io.Writer) (r result, err error) {
	r.Device = d.Info()
	fmt.Fprintf(out, "%s, %s, %s, %d MiB, NUMA node %d\n", r.Device.Name, r.Device.PCI, r.Device.Driver, r.Device.Memory>>20, r.Device.Node)
	fmt.Fprintf(out, "\npage-locking                lock s/GiB   unlock s/GiB\n")
	for _, n := range []int{most / 4, most, 4 * most} {
		c, err := lock(d, n, rounds)
		if err != nil {
			return r, err
		}
		r.Locks = append(r.Locks, c)
		fmt.Fprintf(out, "%12d bytes  %15.3f  %13.3f\n", n, perGiB(c.Lock, n), perGiB(c.Unlock, n))
	}
	fmt.Fprintf(out, "\nto the device              pageable GB/s   registered GB/s\n")
	for n := smallest; n <= most; n *= 4 {
		x, err := rates(d, n, rounds, &r.Arrived)
		if err != nil {
			return r, err
		}
		r.Rates = append(r.Rates, x)
		fmt.Fprintf(out, "%12d bytes  %15.3f  %16.3f\n", n, x.Pageable/1e9, x.Registered/1e9)
	}
	fmt.Fprintf(out, "\ncompute/copy    in turn s/batch   two slots s/batch   longer part s   hidden\n")
	for _, ratio := range []float64{0.5, 1, 2} {
		o, err := overlaps(d, most/4, ratio, rounds, &r.Arrived)
		if err != nil {
			return r, err
		}
		r.Overlap = append(r.Overlap, o)
		fmt.Fprintf(out, "%12.1f  %17.6f  %18.6f  %14.6f  %6.1f %%\n", ratio, o.InTurn, o.Slots, max(o.Copy, o.Compute), 100*o.Hidden)
	}
	fmt.Fprintf(out, "\narrived: %d of %d copies hold what was sent\n", r.Arrived.Same, r.Arrived.Checked)
	if r.Arrived.Same != r.Arrived.Checked {
		return r, errors.New("what arrived is not what was sent")
	}
	return r, nil
}

// measureWaits measures whole pipelines, with pin and without.
func measureWaits(d cuda.Device, r *result, n, side int, out io.Writer) error {
	spin := time.Duration(2 * r.Overlap[0].Copy * 1e9)
	all, note, err := pipelines(d, n, 60, side, spin)
	if err != nil {
		return err
	}
	r.Waits = all
	if note != "" {
		fmt.Fprintf(out, "\n%s\n", note)
	}
	fmt.Fprintf(out, "\npipeline      copy s/batch   work s/batch   host waits   device waits   GB/s\n")
	for _, w := range all {
		fmt.Fprintf(out, "pin %-8t  %12.6f  %13.6f  %11s  %13s  %5.2f\n", w.Pinned, w.Copy, w.Work, share(w.HostWait), share(w.DeviceWait), w.BytesRate/1e9)
	}
	return nil
}

func share(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**x)
}

func write(file string, r result) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
