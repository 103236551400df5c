package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/spec"
)

// launchers are the variables in which a process finds its rank and its world, in the order in which they are asked.
var launchers = [][2]string{{"RANK", "WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}}

// indexed is set to the rank alone, by jobs whose size stands elsewhere.
const indexed = "JOB_COMPLETION_INDEX"

// placeInJob tells a pipeline which process of a job it is, where the spec does not say it.
func (a *app) placeInJob(s *spec.Spec) error {
	if s.Ranked {
		return nil
	}
	rank, world, by, err := placeByLauncher(s.World)
	switch {
	case err != nil:
		return err
	case by == "" && s.World > 1:
		return fmt.Errorf("the spec has world: %d, but nothing says which rank this is; set RANK and WORLD_SIZE, or rank", s.World)
	case by == "":
		return nil
	case s.World > 0 && s.World != world:
		return fmt.Errorf("the spec has world: %d, but %s says %d", s.World, by, world)
	case world < 1 || world > graph.MaxWorld || rank < 0 || rank >= world:
		return fmt.Errorf("%s: rank %d is outside a world of %d", by, rank, world)
	}
	s.Pipeline.With(graph.Rank(rank, world))
	if world > 1 {
		fmt.Fprintf(a.err, "penstock: rank %d of %d, by %s\n", rank, world, by)
	}
	return nil
}

// placeByLauncher reads the first pair of variables that is set; by is empty if none is.
func placeByLauncher(known int) (rank, world int, by string, err error) {
	for _, pair := range launchers {
		first, one := os.LookupEnv(pair[0])
		second, other := os.LookupEnv(pair[1])
		switch {
		case one && other:
			by = pair[0] + " and " + pair[1]
			if rank, err = readVariable(pair[0], first); err == nil {
				world, err = readVariable(pair[1], second)
			}
			return rank, world, by, err
		case one || other:
			set, unset := pair[0], pair[1]
			if other {
				set, unset = unset, set
			}
			return 0, 0, "", fmt.Errorf("%s is set, but %s is not; a launcher sets both: set it, or unset the other", set, unset)
		}
	}
	index, ok := os.LookupEnv(indexed)
	if !ok {
		return 0, 0, "", nil
	}
	if known == 0 {
		return 0, 0, "", fmt.Errorf("%s is set, but not how many processes the job has; give world in the spec, or --set world=N", indexed)
	}
	rank, err = readVariable(indexed, index)
	return rank, known, indexed, err
}

func readVariable(name, text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, wanted a whole number", name, text)
	}
	return int(n), nil
}
