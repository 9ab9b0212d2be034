package stats

import "gonum.org/v1/gonum/mathext"

// UpperJeffreys returns the upper confidence limit of a share: a quantile of the posterior
// under Jeffreys' prior. It is 1 if all passed.
//
// Source: L. D. Brown, T. T. Cai and A. DasGupta, "Interval Estimation for a Binomial
// Proportion", Statistical Science 16 (2001) 101-133; T. T. Cai, "One-sided confidence
// intervals in discrete distributions", Journal of Statistical Planning and Inference 131
// (2005) 63-88.
func UpperJeffreys(c Count, confidence float64) (float64, error) {
	if err := c.check("share"); err != nil {
		return 0, err
	}
	if !(confidence > 0 && confidence < 1) {
		return 0, inputError("confidence %v is not between 0 and 1", confidence)
	}
	if c.Pass == c.N {
		return 1, nil
	}
	return max(c.Share(), mathext.InvRegIncBeta(float64(c.Pass)+0.5, float64(c.N-c.Pass)+0.5, confidence)), nil
}
