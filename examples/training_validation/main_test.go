package main

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var line = regexp.MustCompile(`epoch (\d): (\d+) of 96 right; the budget of both is 16 MiB, exceeded by 0 bytes`)

func TestTheModelIsMeasuredAfterEachEpochWithinOneBudget(t *testing.T) {
	var out strings.Builder
	require.NoError(t, fit(context.Background(), &out, 3, 240))
	epochs := line.FindAllStringSubmatch(out.String(), -1)
	require.Len(t, epochs, 3, out.String())
	right, err := strconv.Atoi(epochs[2][2])
	require.NoError(t, err)
	require.Greater(t, right, 48, "a guess is right for 24")
}
