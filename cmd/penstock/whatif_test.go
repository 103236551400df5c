package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const aReport = "../../graph/tune/testdata/report.json"

func TestWhatIfAnswersFromOneReport(t *testing.T) {
	r := penstock(t, "whatif", aReport, "read.workers=4", "read=2x,train=4x", "accelerators=8")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Equal(t, `                  formula  limited by  simulated  gain    sink waits  p95 wait
measured                               126/s              68 %        44ms
as it is          125/s    read        126/s              68 %        44ms
read.workers=4    400/s    train       400/s      3.16 x  0 %         0s
read=2x,train=4x  250/s    read        254/s      2.01 x  84 %        27ms
accelerators=8    125/s    read        125/s      0.99 x  96 %        492ms
best workers      400/s    train       400/s      3.16 x  0 %         0s

best workers: read 1 -> 4; then train limits
they keep 0.36 of 4 cores busy
`, r.out)
}

func TestWhatIfAsksTheUsualWhereNothingIsAsked(t *testing.T) {
	r := penstock(t, "whatif", aReport, "--items", "50")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "cores=2x")
	assert.Contains(t, r.out, "read=2x")
	assert.NotContains(t, r.out, "cache=1TB", "the report does not tell bytes")
}

func TestWhatIfRefusesWhatItCannotAnswer(t *testing.T) {
	for want, args := range map[string][]string{
		"wanted a report in JSON":     {},
		"no such file":                {"nowhere.json"},
		`"main.go": not a report`:     {"main.go"},
		`no stage "decod"`:            {aReport, "decod=2x"},
		"wanted NAME=VALUE":           {aReport, "faster"},
		"--items must be at least 0":  {aReport, "--items", "-1"},
		"does not tell the bytes of ": {aReport, "cache=1GB"},
		"are set aside for an item":   {aReport, "memory=1GB"},
	} {
		r := penstock(t, append([]string{"whatif"}, args...)...)
		assert.Equal(t, exitUsage, r.code, want)
		assert.Contains(t, r.err, want)
	}
}

func TestTimesBeyondAllClocksStayTimes(t *testing.T) {
	assert.Equal(t, "2500000h0m0s", waitText(1e300))
}
