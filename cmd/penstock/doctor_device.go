package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
)

// mostDevices bounds the devices that doctor looks for.
const mostDevices = 16

// deviceExamination is what doctor --device prints: the devices that can be opened, how they are reached, what may be
// page-locked for them, and what is missing. bus is where the system describes its devices.
func deviceExamination(b cuda.Backend, m graph.Machine, bus string) string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, value, note string) { fmt.Fprintf(t, "  %s\t%s\t%s\n", name, value, note) }
	system := m.Driver
	if system == "" {
		system = "none"
	}
	fmt.Fprintln(t, "driver")
	line("of the system", system, "")
	var failed error
	found := 0
	for n := range mostDevices {
		d, err := b.Open(n)
		if err != nil {
			failed = err
			break
		}
		if found++; n == 0 {
			line("library", "works", d.Info().Driver+", by "+d.Info().Backend)
			fmt.Fprintln(t, "devices")
		}
		describeDevice(line, n, d.Info(), bus)
		describeUse(line, d)
		if err := d.Close(); err != nil {
			line("", "", "closing it failed: "+err.Error())
		}
	}
	if found == 0 {
		line("library", "cannot be used", "")
	}
	limit, knob := cuda.PinLimit(0, m)
	fmt.Fprintln(t, "page-locked memory")
	line("at most", bytesText(limit), "by pin; for more: "+knob)
	_ = t.Flush()
	out := trimLines(text.String()) + "advice\n"
	if found > 0 {
		return out + "  none: a spec may name the devices above\n"
	}
	return out + "  1. " + deviceAdvice(failed) + "\n"
}

func describeDevice(line func(name, value, note string), n int, i cuda.Info, bus string) {
	line(fmt.Sprintf("cuda:%d", n), i.Name, bytesText(i.Memory)+" of memory")
	place := i.PCI
	if i.Node >= 0 {
		place += fmt.Sprintf(", near NUMA node %d", i.Node)
	}
	line("", place, linkText(filepath.Join(bus, strings.ToLower(i.PCI))))
}

// describeUse is what a device tells of its use by all processes.
func describeUse(line func(name, value, note string), d cuda.Device) {
	m, ok := d.(cuda.Monitor)
	if !ok {
		return
	}
	u, err := m.Use()
	if err != nil {
		line("", "its use is not known", err.Error())
		return
	}
	busy := "share of time in kernels not known"
	if u.Busy != nil {
		busy = fmt.Sprintf("in kernels %.0f %% of the time", 100**u.Busy)
	}
	link := ""
	if u.LinkWidth > 0 {
		link = fmt.Sprintf(", PCIe %d x%d now, %d x%d at most", u.LinkGeneration, u.LinkWidth, u.LinkGenerationLimit, u.LinkWidthLimit)
	}
	line("", busy, fmt.Sprintf("%s of %s of memory in use%s", bytesText(u.MemoryUsed), bytesText(u.Memory), link))
}

// linkText is what the system says of the link to a device: "16.0 GT/s PCIe x16 now, 32.0 GT/s PCIe x16 at most". Idle
// devices slow their link down.
func linkText(dir string) string {
	var parts []string
	for _, k := range []struct{ kind, word string }{{"current", "now"}, {"max", "at most"}} {
		speed, err1 := os.ReadFile(filepath.Join(dir, k.kind+"_link_speed"))
		width, err2 := os.ReadFile(filepath.Join(dir, k.kind+"_link_width"))
		if err1 == nil && err2 == nil {
			parts = append(parts, fmt.Sprintf("%s x%s %s", strings.TrimSpace(string(speed)), strings.TrimSpace(string(width)), k.word))
		}
	}
	if len(parts) == 0 {
		return "link unknown"
	}
	return strings.Join(parts, ", ")
}

// deviceAdvice says how to mend what keeps devices from being opened.
func deviceAdvice(err error) string {
	way := "emulated devices work anywhere: device_copy: {device: \"emu:pcie5x16\"}"
	switch {
	case errors.Is(err, cuda.ErrNoDriver):
		way = "On a machine with an NVIDIA device install its driver; in a container start it with --gpus all and " +
			"NVIDIA_DRIVER_CAPABILITIES=compute,utility; PENSTOCK_LIBCUDA names the library where it lies elsewhere. Else " + way
	case errors.Is(err, cuda.ErrNoDevice):
		way = "The driver sees no device: look at CUDA_VISIBLE_DEVICES and at the container's devices. Else " + way
	default:
		way = "E" + way[1:]
	}
	return fmt.Sprintf("no device could be opened: %s. %s", strings.ReplaceAll(err.Error(), "\n", "; "), way)
}
