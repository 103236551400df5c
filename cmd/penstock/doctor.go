package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph"
)

func (a *app) doctor(args []string) int {
	var o examineOptions
	f := newFlags("doctor")
	device := f.Bool("device", false, "")
	f.Var(&o.set, "set", "")
	f.Float64Var(&o.seconds, "seconds", 30, "")
	f.StringVar(&o.root, "root", "", "")
	f.StringVar(&o.format, "format", "text", "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case *device && (len(rest) > 0 || len(f.given()) > 1):
		return a.usage("doctor", "--device stands alone: it looks at the machine and at no spec")
	case *device:
		fmt.Fprint(a.out, deviceExamination(firstOf(backends()), graph.Host(""), "/sys/bus/pci/devices"))
		return exitDone
	case len(rest) > 1:
		return a.usage("doctor", fmt.Sprintf("wanted one spec, or none, got %d", len(rest)))
	case len(rest) == 1:
		return a.examine(rest[0], o)
	case len(f.given()) > 0:
		return a.usage("doctor", "options are for the examination of a spec, and there is none")
	}
	dir, err := os.Getwd()
	if err != nil {
		return a.fail(err)
	}
	_, copies := a.catalog.Kind("device_copy")
	fmt.Fprint(a.out, examination(graph.Host(dir), copies, os.Getenv))
	return exitDone
}

// examination is what doctor prints.
func examination(m graph.Machine, copies bool, getenv func(string) string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, value, note string) { fmt.Fprintf(t, "  %s\t%s\t%s\n", name, value, note) }
	fmt.Fprintf(t, "cores (%s)\n", m.CPU)
	line("machine", count(m.Online), "")
	line("affinity", count(m.Affinity), "that the process may run on")
	line("cpuset", count(m.Cpuset), "of the control group")
	line("quota", quotaText(m), "of the control group, in cores")
	line("taken", count(m.Cores), "by a run with budget.cpu 100%")
	fmt.Fprintln(t, "memory")
	line("machine", bytesText(m.Memory), bytesText(m.MemoryFree)+" available")
	line("limit", limitText(m.MemoryLimit), "of the control group")
	line("taken", budgetText(m.MemoryBudget), "by batches and samples in flight, without budget.memory")
	line("collector", collectorText(m, getenv), "what the garbage collector is told to stay below")
	line("huge pages", orUnknown(m.HugePages), "large slabs ask for them")
	line("shared", bytesText(m.Shm), "/dev/shm; penstock uses none: its workers share one memory")
	fmt.Fprintln(t, "files")
	line("open files", count64(m.OpenFiles), "most at once")
	line("working folder", orUnknown(m.FileSystem)+diskText(m), bytesText(m.FolderFree)+" free: "+m.Folder)
	fmt.Fprintln(t, "devices")
	line("emulated", "accelerator", "the sink, which models a training step")
	if copies {
		line("", "emu:pcie3x16, emu:pcie4x16, emu:pcie5x16, emu:c2c", "links, modelled by device_copy")
	}
	line("real", realText(m), "")
	_ = t.Flush()
	text := trimLines(b.String())
	list := advice(m, getenv)
	if len(list) == 0 {
		return text + "advice\n  none: nothing here stands in a pipeline's way\n"
	}
	text += "advice\n"
	for i, l := range list {
		text += fmt.Sprintf("  %d. %s\n", i+1, l)
	}
	return text
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func count(n int) string { return count64(int64(n)) }

