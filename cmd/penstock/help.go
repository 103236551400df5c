package main

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

func overview() string {
	var b strings.Builder
	b.WriteString("Penstock runs input pipelines for model training and says which stage starves the\naccelerator.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  penstock %-8s %-13s %s\n", c.name, c.args, c.summary)
	}
	b.WriteString(`  penstock version                prints the version
  penstock help     [COMMAND]     this text, or all about a command
  penstock help     spec          how a spec is written: keys, defaults, limits

Results go to standard output, progress and messages to standard error.
Exit codes: 0 done, 1 the run failed, 2 the command line or the spec is wrong,
3 a gate failed, 130 interrupted, 143 terminated. Nothing is sent anywhere.
`)
	return b.String()
}

func (a *app) help(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(a.out, overview())
		return exitDone
	}
	if args[0] == "spec" {
		fmt.Fprint(a.out, specHelp())
		return exitDone
	}
	names := []string{"spec"}
	for _, c := range commands() {
		if c.name == args[0] {
			fmt.Fprintf(a.out, "penstock %s %s: %s.\n%s", c.name, c.args, c.summary, c.help)
			return exitDone
		}
		names = append(names, c.name)
	}
	msg := fmt.Sprintf("there is no help on %q", args[0])
	if near := registry.Near(args[0], names); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return a.usage("", msg)
}

const setHelp = `
  --set KEY=VALUE     overrides a key of the pipeline: seed=9, epochs=forever,
                      budget.memory=1GiB
  --set ID.KEY=VALUE  overrides a key or a field of a stage: decode.workers=8,
                      collate.size=32, train.step={normal: {mean: 5ms, stddev: 1ms}}
                      May be given several times; of one key the last wins.
                      Paths in it are relative to the working folder.
`

var runHelp = fmt.Sprintf(`
SPEC is a file, or - for standard input. One line of progress is kept up to date
on standard error; where that is not a terminal, a line is written every ten
seconds. At the end the verdict and the table go to standard output.
`+setHelp+`  --batches N         ends the run when the sink has taken N items; at least 1
  --seconds S         stops the sources after S seconds; what is in flight is
                      still delivered
  --warmup N          counts the first N deliveries as start-up, not as steady
                      state; default 0
  --sync              one goroutine, one item at a time, nothing fused: for
                      debugging, and as a baseline; the digest stays the same
  --no-auto           leaves workers, buffers and windows that are auto as they
                      begin. Without it they move while the run goes on, and the
                      report says what moved, why, and what it brought
  --no-fuse           keeps stages apart that would be joined
  --no-digest         leaves the hashing of samples out
  --report FILE       writes a report; .html, .json, .md or .txt picks the form; may
                      be given several times. FILE appears whole or not at all. A
                      .html is one file that needs nothing else: the verdict, who
                      worked when, what was waited for, every figure as a table
  --listen ADDR       serves that page while the run goes on, which then keeps itself
                      up to date; metrics for Prometheus at /metrics; the report at
                      /report.json; profiles at /debug/pprof/, where each goroutine
                      bears pipeline, stage and worker as labels. Only reading. ADDR
                      is HOST:PORT; without HOST only this machine is served; port 0
                      takes a free one
  --trace FILE.json   writes what each worker did, for Perfetto: its states with the
                      items, the queues, the waits of the sink with arrows from what
                      caused them. It holds the first %d spans, about 20 MB of
                      memory; the report warns when there were more
  --watchdog TIME     when nothing has moved for TIME although the sink waits, writes
                      the state of every queue, who waits for whom, the oldest item
                      and where its stage's workers are; default 2m, 0s is off
  --strict            fails where the run would go on with less than it should have,
                      which else is a warning: less than one core, no AVX2, no huge
                      pages, a budget with room for fewer batches or side indexes
  --root DIR          reads nothing outside of DIR: a path of the spec that leads out,
                      itself or by a link, is an error, and a link in a data set is
                      left out and counted. For specs and data of others; see
                      docs/security.md. What the options here name is not bound
  --quarantine FILE   adds a line for each skipped item to FILE, as it happens: a
                      JSON object with key, stage, error, attempt (from 1), offset
                      (in the item's bytes, null if unknown), epoch and place. A
                      folder takes FILE as its exclude. A key that is no valid
                      UTF-8 stands in key_bytes too, in base64
  --state FILE        keeps the state of the run in FILE, so that another run can go
                      on from there. FILE is always one whole state
  --every N           writes the state after each N items that the sink has taken,
                      at least 1, default %d, and at the end, however it comes. The
                      next item waits until the state is on the disk
  --resume            goes on from the state in FILE: the stream is that of a run
                      that was never interrupted, whatever the workers. Without
                      FILE it starts at the beginning and says so. A state of
                      another spec or of other data is refused, with what changed.
                      With order: completion nothing is lost either, but what was
                      delivered out of order before the state comes again
  --force             takes such a state all the same; the report says so

The first %d skipped items are told on standard error, with stage, key and reason;
then they are counted.
An interrupt (Ctrl-C) stops the sources and lets what is in flight be delivered;
a second one, or SIGTERM, drops it. In all cases report, state and quarantine are
still written.
The garbage collector is told to stay below nine tenths of the container's
memory limit, and near budget.memory if that is set; GOMEMLIMIT goes first.
`, traceSpans, defaultEvery, tellMost)

