package stats_test

import (
	"math"
	"os"
	"testing"

	"github.com/proviso-eval/proviso/stats"
)

// TestCoverageOfKappa computes exactly how often the 95 % interval for kappa contains the
// true value: it sums the probability of every possible table of n labels. People pass or
// fail a share of the outputs. The judge gives the rarer verdict equally often, or for up
// to 20 percentage points more of the outputs.
func TestCoverageOfKappa(t *testing.T) {
	t.Parallel()
	sizes := []int{20, 50}
	if os.Getenv("PROVISO_NIGHTLY") != "" {
		sizes = append(sizes, 100)
	}
	for _, n := range sizes {
		list := kappaTruths()
		enumerate(n, list)
		var ours, plain coverage
		for _, k := range list {
			ours.add(k.held[0]/k.defined, k.width[0]/k.defined)
			plain.add(k.held[1]/k.defined, k.width[1]/k.defined)
		}
		t.Logf("n = %d: %d truths; coverage %.3f–%.3f, mean %.3f, off by %.3f, width %.2f; plain %.3f–%.3f, mean %.3f, off by %.3f, width %.2f", n, len(list),
			ours.low, ours.high, ours.mean(ours.sum), ours.mean(ours.off), ours.mean(ours.width),
			plain.low, plain.high, plain.mean(plain.sum), plain.mean(plain.off), plain.mean(plain.width))
		if ours.low < 0.925 || ours.high > 0.99 || ours.mean(ours.off) > 0.013 {
			t.Errorf("n = %d: coverage from %.3f to %.3f, off by %.3f on average", n, ours.low, ours.high, ours.mean(ours.off))
		}
		if ours.mean(ours.off) > plain.mean(plain.off)/2 || ours.mean(ours.width) > 1.25*plain.mean(plain.width) {
			t.Errorf("n = %d: the plain interval is nearly as good: %+v and %+v", n, ours, plain)
		}
	}
}

// kappaTruth is a true table and the coverage of its samples' intervals.
type kappaTruth struct {
	cells         [4]float64
	kappa         float64
	defined       float64    // probability that a sample has a kappa
	held, width   [2]float64 // for Kappa and for the plain interval
	agree, chance float64
}

func kappaTruths() []*kappaTruth {
	var list []*kappaTruth
	for _, share := range []float64{0.1, 0.2, 0.3, 0.5} {
		for _, more := range []float64{0, 0.1, 0.2} {
			for _, kappa := range []float64{0.4, 0.6, 0.8, 0.9} {
				k := &kappaTruth{kappa: kappa}
				judged := share + more
				k.chance = share*judged + (1-share)*(1-judged)
				k.agree = k.chance + kappa*(1-k.chance)
				both := (k.agree - 1 + share + judged) / 2
				if k.cells = [4]float64{both, share - both, judged - both, 1 - share - judged + both}; share-both >= 0 {
					list = append(list, k)
				}
			}
		}
	}
	return list
}

// enumerate visits all tables of n labels.
func enumerate(n int, list []*kappaTruth) {
	for a := range n + 1 {
		for b := range n + 1 - a {
			for c := range n + 1 - a - b {
				table := [4]float64{float64(a), float64(b), float64(c), float64(n - a - b - c)}
				e, err := stats.Kappa(table[0], table[1], table[2], table[3], 0.95)
				if err != nil {
					continue
				}
				intervals := [2]stats.Interval{e.Interval, plainKappa(table, e.Value)}
				for _, k := range list {
					p := multinomial(table, k.cells)
					k.defined += p
					for i, x := range intervals {
						if k.width[i] += p * x.Width(); x.Low <= k.kappa+1e-9 && k.kappa <= x.High+1e-9 {
							k.held[i] += p
						}
					}
				}
			}
		}
	}
}

func multinomial(table, cells [4]float64) float64 {
	log, _ := math.Lgamma(table[0] + table[1] + table[2] + table[3] + 1)
	for i, x := range table {
		if x == 0 {
			continue
		}
		g, _ := math.Lgamma(x + 1)
		log += x*math.Log(cells[i]) - g
	}
	return math.Exp(log)
}

// plainKappa is Wald's interval for kappa, by the delta method.
func plainKappa(table [4]float64, kappa float64) stats.Interval {
	n := table[0] + table[1] + table[2] + table[3]
	pass1, pass2 := (table[0]+table[1])/n, (table[0]+table[2])/n
	differ := pass1*(1-pass2) + (1-pass1)*pass2
	slope := [4]float64{1 - (1-kappa)*(pass1+pass2), -(1 - kappa) * (pass2 + 1 - pass1), -(1 - kappa) * (pass1 + 1 - pass2), 1 - (1-kappa)*(2-pass1-pass2)}
	mean, square := 0.0, 0.0
	for i, x := range table {
		mean += slope[i] / differ * x / n
		square += slope[i] / differ * slope[i] / differ * x / n
	}
	half := 1.959963984540054 * math.Sqrt(max(0, square-mean*mean)/n)
	return stats.Interval{Low: max(-1, kappa-half), High: min(1, kappa+half)}
}

// coverage sums up shares of intervals that contain the true value.
type coverage struct {
	n, sum, off, width, high float64
	low                      float64
}

func (c *coverage) add(share, width float64) {
	if c.n == 0 {
		c.low = share
	}
	c.n++
	c.sum += share
	c.off += math.Abs(share - 0.95)
	c.width += width
	c.low, c.high = min(c.low, share), max(c.high, share)
}

func (c *coverage) mean(sum float64) float64 { return sum / c.n }
