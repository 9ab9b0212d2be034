package stats

import "math"

// Interval is a range that is expected to hold the true value.
type Interval struct {
	Low, High float64
}

// Wilson returns the score interval, without continuity correction, for the
// share of n independent trials of which pass succeeded. Confidence lies between
// 0 and 1, such as 0.95. Without trials nothing is known: the interval is 0 to 1.
// It keeps its coverage for small n and for shares near 0 and 1, where the
// textbook interval (share ± z·SE) collapses to a point.
//
// Sources: E. B. Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", JASA 22 (1927) 209-212; recommended for small n by
// L. D. Brown, T. T. Cai and A. DasGupta, "Interval Estimation for a Binomial
// Proportion", Statistical Science 16 (2001) 101-133.
func Wilson(pass, n int, confidence float64) Interval {
	if n <= 0 {
		return Interval{Low: 0, High: 1}
	}
	pass = min(max(pass, 0), n)
	z := math.Sqrt2 * math.Erfinv(confidence)
	total, p := float64(n), float64(pass)/float64(n)
	z2 := z * z
	scale := 1 + z2/total
	middle := (p + z2/(2*total)) / scale
	half := z / scale * math.Sqrt(p*(1-p)/total+z2/(4*total*total))
	i := Interval{Low: max(0, middle-half), High: min(1, middle+half)}
	// At the ends one bound is exactly the share; rounding must not move it.
	if pass == 0 {
		i.Low = 0
	}
	if pass == n {
		i.High = 1
	}
	return i
}
