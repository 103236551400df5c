package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest"
)

func TestTheEmulatedDeviceConforms(t *testing.T) {
	var last *cuda.Emulated
	delays := rand.New(rand.NewPCG(7, 8))
	devicetest.Run(t, devicetest.Case{
		Open: func(t testing.TB) cuda.Device {
			d, err := cuda.NewEmulated(cuda.Emulation{Rate: 0.2e9, Memory: 1 << 30, Watch: true})
			require.NoError(t, err)
			last = d
			return d
		},
		Left: func(lost bool) string {
			if s := last.Stats(); s.Used != 0 && !lost || s.Locked != 0 || s.Events != 0 || s.Streams != 0 {
				return fmt.Sprintf("%+v", s)
			}
			return ""
		},
		Races: func() int64 { return last.Stats().Races },
		Storm: func(t testing.TB, r *rand.Rand) (cuda.Device, bool) {
			op, nth := []string{"alloc", "lock", "event", "copy", "spin", "none"}[r.IntN(6)], 1+r.Int64N(200)
			code := []int{700, 719}[r.IntN(2)] // what fails when it is carried out loses the context
			if op != "copy" && op != "spin" {
				code, nth = 2, 1+nth%8
			}
			d, err := cuda.NewEmulated(cuda.Emulation{Memory: 1 << 30, Watch: true,
				Late:  func() time.Duration { return time.Duration(delays.Int64N(int64(50 * time.Microsecond))) },
				Fault: func(o string, n int64) int { return map[bool]int{true: code}[o == op && n == nth] },
			})
			require.NoError(t, err)
			last = d
			return d, op == "none"
		},
	})
}
