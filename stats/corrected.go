package stats

import "math"

// RoganGladen estimates the pass rate that people would give from the pass rate p of a
// judge whose error rates were measured on other outputs: (p + TNR − 1) / (TPR + TNR −
// 1), limited to 0 to 1. The interval includes the uncertainty of the judged outputs and
// of the labels. It is valid if the judge has the same error rates on the judged outputs
// as on the labelled ones, even if the mix of good and bad differs, and if the labels
// were chosen independently of the judge's verdict. A judge that is no better than chance
// cannot be corrected, which is an error.
//
// Sources: W. J. Rogan and B. Gladen, "Estimating prevalence from the results of
// a screening test", American Journal of Epidemiology 107 (1978) 71-76; Z. Lang
// and J. Reiczigel, "Confidence limits for prevalence of disease adjusted for
// estimated sensitivity and specificity", Preventive Veterinary Medicine 113
// (2014) 13-22; for judges, C. Lee, T. Zeng, J. Jeong, J. Sohn and K. Lee, "How
// to Correctly Report LLM-as-a-Judge Evaluations", arXiv 2511.21140.
func RoganGladen(judged Count, labels Confusion, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err == nil {
		err = judged.check("judged outputs")
	}
	if err == nil {
		err = labels.check()
	}
	good, bad := labels.TP+labels.FN, labels.TN+labels.FP
	switch {
	case err != nil:
		return Estimate{}, err
	case good == 0 || bad == 0:
		return Estimate{}, inputError("labels of %d good and %d bad outputs; both kinds are needed", good, bad)
	}
	tpr, tnr := float64(labels.TP)/float64(good), float64(labels.TN)/float64(bad)
	if tpr+tnr <= 1 {
		return Estimate{}, inputError("the judge is no better than chance: TPR %.3f, TNR %.3f", tpr, tnr)
	}
	value := min(1, max(0, (judged.Share()+tnr-1)/(tpr+tnr-1)))
	return Estimate{Value: value, Interval: langReiczigel(judged, labels, z).clamp(0, 1, value)}, nil
}

// RoganGladenDifference corrects the difference between the pass rates of two runs for the
// errors of the judge that decided both, measured on other outputs: the difference divided
// by TPR + TNR − 1. The interval includes the uncertainty of the labels. It is valid if
// the judge has the same error rates in both runs.
//
// Sources: Rogan and Gladen, see [RoganGladen]; their error of the prevalence cancels in a
// difference. The intervals are combined as in G. Y. Zou and A. Donner, Statistics in
// Medicine 27 (2008) 1693-1702, with one label added to each kind as in Lang and Reiczigel.
func RoganGladenDifference(raw Estimate, labels Confusion, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err == nil {
		err = labels.check()
	}
	if err == nil && !(raw.Low <= raw.Value && raw.Value <= raw.High) {
		err = inputError("difference %v outside of %v to %v", raw.Value, raw.Low, raw.High)
	}
	if err != nil {
		return Estimate{}, err
	}
	better, deviation, err := labels.Youden()
	if err != nil {
		return Estimate{}, err
	}
	ofLabels := z * deviation * raw.Value / square(better)
	value := min(1, max(-1, raw.Value/better))
	i := Interval{
		Low:  raw.Value/better - math.Hypot((raw.Value-raw.Low)/better, ofLabels),
		High: raw.Value/better + math.Hypot((raw.High-raw.Value)/better, ofLabels),
	}
	return Estimate{Value: value, Interval: i.clamp(-1, 1, value)}, nil
}

