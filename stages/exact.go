package stages

// The library's Exp and Log have assembly on some processors, whose last bits differ. These have not, and conversions of
// products to float64 keep compilers from fusing them with sums. Both are good to about 1e-13 for |x| below 10.

// exponential is e^x: the series of e^(x/1024), squared ten times.
func exponential(x float64) float64 {
	x /= 1024
	sum, term := 1.0, 1.0
	for k := 1.0; k <= 8; k++ {
		term = float64(term*x) / k
		sum += term
	}
	for range 10 {
		sum = float64(sum * sum)
	}
	return sum
}

// logarithm is the inverse of exponential, by Newton's method (Halley's form).
func logarithm(v float64) float64 {
	x := 0.0
	for range 40 {
		e := exponential(x)
		x += 2 * (v - e) / (v + e)
	}
	return x
}
