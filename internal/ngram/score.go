package ngram

import "math"

// F1 is the harmonic mean of precision and recall for the given number of matches
// between candidate and reference; 0 without matches. It is computed in js-rouge's
// order, so that a score that equals a threshold there does so here.
func F1(matches, candidate, reference int) float64 {
	if matches == 0 {
		return 0
	}
	p, r := float64(matches)/float64(candidate), float64(matches)/float64(reference)
	if p == r {
		return p
	}
	low, high := min(p, r), max(p, r)
	return min(high, low*(2/(1+low/high)))
}

// ROUGE1 is the F1 of shared words (C.-Y. Lin, "ROUGE: A Package for Automatic
// Evaluation of Summaries", 2004, ROUGE-N with N = 1).
func (o Overlap) ROUGE1() float64 { return F1(o.Matches[0], o.Candidate, o.Reference) }

// GLEU is the share of common sequences of 1 to 4 words, relative to the text that
// has more of them (Y. Wu et al., "Google's Neural Machine Translation System",
// 2016, section 5.2): the smaller of precision and recall over all lengths
// together.
func (o Overlap) GLEU() float64 {
	matches, candidate, reference := 0, 0, 0
	for n := 1; n <= MaxOrder; n++ {
		matches += o.Matches[n-1]
		candidate += total(o.Candidate, n)
		reference += total(o.Reference, n)
	}
	if longer := max(candidate, reference); longer > 0 {
		return float64(matches) / float64(longer)
	}
	return 0
}

// noMatch stands for a precision of zero, whose logarithm does not exist.
const noMatch = 1e-7

// BLEU scores a candidate by its overlaps with all references (K. Papineni et al.,
// "BLEU: a Method for Automatic Evaluation of Machine Translation", 2002): the
// geometric mean of the precisions, times a penalty if the candidate is shorter
// than the reference closest in length. Unlike in the paper, matches are clipped by
// each reference separately and the best one counts, and lengths above that of the
// candidate are left out of the mean. An empty candidate scores 0.
func BLEU(overlaps []Overlap) float64 {
	if len(overlaps) == 0 || overlaps[0].Candidate == 0 {
		return 0
	}
	candidate := overlaps[0].Candidate
	orders := min(candidate, MaxOrder)
	sum := 0.0
	for n := 1; n <= orders; n++ {
		best := 0
		for _, o := range overlaps {
			best = max(best, o.Matches[n-1])
		}
		p := float64(best) / float64(total(candidate, n))
		if best == 0 {
			p = noMatch
		}
		sum += math.Log(p) / float64(orders)
	}
	return brevity(candidate, overlaps) * math.Exp(sum)
}

// brevity is BLEU's penalty for short candidates.
func brevity(candidate int, overlaps []Overlap) float64 {
	closest := overlaps[0].Reference
	for _, o := range overlaps[1:] {
		d, best := distance(o.Reference, candidate), distance(closest, candidate)
		if d < best || d == best && o.Reference < closest {
			closest = o.Reference
		}
	}
	if candidate > closest {
		return 1
	}
	return math.Exp(1 - float64(closest)/float64(candidate))
}

func distance(a, b int) int { return max(a-b, b-a) }