// Youden returns Youden's index TPR + TNR − 1, the share of a difference between pass rates
// that shows in a judge's verdicts, and its standard error. One label is added to each kind
// for the standard error. An index of 0 or less, or labels of only one kind, is an error.
//
// Source: W. J. Youden, "Index for rating diagnostic tests", Cancer 3 (1950) 32-35.
func (c Confusion) Youden() (index, deviation float64, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	good, bad := float64(c.TP+c.FN), float64(c.TN+c.FP)
	if good == 0 || bad == 0 {
		return 0, 0, inputError("labels of %v good and %v bad outputs; both kinds are needed", good, bad)
	}
	index = float64(c.TP)/good + float64(c.TN)/bad - 1
	if index <= 0 {
		return 0, 0, inputError("the judge is no better than chance: TPR + TNR = %.3f", index+1)
	}
	tpr, tnr := (float64(c.TP)+1)/(good+2), (float64(c.TN)+1)/(bad+2)
	return index, math.Sqrt(tpr*(1-tpr)/(good+2) + tnr*(1-tnr)/(bad+2)), nil
}

// langReiczigel is the interval of formulas 6, 7, 16 and 17 of the paper. It shrinks the
// judge's rates toward one half. If they are then no better than chance, the interval is 0
// to 1.
func langReiczigel(judged Count, labels Confusion, z float64) Interval {
	size := float64(judged.N) + z*z
	p := (float64(judged.Pass) + z*z/2) / size
	goodSize, badSize := float64(labels.TP+labels.FN)+2, float64(labels.TN+labels.FP)+2
	tpr, tnr := (float64(labels.TP)+1)/goodSize, (float64(labels.TN)+1)/badSize
	better := tpr + tnr - 1
	if better <= 0 {
		return Interval{Low: 0, High: 1}
	}
	rate := (p + tnr - 1) / better
	ofTPR, ofTNR := tpr*(1-tpr)/goodSize, tnr*(1-tnr)/badSize
	shift := 2 * z * z * (rate*ofTPR - (1-rate)*ofTNR)
	half := z / better * math.Sqrt(p*(1-p)/size+rate*rate*ofTPR+(1-rate)*(1-rate)*ofTNR)
	return Interval{Low: rate + shift - half, High: rate + shift + half}
}

// Stratum summarizes the labels of the outputs with one verdict of a judge: the share
// that people pass, and the number of labels. For weighted labels the number is Kish's
// effective size (Σw)² / Σw², which need not be whole.
type Stratum struct {
	Share, Size float64
}

// Strata returns the strata of the outputs that a judge passed and failed.
func (c Confusion) Strata() (passed, failed Stratum) {
	stratum := func(good, bad int) Stratum {
		if good+bad == 0 {
			return Stratum{}
		}
		return Stratum{float64(good) / float64(good+bad), float64(good + bad)}
	}
	return stratum(c.TP, c.FP), stratum(c.FN, c.TN)
}

// PostStratified estimates the pass rate that people would give to judged outputs, if
// people have labelled some of them: the share of good outputs among those that the judge
// passed and among those that it failed, each weighted by its number of outputs. judged
// counts all verdicts, including the labelled ones. The labels for each verdict must be a
// random sample of the outputs with that verdict, or be weighted to represent one; the
// number of labels for each verdict does not matter. For pass and fail this is the
// prediction-powered estimate with the best tuning, whose normal interval would collapse if
// judge and labels never differ.
//
// The interval combines Wilson's limits of the shares by the method of variance estimates
// recovery (MOVER). A verdict without labels is assumed to be right, and the interval
// covers the full uncertainty. If everything is labelled, the result is the share of the
// labels with Wilson's interval.
//
// Sources: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient
// Prediction-Powered Inference", arXiv 2311.01453; W. Chen et al., arXiv
// 2601.05420; X. Yan and X. G. Su, "Stratified Wilson and Newcombe Confidence
// Intervals for Multiple Binomial Proportions", Statistics in Biopharmaceutical
// Research 2 (2010) 329-335; G. Y. Zou and A. Donner, "Construction of
// confidence limits about effect measures", Statistics in Medicine 27 (2008)
// 1693-1702.
func PostStratified(judged Count, passed, failed Stratum, confidence float64) (Estimate, error) {
	s, z, err := newStrata(judged, passed, failed, confidence)
	if err != nil {
		return Estimate{}, err
	}
	return s.estimate(1, z), nil
}

