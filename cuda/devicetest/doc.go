// Package devicetest is the suite that every back end for devices passes.
//
//	func TestItConforms(t *testing.T) {
//		devicetest.Run(t, devicetest.Case{Open: func(t testing.TB) cuda.Device { ... }})
//	}
//
// It judges by states, counters and what arrived, never by the clock.
package devicetest
