package stats

import "math"

// Kappa returns Cohen's kappa, the agreement of two raters beyond chance: 1 is perfect, 0
// is chance. The counts are the items that both passed, only the first passed, only the
// second passed, and neither passed. They need not be whole, so that weighted tables
// scaled to their effective size are valid. If both raters pass everything, or both fail
// everything, kappa is undefined, which is an error.
//
// The interval is that of the table with one more count in each cell, value ± z·SE
// within −1 and 1, with the large-sample variance of J. L. Fleiss, J. Cohen and
// B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
// Psychological Bulletin 72 (1969) 323-327. Counts that are added before Wald's
// formula make up for small samples: A. Agresti and B. A. Coull, "Approximate is
// better than 'exact' for interval estimation of binomial proportions", The American
// Statistician 52 (1998) 119-126; for two-by-two tables of pairs A. Agresti and
// Y. Min, "Simple improved confidence intervals for comparing matched proportions",
// Statistics in Medicine 24 (2005) 729-740. They matter most where raters never
// differ: the plain variance is then 0 and would claim certainty from three labels.
// TestCoverageOfKappa holds the coverage for kappa and compares it with the plain
// formula.
//
// Kappa: J. Cohen, "A coefficient of agreement for nominal scales", Educational
// and Psychological Measurement 20 (1960) 37-46.
func Kappa(both, onlyFirst, onlySecond, neither, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err != nil {
		return Estimate{}, err
	}
	n := both + onlyFirst + onlySecond + neither
	if !(min(both, onlyFirst, onlySecond, neither) >= 0) || math.IsInf(n, 1) {
		return Estimate{}, inputError("counts %v, %v, %v, %v", both, onlyFirst, onlySecond, neither)
	}
	if n == 0 {
		return Estimate{}, inputError("no pairs of verdicts")
	}
	pass1, pass2 := (both+onlyFirst)/n, (both+onlySecond)/n
	agree, chance := (both+neither)/n, pass1*pass2+(1-pass1)*(1-pass2)
	if chance > 1-1e-12 { // exactly 1, apart from rounding
		return Estimate{}, inputError("all verdicts are the same: chance agrees as well")
	}
	kappa := (agree - chance) / (1 - chance)
	if pass1 == 0 || pass1 == 1 || pass2 == 0 || pass2 == 1 {
		kappa = 0 // apart from rounding
	}
	i := kappaInterval(both+1, onlyFirst+1, onlySecond+1, neither+1, z)
	return Estimate{Value: kappa, Interval: i.clamp(-1, 1, kappa)}, nil
}

// kappaInterval is Wald's interval for kappa. No count may be 0.
func kappaInterval(both, onlyFirst, onlySecond, neither, z float64) Interval {
	n := both + onlyFirst + onlySecond + neither
	pass1, pass2 := (both+onlyFirst)/n, (both+onlySecond)/n
	fail1, fail2 := (onlySecond+neither)/n, (onlyFirst+neither)/n
	agree, chance := (both+neither)/n, pass1*pass2+fail1*fail2
	differ := pass1*fail2 + fail1*pass2 // 1 - chance, exact where that is tiny
	cell := func(share, margins float64) float64 {
		d := differ - margins*(1-agree)
		return share * d * d
	}
	onDiagonal := cell(both/n, pass1+pass2) + cell(neither/n, fail1+fail2)
	offDiagonal := (onlyFirst*(pass2+fail1)*(pass2+fail1) + onlySecond*(fail2+pass1)*(fail2+pass1)) / n
	rest := agree*chance - 2*chance + agree
	variance := (onDiagonal + (1-agree)*(1-agree)*offDiagonal - rest*rest) / (n * math.Pow(differ, 4))
	kappa, half := (agree-chance)/differ, z*math.Sqrt(max(0, variance))
	return Interval{Low: kappa - half, High: kappa + half}
}
