// Package meter is the engine's clockwork: what time it is, what each worker did with its time, what each slice of
// items went through, and whom to blame when the sink has waited. Stage authors never see it.
//
//	clock := meter.Start()
//	w := st.NewWorker(clock.Now())
//	...
//	now := clock.Now()
//	w.Spent(meter.Busy, now)
//
// Times are nanoseconds since the clock's start. Counters are atomic, so that a snapshot can be taken at any moment;
// everything else belongs to one worker or is guarded by the lock named at its side.
package meter