func count64(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return fmt.Sprint(n)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func quotaText(m graph.Machine) string {
	if m.Quota < 0 {
		return "none"
	}
	return fmt.Sprintf("%.4g", m.Quota)
}

// bytesText rounds to what a reader can take in.
func bytesText(n int64) string {
	switch {
	case n < 0:
		return "unknown"
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func limitText(n int64) string {
	if n < 0 {
		return "none"
	}
	return bytesText(n)
}

func budgetText(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return bytesText(n)
}

func collectorText(m graph.Machine, getenv func(string) string) string {
	switch v := getenv("GOMEMLIMIT"); {
	case v != "":
		return v + " (GOMEMLIMIT)"
	case m.MemoryLimit < 0:
		return "no limit"
	}
	return bytesText(m.MemoryLimit / 10 * 9)
}

func diskText(m graph.Machine) string {
	switch {
	case isShared(m.FileSystem):
		return ", over a network or shared"
	case m.FileSystem == "tmpfs" || m.FileSystem == "ramfs":
		return ", in memory"
	case m.FileSystem == "overlay":
		return ", a container's own layers"
	case m.Rotating == 1:
		return ", a rotating disk"
	case m.Rotating == 0:
		return ", a solid-state disk"
	}
	return ""
}

func isShared(fs string) bool {
	switch fs {
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "gpfs", "beegfs", "9p", "virtiofs", "afs":
		return true
	}
	return strings.HasPrefix(fs, "fuse")
}

func realText(m graph.Machine) string {
	if m.Driver != "" {
		return "the system has a driver, " + m.Driver + "; look closer with penstock doctor --device"
	}
	return "none found"
}

// advice is what to do about what was found.
func advice(m graph.Machine, getenv func(string) string) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if m.Quota > 0 && float64(m.Cores) > m.Quota+0.01 {
		say("the quota of %.4g cores is less than the %d that run at once: the container is held back part of the time. Give it whole cores, or set budget.cpu.",
			m.Quota, m.Cores)
	}
	if m.Held > 100 {
		say("the quota has held the container back %d times since it began: a report's waits may be the quota's. Raise it.", m.Held)
	}
	if v := getenv("GOMAXPROCS"); v != "" {
		say("GOMAXPROCS is %q: it takes the place of quota, cpuset and affinity. Leave it out.", v)
	} else if m.Affinity > 0 && m.Online > m.Affinity {
		say("%d of the machine's %d cores are left by affinity. If that is not meant, look at taskset, at the batch system and at cpuset.", m.Affinity, m.Online)
	}
	if m.Cores == 1 {
		say("there is one core: stages that compute cannot run side by side. Only stages that wait gain from workers.")
	}
	switch {
	case m.MemoryLimit < 0 && m.MemoryBudget == 0:
		say("no memory limit is set here, so bytes in flight are counted and not limited. On a shared machine set budget.memory.")
	case m.MemoryLimit >= 0 && m.MemoryLimit < 1<<30:
		say("the memory limit is %s: batches and samples in flight get %s. Small batches, and smaller pictures first.", bytesText(m.MemoryLimit), bytesText(m.MemoryBudget))
	}
	if v := getenv("GOGC"); v == "off" && getenv("GOMEMLIMIT") == "" && m.MemoryLimit < 0 {
		say("GOGC is off and there is no limit: memory is never given back.")
	}
	if m.OpenFiles >= 0 && m.OpenFiles < 4096 {
		say("only %d files may be open at once; a reader with many workers needs one each. Raise it: ulimit -n 65536.", m.OpenFiles)
	}
	if m.HugePages == "never" {
		say("huge pages are off: fresh slabs cost a page fault for each 4 KiB. echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
	}
	switch {
	case isShared(m.FileSystem):
		say("the working folder lies on %s: each file costs a round trip. Give the source many more workers than cores, or pack small files into archives.", m.FileSystem)
	case m.FileSystem == "overlay":
		say("the working folder lies in a container's layers, which are slow to list and gone afterwards. Mount the data as a volume.")
	case m.Rotating == 1:
		say("the working folder lies on a rotating disk: reads in random order cost milliseconds each. Pack small files into archives, or keep the data in memory.")
	}
	if m.FolderFree >= 0 && m.FolderFree < 1<<30 {
		say("%s are free in the working folder; reports and states need some.", bytesText(m.FolderFree))
	}
	if runtime.GOOS != "linux" {
		say("much of this is read from Linux; here it is unknown.")
	}
	return list
}

const doctorHelp = `
Without a spec it says what this machine gives: cores after quota, cpuset and
affinity, the memory limit and what a run takes of it, open files, shared memory,
huge pages, what the working folder lies on, devices; then what to do about it.
That measures nothing and changes nothing.

With a spec it runs the pipeline, at most five times, and asks at each turn what
only a run can answer. Is the sink waiting? At the start, at epoch edges, or
always? For which stage, and is that storage, decoding, transforming, batching or
copying? Slow on average, or only now and then? Are the cores the limit? Does more
concurrency help, or do the workers wait for each other? It ends in at most three
actions, each with the rate that was predicted before it was tried, and the one
that was then measured. The spec is not changed. Sinks run as well: what they
write is written with each run.

  --seconds S         for all runs together, 30 by default; each gets a fifth.
                      Too short for a steady phase, it says so
  --set KEY=VALUE     overrides, as for run
  --root DIR          what the spec may read lies in this folder
  --format FORM       text (the default) or json
  --device            alone: opens the real devices and says what they are, how
                      they are reached, what may be page-locked for them, and
                      what is missing where there is none
`
