//go:build !unix

package host

import "time"

// CPUTime cannot be read on this system.
func CPUTime() time.Duration { return 0 }
