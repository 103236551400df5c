package graph

import (
	"fmt"
	"math"
	"time"
)

// Time is a length of time that is fixed or drawn from a distribution. The zero value is no time at all.
type Time struct {
	// Shape is "" or "fixed", "normal" (A mean, B standard deviation), "lognormal" (A mean, Sigma of the logarithm) or
	// "uniform" (A to B).
	Shape string
	A, B  time.Duration
	Sigma float64
}

// Fixed is always d.
func Fixed(d time.Duration) Time { return Time{A: d} }

// NormalTime is normally distributed, cut off at 0.
func NormalTime(mean, stddev time.Duration) Time { return Time{Shape: "normal", A: mean, B: stddev} }

// LognormalTime has this mean; sigma is the standard deviation of its logarithm.
func LognormalTime(mean time.Duration, sigma float64) Time {
	return Time{Shape: "lognormal", A: mean, Sigma: sigma}
}

// UniformTime lies between min and max.
func UniformTime(min, max time.Duration) Time { return Time{Shape: "uniform", A: min, B: max} }

// Check refuses negative times and unknown shapes.
func (t Time) Check() error {
	switch t.Shape {
	case "", "fixed", "normal", "lognormal", "uniform":
	default:
		return fmt.Errorf("unknown distribution %q, wanted fixed, normal, lognormal or uniform", t.Shape)
	}
	if t.A < 0 || t.B < 0 || t.Sigma < 0 || math.IsNaN(t.Sigma) || math.IsInf(t.Sigma, 0) {
		return fmt.Errorf("a time must not be negative, got %v", t)
	}
	if t.Shape == "uniform" && t.B < t.A {
		return fmt.Errorf("uniform time: min %v is above max %v", t.A, t.B)
	}
	return nil
}

// Draw takes one length.
func (t Time) Draw(r *Rand) time.Duration {
	switch t.Shape {
	case "normal":
		return max(0, t.A+time.Duration(r.Normal()*float64(t.B)))
	case "lognormal":
		mu := math.Log(float64(t.A)) - t.Sigma*t.Sigma/2
		return time.Duration(math.Exp(mu + t.Sigma*r.Normal()))
	case "uniform":
		return t.A + time.Duration(r.Float64()*float64(t.B-t.A))
	}
	return t.A
}

// String is the form of a spec: "5ms", "normal(5ms, 1ms)".
func (t Time) String() string {
	switch t.Shape {
	case "normal", "uniform":
		return fmt.Sprintf("%s(%v, %v)", t.Shape, t.A, t.B)
	case "lognormal":
		return fmt.Sprintf("lognormal(%v, %g)", t.A, t.Sigma)
	}
	return t.A.String()
}
