package main

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

var line = regexp.MustCompile(`epoch (\d): loss ([0-9.]+), (\d+) % right`)

func TestTheModelLearnsAndTheReportFollows(t *testing.T) {
	var out strings.Builder
	require.NoError(t, fit(context.Background(), &out, 3, 640))
	epochs := line.FindAllStringSubmatch(out.String(), -1)
	require.Len(t, epochs, 3, out.String())
	loss := func(i int) float64 {
		x, err := strconv.ParseFloat(epochs[i][2], 64)
		require.NoError(t, err)
		return x
	}
	assert.Less(t, loss(2), loss(0))
	right, err := strconv.Atoi(epochs[2][3])
	require.NoError(t, err)
	assert.Greater(t, right, 40, "a guess is right for 20 %% of the pictures")
	assert.Contains(t, out.String(), "training: 1,920 samples in 60 batches, 3 epochs")
}

func TestTheSameSeedLearnsTheSame(t *testing.T) {
	losses := func() []string {
		var out strings.Builder
		require.NoError(t, fit(context.Background(), &out, 2, 320))
		return line.FindAllString(out.String(), -1)
	}
	assert.Equal(t, losses(), losses())
}

func TestAnErrorNamesStageAndSampleAndTheReportIsPrinted(t *testing.T) {
	err := error(&graph.StageError{Stage: "decode", Key: "cat.jpg", Pos: item.Pos{Epoch: 2}, Err: errors.New("cut short")})
	assert.Equal(t, "stage decode cannot go on after sample cat.jpg of epoch 2: cut short", explain(err))
	assert.Equal(t, "stage read: no folder", explain(&graph.StageError{Stage: "read", Err: errors.New("no folder")}))

	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	var out strings.Builder
	w := writer(func(b []byte) (int, error) {
		cancel(why) // after the first epoch
		return out.Write(b)
	})
	assert.ErrorIs(t, fit(ctx, w, 50, 320), why)
	assert.Len(t, line.FindAllString(out.String(), -1), 1)
	assert.Contains(t, out.String(), "collate")
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
