package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/graph/registry"
)

// Exit codes.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitGate       = 3
	exitInterrupt  = 130
	exitTerminated = 143
)

func main() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Main runs one command and gives its exit code. Signals are taken from the process.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a, err := newApp(stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "penstock: the kinds of this program are wrong: %v\n", err)
		return exitUsage
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	a.signals = signals
	return a.main(args)
}

// app is what a command works with; tests make their own.
type app struct {
	in       io.Reader
	out, err io.Writer
	catalog  *registry.Catalog
	signals  <-chan os.Signal
	terminal bool          // err is one: the live line is written over itself
	pulse    time.Duration // between two live lines
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) (*app, error) {
	c, err := newCatalog()
	a := &app{in: stdin, out: stdout, err: stderr, catalog: c, pulse: 10 * time.Second}
	if f, ok := stderr.(*os.File); ok {
		if st, serr := f.Stat(); serr == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" {
			a.terminal, a.pulse = true, time.Second/2
		}
	}
	return a, err
}

// command is one word of the command line.
type command struct {
	name, args, summary string
	run                 func(a *app, args []string) int
	help                string
}

// commands lists what is built; help and its tests go by it.
func commands() []command {
	return []command{
		{"run", "SPEC", "runs a pipeline; then prints the verdict and the table", (*app).run, runHelp},
		{"lint", "SPEC...", "finds every problem of specs; opens nothing", (*app).lint, lintHelp},
		{"kinds", "[KIND]", "lists the kinds of stages, or one kind's fields", (*app).kinds, kindsHelp},
		{"graph", "SPEC", "draws a pipeline", (*app).graph, graphHelp},
		{"inspect", "SPEC [--at ID]", "shows the memory it takes, or a stage's first item", (*app).inspect, inspectHelp},
		{"compare", "A B", "sets two reports, or two sets of them, side by side", (*app).compare, compareHelp},
		{"profile", "SPEC", "measures what each part of a pipeline could do", (*app).profile, profileHelp},
		{"tune", "SPEC --out DIR", "finds better settings by measuring", (*app).tune, tuneHelp},
		{"whatif", "REPORT [Q...]", "says what other machines and settings would bring", (*app).whatIf, whatIfHelp},
		{"doctor", "[SPEC]", "tells what this machine gives, or a pipeline needs", (*app).doctor, doctorHelp},
		{"synth", "images DIR", "makes a small data set, to try things out", (*app).synth, synthHelp},
	}
}

func (a *app) main(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(a.err, overview())
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return a.help(args[1:])
	case "version", "-version", "--version":
		fmt.Fprintln(a.out, "penstock", version())
		return exitDone
	}
	var names []string
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(a, args[1:])
		}
		names = append(names, c.name)
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := registry.Near(args[0], append(names, "help", "version")); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return a.usage("", msg)
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// usage reports a wrong command line.
func (a *app) usage(command, msg string) int {
	help := "penstock help"
	if command != "" {
		command += ": "
		help += " " + strings.TrimSuffix(command, ": ")
	}
	fmt.Fprintf(a.err, "penstock: %s%s\nsee: %s\n", command, msg, help)
	return exitUsage
}

// fail reports what went wrong while a command was at work.
func (a *app) fail(err error) int {
	fmt.Fprintf(a.err, "penstock: %s\n", message(err))
	return exitFailed
}

// flags is a flag set that reports in our own words.
type flags struct {
	*flag.FlagSet
}

func newFlags(name string) *flags {
	f := &flags{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

var errHelp = errors.New("help")

// parse takes options before and after the other arguments, which it returns.
func (f *flags) parse(args []string) (rest []string, err error) {
	for len(args) > 0 {
		if args[0] == "--" {
			return append(rest, args[1:]...), nil
		}
		if !strings.HasPrefix(args[0], "-") || args[0] == "-" {
			rest, args = append(rest, args[0]), args[1:]
			continue
		}
		if err := f.known(args[0]); err != nil {
			return nil, err
		}
		if err := f.Parse(args); err != nil {
			return nil, f.plain(err)
		}
		args = f.Args()
	}
	return rest, nil
}

// known finds options that do not exist before package flag does, to say more about them.
func (f *flags) known(arg string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if name == "help" || name == "h" {
		return errHelp
	}
	if f.Lookup(name) != nil {
		return nil
	}
	var names []string
	f.VisitAll(func(x *flag.Flag) { names = append(names, x.Name) })
	if near := registry.Near(name, names); near != "" {
		return fmt.Errorf("unknown option --%s; did you mean --%s?", name, near)
	}
	return fmt.Errorf("unknown option --%s", name)
}

// plain takes package flag's way of writing out of a message.
func (f *flags) plain(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return errHelp
	}
	msg := strings.NewReplacer("flag needs an argument: -", "a value is missing after --", "for flag -", "for --",
		"invalid boolean value", "wrong value", "invalid value", "wrong value").Replace(err.Error())
	return errors.New(msg)
}

// begin parses a command line; done says that the command has ended with code.
func (a *app) begin(f *flags, args []string) (rest []string, code int, done bool) {
	rest, err := f.parse(args)
	switch {
	case errors.Is(err, errHelp):
		return nil, a.help([]string{f.Name()}), true
	case err != nil:
		return nil, a.usage(f.Name(), err.Error()), true
	}
	return rest, 0, false
}

// texts is an option that may be given several times.
type texts []string

func (t *texts) String() string { return strings.Join(*t, " ") }

func (t *texts) Set(s string) error {
	*t = append(*t, s)
	return nil
}