const lintHelp = `
Prints one line per problem, by position, and opens nothing but the specs:

  train.yaml:9:25: stage "collate": size must be at least 1, got 0 [field_range]

Lines and columns count from 1, columns in characters. The word in brackets is
stable; docs/diagnostics.md explains each. Warnings do not change the exit code,
which is 2 if there is an error, else 0. - is standard input.
` + setHelp

const kindsHelp = `
  --schema            prints a JSON Schema (draft 7) of specs, for editors
`

const inspectHelp = `
Runs the pipeline until its first deliveries have shown how large items are and
which stage is the slowest, and prints how much memory it will hold: on the way
of each stage, in batches, in caches; and how much while the sink makes a pause.
A run prints the same sum, and its report sets it beside what was then held. The
sink runs as well.

With --at it runs it in one goroutine until the stage has made its first item,
and shows that: key, place, bytes; of each field the shape, type, bytes, least,
mean and largest number, and the first values; of a batch also its first rows,
one by one. Nothing below the stage is opened.

  --at ID             the stage; not a sink, which makes nothing
  --root DIR          reads nothing outside of DIR, as for run
` + setHelp

const synthHelp = `
Writes JPEG pictures into DIR/class_00, DIR/class_01 and so on. DIR must not
exist, or be empty; it appears when all is written. The same options give the
same bytes on every machine.

  --count N           pictures; 1 to 10000000, default 600
  --classes N         folders; 1 to 10000, default 6
  --width N           mean width in pixels; 1 to 8192, default 320
  --height N          mean height in pixels; 1 to 8192, default 240
  --seed N            another seed gives other pictures; default 0
`

