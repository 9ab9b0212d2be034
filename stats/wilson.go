package stats

import "math"

// Wilson returns the score interval, without continuity correction, for the share of n
// independent trials of which pass succeeded. confidence is between 0 and 1, such as
// 0.95. Without trials, or with an invalid confidence, the interval is 0 to 1. It keeps
// its coverage for small n and for shares near 0 and 1, where the textbook interval
// (share ± z·SE) collapses to a point.
//
// Sources: E. B. Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", JASA 22 (1927) 209-212; recommended for small n by
// L. D. Brown, T. T. Cai and A. DasGupta, "Interval Estimation for a Binomial
// Proportion", Statistical Science 16 (2001) 101-133.
func Wilson(pass, n int, confidence float64) Interval {
	z, err := quantile(confidence)
	if n <= 0 || err != nil {
		return Interval{Low: 0, High: 1}
	}
	pass = min(max(pass, 0), n)
	return wilson(float64(pass)/float64(n), float64(n), z)
}

// WilsonEffective returns the score interval for a share estimated from a weighted sample
// that is as precise as n independent trials. For weights w, n is Kish's effective size
// (Σw)² / Σw², which need not be whole.
//
// Sources: L. Kish, "Survey Sampling" (1965) section 11.7; C. Franco, R. J. A.
// Little, T. A. Louis and E. V. Slud, "Comparative Study of Confidence Intervals
// for Proportions in Complex Sample Surveys", Journal of Survey Statistics and
// Methodology 7 (2019) 334-364, where the modified Wilson interval holds up best.
func WilsonEffective(share, n, confidence float64) (Interval, error) {
	z, err := quantile(confidence)
	switch {
	case err != nil:
		return Interval{}, err
	case !(share >= 0 && share <= 1):
		return Interval{}, inputError("share %v is not between 0 and 1", share)
	case !(n > 0) || math.IsInf(n, 1):
		return Interval{}, inputError("effective size %v", n)
	}
	return wilson(share, n, z), nil
}

// wilson is the score interval for a share of n trials, 0 to 1 for none.
func wilson(share, n, z float64) Interval {
	if n <= 0 {
		return Interval{Low: 0, High: 1}
	}
	z2 := z * z
	scale := 1 + z2/n
	middle := (share + z2/(2*n)) / scale
	half := z / scale * math.Sqrt(share*(1-share)/n+z2/(4*n*n))
	i := Interval{Low: middle - half, High: middle + half}.clamp(0, 1, share)
	// At the ends one bound is exactly the share; rounding must not move it.
	if share == 0 {
		i.Low = 0
	}
	if share == 1 {
		i.High = 1
	}
	return i
}
