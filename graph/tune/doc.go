// Package tune finds settings. It predicts what a pipeline would do elsewhere or with other settings, from the report of
// one run: by a formula over means ([Profile.Predict], [Profile.Allocate]) and by a simulation over the recorded times
// ([Simulate]), which knows jitter, windows and bursts too. Everything here is a pure function of its arguments.
//
//	p, err := tune.Read(reportJSON)               // what run --report r.json wrote
//	if err != nil {
//		return err
//	}
//	q, err := tune.ParseQuestion("cores=2x,decode.workers=16")
//	if err != nil {
//		return err
//	}
//	if p, err = q.Apply(p); err != nil {
//		return err
//	}
//	fmt.Println(p.Predict(), tune.Simulate(p, tune.Options{}).Rate)
package tune
