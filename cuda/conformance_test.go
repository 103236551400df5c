package cuda_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest"
)

func TestTheEmulatedDeviceConforms(t *testing.T) {
	var last *cuda.Emulated
	devicetest.Run(t, devicetest.Case{
		Open: func(t testing.TB) cuda.Device {
			d, err := cuda.NewEmulated(cuda.Emulation{Rate: 0.2e9, Memory: 1 << 30})
			require.NoError(t, err)
			last = d
			return d
		},
		Left: func() string {
			if s := last.Stats(); s.Used != 0 || s.Locked != 0 || s.Events != 0 || s.Streams != 0 || s.Races != 0 {
				return fmt.Sprintf("%+v", s)
			}
			return ""
		},
	})
}
