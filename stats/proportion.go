package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ClopperPearson returns the exact interval for a share. Its coverage is never below the
// confidence, so it is wider than that of [Wilson].
//
// Source: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial
// Limits Illustrated in the Case of the Binomial", Biometrika 26 (1934) 404-413,
// as quantiles of the beta distribution.
func ClopperPearson(c Count, confidence float64) (Interval, error) {
	if err := c.check("share"); err != nil {
		return Interval{}, err
	}
	if _, err := quantile(confidence); err != nil {
		return Interval{}, err
	}
	tail := (1 - confidence) / 2
	pass, fail := float64(c.Pass), float64(c.N-c.Pass)
	i := Interval{Low: 0, High: 1}
	if c.Pass > 0 {
		i.Low = mathext.InvRegIncBeta(pass, fail+1, tail)
	}
	if c.Pass < c.N {
		i.High = 1 - mathext.InvRegIncBeta(fail, pass+1, tail)
	}
	return i.clamp(0, 1, c.Share()), nil
}

// Newcombe returns the difference between the shares of two independent samples, first −
// second, with the hybrid score interval.
//
// Source: R. G. Newcombe, "Interval estimation for the difference between
// independent proportions: comparison of eleven methods", Statistics in Medicine
// 17 (1998) 873-890, method 10.
func Newcombe(first, second Count, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err == nil {
		err = first.check("first share")
	}
	if err == nil {
		err = second.check("second share")
	}
	if err != nil {
		return Estimate{}, err
	}
	return squareAndAdd(first.Share(), second.Share(), wilson(first.Share(), float64(first.N), z), wilson(second.Share(), float64(second.N), z), 0), nil
}

// Pairs counts pairs of outcomes of the same cases in two runs.
type Pairs struct {
	Both       int // passed in both runs
	OnlyFirst  int // passed in the first run only: it got worse
	OnlySecond int // passed in the second run only: it got better
	Neither    int
}

// N returns the number of pairs.
func (p Pairs) N() int { return p.Both + p.OnlyFirst + p.OnlySecond + p.Neither }

// NewcombePaired returns the difference between two shares of the same cases, first −
// second, with the hybrid score interval for paired data.
//
// Source: R. G. Newcombe, "Improved confidence intervals for the difference
// between binomial proportions based on paired data", Statistics in Medicine 17
// (1998) 2635-2650, method 10, with the continuity-corrected correlation.
func NewcombePaired(p Pairs, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	switch {
	case err != nil:
		return Estimate{}, err
	case min(p.Both, p.OnlyFirst, p.OnlySecond, p.Neither) < 0:
		return Estimate{}, inputError("a negative count: %+v", p)
	case p.N() == 0:
		return Estimate{}, inputError("no pairs")
	}
	a, b, c, d := float64(p.Both), float64(p.OnlyFirst), float64(p.OnlySecond), float64(p.Neither)
	n := a + b + c + d
	correlation := 0.0
	if margins := (a + b) * (c + d) * (a + c) * (b + d); margins > 0 {
		product := a*d - b*c
		if product > 0 {
			product = max(0, product-n/2)
		}
		correlation = product / math.Sqrt(margins)
	}
	first, second := (a+b)/n, (a+c)/n
	return squareAndAdd(first, second, wilson(first, n, z), wilson(second, n, z), correlation), nil
}

// squareAndAdd combines the intervals of two shares into one of their difference.
func squareAndAdd(p, q float64, ip, iq Interval, correlation float64) Estimate {
	distance := func(a, b float64) float64 {
		return math.Sqrt(max(0, a*a-2*correlation*a*b+b*b)) // below 0 only by rounding
	}
	d := p - q
	i := Interval{Low: d - distance(p-ip.Low, iq.High-q), High: d + distance(ip.High-p, q-iq.Low)}
	return Estimate{Value: d, Interval: i.clamp(-1, 1, d)}
}
