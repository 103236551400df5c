package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/tune/doctor"
)

// slowed is starved by its source, by a factor that no other program on the machine can hide.
const slowed = `pipeline: slowed
epochs: forever
stages:
  - {id: read, slow: {count: 200, delay: 10ms}, workers: 1}
  - {id: pack, collate: {size: 4}, workers: 1}
  - {id: end,  accelerator: {step: 5ms}}
`

func TestDoctorExaminesASpec(t *testing.T) {
	r := penstock(t, "doctor", write(t, "slowed.yaml", slowed), "--seconds", "4", "--format", "json")
	require.Equal(t, exitDone, r.code, r.err)
	var x doctor.Examination
	require.NoError(t, json.Unmarshal([]byte(r.out), &x))
	require.NotEmpty(t, x.Actions, r.out)
	assert.Equal(t, "read", x.Actions[0].Stage)
	assert.Equal(t, "workers", x.Actions[0].Knob)
	require.NotNil(t, x.Actions[0].Measured)
	assert.Greater(t, *x.Actions[0].Measured, 2*x.Before)
	assert.Contains(t, r.err, "run 1 of at most 5, each of at most 0.8 s: as it is")
	assert.Contains(t, r.err, ": --set read.workers=")
	assert.Contains(t, x.Limits, "the accelerator is emulated: its step is what the spec says, not what a device takes")
}

func TestDoctorReadsASpecFromStandardInput(t *testing.T) {
	var out, msg strings.Builder
	a := testApp(t, &out, &msg)
	a.in = strings.NewReader(slowed)
	require.Equal(t, exitDone, a.main([]string{"doctor", "-", "--seconds", "1.5", "--set", "end.step=500ms", "--set", "read.workers=8"}), msg.String())
	assert.Contains(t, out.String(), "1. Is the sink waiting? ")
	assert.Contains(t, out.String(), "\nactions\n")
}

func TestWrongExaminationsAreRefused(t *testing.T) {
	file := write(t, "slowed.yaml", slowed)
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"wanted one spec, or none, got 2", exitUsage, []string{file, file}},
		{"--seconds must be more than 0", exitUsage, []string{file, "--seconds", "0"}},
		{`wanted text or json, got "html"`, exitUsage, []string{file, "--format", "html"}},
		{"[unknown_stage]", exitUsage, []string{file, "--set", "raed.workers=3"}},
		{"no such file", exitUsage, []string{"gone.yaml"}},
		{"no such file", exitFailed, []string{write(t, "f.yaml", "pipeline: x\nstages:\n  - {id: read, folder: {root: gone}}\n  - {id: end, discard: {}}\n")}},
	} {
		r := penstock(t, append([]string{"doctor"}, c.args...)...)
		assert.Equal(t, c.code, r.code, "%s: %s", c.want, r.err)
		assert.Contains(t, r.err, c.want)
		assert.Empty(t, r.out)
	}
}
