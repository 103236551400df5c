package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const manyProcesses = `pipeline: job
stages:
  - {id: read, range: {count: 103}, sampler: shuffled}
  - {id: pack, collate: {size: 4}}
  - {id: end,  discard: {}}
`

func TestALauncherSaysWhichProcessOfAJobThisIs(t *testing.T) {
	file := write(t, "x.yaml", manyProcesses)
	for name, x := range map[string]struct {
		env  map[string]string
		set  []string
		rank float64
		say  string
	}{
		"torchrun":   {env: map[string]string{"RANK": "3", "WORLD_SIZE": "4", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, rank: 3, say: "rank 3 of 4, by RANK and WORLD_SIZE"},
		"srun":       {env: map[string]string{"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}, rank: 2, say: "rank 2 of 4, by SLURM_PROCID and SLURM_NTASKS"},
		"kubernetes": {env: map[string]string{"JOB_COMPLETION_INDEX": "1"}, set: []string{"--set", "world=4"}, rank: 1, say: "rank 1 of 4, by JOB_COMPLETION_INDEX"},
		"spec":       {env: map[string]string{"RANK": "3", "WORLD_SIZE": "9"}, set: []string{"--set", "world=4", "--set", "rank=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range x.env {
				t.Setenv(k, v)
			}
			js := filepath.Join(t.TempDir(), "r.json")
			r := penstock(t, append([]string{"run", file, "--report", js}, x.set...)...)
			require.Equal(t, exitDone, r.code, r.err)
			assert.Contains(t, r.err, x.say)
			var got struct {
				Rank, World float64
				Totals      struct{ Samples, Padded, Batches float64 }
			}
			text, err := os.ReadFile(js)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &got))
			assert.Equal(t, x.rank, got.Rank)
			assert.EqualValues(t, 4, got.World)
			padded := 0.0
			if x.rank == 3 {
				padded = 1
			}
			assert.Equal(t, padded, got.Totals.Padded)
			assert.Equal(t, 26-padded, got.Totals.Samples)
			assert.EqualValues(t, 7, got.Totals.Batches)
		})
	}
}

func TestHalfOfALaunchersPairIsRefused(t *testing.T) {
	file := write(t, "x.yaml", manyProcesses)
	for say, x := range map[string]struct {
		env map[string]string
		set []string
	}{
		"RANK is set, but WORLD_SIZE is not":                 {env: map[string]string{"RANK": "3"}},
		"SLURM_NTASKS is set, but SLURM_PROCID is not":       {env: map[string]string{"SLURM_NTASKS": "3"}},
		"give world in the spec, or --set world=N":           {env: map[string]string{"JOB_COMPLETION_INDEX": "0"}},
		`RANK is "first", wanted a whole number`:             {env: map[string]string{"RANK": "first", "WORLD_SIZE": "2"}},
		"rank 2 is outside a world of 2":                     {env: map[string]string{"RANK": "2", "WORLD_SIZE": "2"}},
		"has world: 3, but RANK and WORLD_SIZE says 2":       {env: map[string]string{"RANK": "0", "WORLD_SIZE": "2"}, set: []string{"--set", "world=3"}},
		"has world: 3, but nothing says which rank this is":  {set: []string{"--set", "world=3"}},
		"rank is given without world [missing_key]":          {set: []string{"--set", "rank=1"}},
		"rank must be from 0 to 2 in a world of 3, got 3 [f": {set: []string{"--set", "rank=3", "--set", "world=3"}},
	} {
		t.Run(say, func(t *testing.T) {
			for k, v := range x.env {
				t.Setenv(k, v)
			}
			r := penstock(t, append([]string{"run", file}, x.set...)...)
			require.Equal(t, exitUsage, r.code)
			assert.Contains(t, r.err, say)
		})
	}
}