// specHelp is the language in full. docs/reference/spec.md is made of it.
func specHelp() string {
	return fmt.Sprintf(`A spec is one YAML document:

  pipeline: flowers
  seed: 7
  epochs: 3
  budget: {cpu: 80%%, memory: 2GiB}
  stages:
    - {id: read,    folder: {root: data/train}, sampler: shuffled, workers: 4}
    - {id: decode,  decode_image: {}, workers: 8, buffer: 64}
    - {id: crop,    random_resized_crop: {size: 224}}
    - {id: collate, collate: {size: 64}}
    - {id: train,   accelerator: {step: 30ms}}

Keys of the pipeline

  pipeline   its name, 1 to 100 bytes; required
  seed       what all randomness comes from: 0 to 2^64-1, exact; default 0
  epochs     how often the data is gone through: a number from 1, or forever;
             default 1
  rank       number of this process in a job of several, from 0; needs world
  world      number of the job's processes. Where rank is not given, RANK and
             WORLD_SIZE say both, else SLURM_PROCID and SLURM_NTASKS, or
             JOB_COMPLETION_INDEX says the rank. Default: one process
  uneven     what becomes of samples that do not divide by the ranks: pad repeats
             the epoch's first ones, drop leaves out the last ones, keep lets some
             ranks have one more. Default pad
  steps_per_epoch
             deliveries of the sink in an epoch: data that run out are gone
             through again, what is left of them is left out. Default: as the
             data have it. docs/ranks.md tells more
  budget     cpu: a share of the cores that the container leaves, more than 0%%
             and at most 100%%, default 100%%. memory: most bytes of batches and
             of samples in flight, default half the container's limit
  stages     the list of stages, 1 to %d; required

Keys of a stage. The one other key is the kind, with a map of its fields or
nothing behind it; penstock kinds lists the kinds.

  id         its name: small letters, digits and single _ between them, at most
             64; not a key of the pipeline; required
  from       the stage whose items it takes, or a list of them for merge;
             default the stage above. Each output is taken by one stage. A
             pipeline has any number of sources and one sink.
  workers    goroutines: 1 to %d, or auto; default auto. Not for merge and sinks
  buffer     capacity of the output queue in items: 1 to %d, or auto;
             default auto
  window     how far finished items may run ahead of the oldest unfinished one:
             1 to %d, or auto, which opens once the next
             stage has had to wait; default auto
  order      of the output: input or completion; default input
  on_error   fail ends the run; skip leaves the item out, tells it and counts it;
             {skip: {max_count: N, max_rate: 0.01}} bounds that: one more than N,
             or a larger share of the items from the hundredth on, ends the run.
             Default fail. Not for merge and sinks
  retry      {attempts: 3, backoff: 100ms}: tries an item again whose error may
             pass (a timeout, a busy system): 1 to %d attempts in all, default 3;
             a pause before the second, default 100ms, which doubles with each
             and is shortened by up to half at random. Not for merge and sinks
  timeout    longest time of one call for one item, such as 500ms; longer is an
             error. A call that does not end then is left behind and counted;
             more of them than the stage has workers end the run. Default none.
             Not for merge and sinks
  sampler    order in which a source is read; default sequential. NAME, or
             {NAME: {FIELDS}} for one with fields, of which {NAME: X} gives the
             first: shuffled, {replacement: 1000}, {class_balanced: {batch: 64}}.
             penstock kinds lists the samplers

cache is reserved; it is refused until it is built.

Values

  whole number   decimal digits, exact to 64 bits: 4.0, 1e3, +4, 1_000, 0777, 0x1F
                 and "4" are refused, with the form to write
  number         may have a point and an exponent: 0.5, 1e-3
  true, false    on, yes and their like are refused
  text           in quotes where it looks like a number or a truth value
  time           with a unit: 5ms, 1.5s (ns, us, ms, s, m, h); or drawn:
                 {normal: {mean: 5ms, stddev: 1ms}},
                 {lognormal: {mean: 5ms, sigma: 0.5}}, {uniform: {min: 1ms, max: 9ms}}
  size           with a unit: 64MiB (KiB, MiB, GiB, TiB are powers of 1024, KB, MB,
                 GB, TB of 1000; B is one byte)
  list           a single value is a list of one
  path           relative to the folder of the spec; from standard input and in
                 --set to the working folder; a name with :// is left alone

Nothing, ~ and null are refused: leave the key out for the default. A 0 is a 0.
${NAME} and ${NAME:-default} stand for environment variables, as in a shell; a
variable that is not set and has no default is an error; $${ is a plain ${. Inside
{ } and [ ] put it in quotes. Such a value, and that of --set, fits whatever its
field takes. Anchors and aliases work; tags, merge keys and several documents are
refused.

Limits: %s of text, %d values (aliases count each time), %d levels.
`, spec.MaxStages, graph.MaxWorkers, graph.MaxBuffer, graph.MaxBuffer, graph.MaxAttempts, registry.FormatSize(spec.MaxBytes), spec.MaxValues, spec.MaxDepth)
}
