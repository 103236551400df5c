package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heavies are specs whose memory lies in different places. Their sinks are slow, so that queues are full.
var heavies = map[string]string{
	"pictures": `
  - {id: read, synthetic_images: {count: 400, width: 160, height: 120}, workers: 2, buffer: 16}
  - {id: decode, decode_image: {}, workers: 2, buffer: 16}
  - {id: crop, random_resized_crop: {size: 96}}
  - {id: pack, collate: {size: 8}}
  - {id: pin, pin: {}}
  - {id: copy, device_copy: {device: "emu:pcie5x16"}}
  - {id: train, accelerator: {step: 25ms}}
`,
	"large buffers": `
  - {id: read, synthetic_images: {count: 400, width: 160, height: 120}, workers: 2, buffer: 60}
  - {id: decode, decode_image: {}, workers: 2, buffer: 100, window: 64}
  - {id: train, accelerator: {step: 2ms}}
`,
	"rows": `
  - {id: read, synthetic_images: {count: 9000, width: 16, height: 16}, workers: 2, buffer: 200, window: 64}
  - {id: take, select: {fields: [image]}, workers: 2, buffer: 500, window: 64}
  - {id: train, accelerator: {step: 1ms}}
`,
	"a cache": `
  - {id: read, synthetic_images: {count: 160, width: 160, height: 120}, workers: 2, buffer: 8}
  - {id: decode, decode_image: {}, workers: 2, buffer: 8}
  - {id: keep, memory_cache: {limit: 8MiB}, buffer: 8, window: 8}
  - {id: crop, random_resized_crop: {size: 96}}
  - {id: pack, collate: {size: 8}}
  - {id: train, accelerator: {step: 20ms}}
`,
}

// memoryDoc is what a report says of memory.
type memoryDoc struct {
	Memory struct {
		HeldPeak      *int64 `json:"held_peak_bytes"`
		EstimateBytes *int64 `json:"estimate_bytes"`
		Peak          *int64 `json:"peak_rss_bytes"`
		Detail        struct {
			Resident *int64 `json:"resident_bytes"`
		} `json:"estimate"`
	}
}

func readMemory(t *testing.T, file string) (d memoryDoc) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	require.NotNil(t, d.Memory.EstimateBytes, string(text))
	return d
}

// What a run says at its beginning that it will hold, it then holds, within 20 %.
func TestARunHoldsTheMemoryThatItSaidItWould(t *testing.T) {
	for name, stages := range heavies {
		batches := map[string]string{"pictures": "28", "large buffers": "300", "rows": "600", "a cache": "36"}[name]
		t.Run(name, func(t *testing.T) {
			file, out := write(t, "x.yaml", "pipeline: x\nepochs: 3\nstages:"+stages), filepath.Join(t.TempDir(), "r.json")
			r := penstock(t, "run", file, "--batches", batches, "--report", out)
			require.Equal(t, exitDone, r.code, r.err)
			assert.Contains(t, r.err, "penstock: memory: about ")
			assert.Contains(t, r.out, "all of it")
			m := readMemory(t, out).Memory
			assert.InEpsilon(t, *m.HeldPeak, *m.EstimateBytes, 0.2, r.out)
		})
	}
}

func TestInspectPrintsWhatMemoryWillBeHeld(t *testing.T) {
	r := penstock(t, "inspect", write(t, "x.yaml", "pipeline: x\nepochs: 3\nstages:"+heavies["a cache"]))
	require.Equal(t, exitDone, r.code, r.err)
	for _, want := range []string{"memory: about ", " of batches, 8 MiB in caches", "read    queue and workers", "pack    batches", "keep    cache"} {
		assert.Contains(t, r.out, want)
	}
	r = penstock(t, "inspect", write(t, "x.yaml", "pipeline: x\nstages:\n  - {id: read, range: {count: 5}}\n  - {id: end, discard: {}}\n"))
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "the pipeline was over after 5 samples, before its memory could be estimated")
}

// The process itself is within 20 % of its estimate: PENSTOCK_MEMORY is a built runner. The collector is told not to let
// the heap grow far, so that the figure is one of what is held.
func TestTheProcessTakesWhatWasEstimated(t *testing.T) {
	runner := os.Getenv("PENSTOCK_MEMORY")
	if runner == "" {
		t.Skip("a long test: PENSTOCK_MEMORY names a built runner")
	}
	for name, stages := range map[string]string{
		"pictures": `
  - {id: read, synthetic_images: {count: 4000, width: 320, height: 240}, workers: 2, buffer: 64}
  - {id: decode, decode_image: {}, workers: 2, buffer: 400, window: 64}
  - {id: crop, random_resized_crop: {size: 224}, workers: 1, buffer: 200}
  - {id: normalize, normalize: {}, workers: 1, buffer: 200}
  - {id: pack, collate: {size: 64}, buffer: 4}
  - {id: train, accelerator: {step: 300ms}}
`,
		"a cache": `
  - {id: read, synthetic_images: {count: 4000, width: 320, height: 240}, workers: 2, buffer: 64}
  - {id: decode, decode_image: {}, workers: 2, buffer: 64}
  - {id: keep, memory_cache: {limit: 600MiB}, buffer: 8, window: 8}
  - {id: crop, random_resized_crop: {size: 96}}
  - {id: pack, collate: {size: 64}}
  - {id: train, accelerator: {step: 10ms}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			file, out := write(t, "x.yaml", "pipeline: x\nepochs: 2\nstages:"+stages), filepath.Join(t.TempDir(), "r.json")
			c := exec.CommandContext(t.Context(), runner, "run", file, "--seconds", "25", "--report", out)
			c.Env = append(os.Environ(), "GOGC=15")
			text, err := c.CombinedOutput()
			require.NoError(t, err, string(text))
			m := readMemory(t, out).Memory
			assert.InEpsilon(t, *m.Peak, *m.Detail.Resident, 0.2, string(text))
			assert.InEpsilon(t, *m.HeldPeak, *m.EstimateBytes, 0.2, string(text))
		})
	}
}