// LabelsToHalve returns how many more labels would halve the width of the interval of
// [PostStratified], if the new labels are like the existing ones. If the result exceeds
// the number of unlabelled verdicts, more outputs must be judged, too.
func LabelsToHalve(judged Count, passed, failed Stratum, confidence float64) (int, error) {
	s, z, err := newStrata(judged, passed, failed, confidence)
	if err != nil {
		return 0, err
	}
	goal := s.estimate(1, z).Width() / 2
	low, high := 1.0, 2.0
	for s.estimate(high, z).Width() > goal {
		if low, high = high, 2*high; high > 1e9 {
			return 0, inputError("no number of labels halves the interval")
		}
	}
	n := s.passed.Size + s.failed.Size
	for (high-low)*n > 0.25 {
		if middle := (low + high) / 2; s.estimate(middle, z).Width() > goal {
			low = middle
		} else {
			high = middle
		}
	}
	return int(math.Ceil((high - 1) * n)), nil
}

// strata are all outputs, divided by the judge's verdict.
type strata struct {
	n, passShare   float64 // number of all verdicts, and the share that passed
	passed, failed Stratum
}

func newStrata(judged Count, passed, failed Stratum, confidence float64) (s strata, z float64, err error) {
	z, err = quantile(confidence)
	if err == nil {
		err = judged.check("judged outputs")
	}
	if err != nil {
		return strata{}, 0, err
	}
	for _, x := range [...]struct {
		Stratum
		verdicts int
	}{{passed, judged.Pass}, {failed, judged.N - judged.Pass}} {
		switch {
		case !(x.Share >= 0 && x.Share <= 1 && x.Size >= 0):
			return strata{}, 0, inputError("share %v of %v labels", x.Share, x.Size)
		case x.Size > float64(x.verdicts)*(1+1e-9):
			return strata{}, 0, inputError("%v labels for %d verdicts", x.Size, x.verdicts)
		}
	}
	if passed.Size+failed.Size == 0 {
		return strata{}, 0, inputError("no labels")
	}
	if passed.Size == 0 {
		passed.Share = 1
	}
	if failed.Size == 0 {
		failed.Share = 0
	}
	return strata{n: float64(judged.N), passShare: judged.Share(), passed: passed, failed: failed}, z, nil
}

// estimate returns the rate with its interval for times as many labels, and for as many
// verdicts as those labels need.
func (s strata) estimate(times, z float64) Estimate {
	q := s.passShare
	a, b := s.passed.Share, s.failed.Share
	labelled := times * (s.passed.Size + s.failed.Size)
	if labelled >= s.n*(1-1e-9) {
		rate := (a*s.passed.Size + b*s.failed.Size) / (s.passed.Size + s.failed.Size)
		return Estimate{Value: rate, Interval: wilson(rate, labelled, z)}
	}
	rate := q*a + (1-q)*b
	ofPassed := wilson(a, times*s.passed.Size, z)
	ofFailed := wilson(b, times*s.failed.Size, z)
	ofShare := wilson(q, s.n, z)
	if a < b { // a higher share of passes lowers the rate
		ofShare = Interval{Low: 2*q - ofShare.High, High: 2*q - ofShare.Low}
	}
	distance := func(passed, failed, share float64) float64 {
		return math.Sqrt(square(q*passed) + square((1-q)*failed) + square((a-b)*share))
	}
	i := Interval{
		Low:  rate - distance(a-ofPassed.Low, b-ofFailed.Low, q-ofShare.Low),
		High: rate + distance(ofPassed.High-a, ofFailed.High-b, ofShare.High-q),
	}
	return Estimate{Value: rate, Interval: i.clamp(0, 1, rate)}
}

func square(f float64) float64 { return f * f }
