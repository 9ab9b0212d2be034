package gate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/proviso-eval/proviso/stats"
)

// population draws the pass probability of a case.
type population struct {
	name string
	draw func(*rand.Rand) float64
	// assertions is the number of assertions, of which the last always fails; 0 means 20
	// ordinary ones.
	assertions int
}

var populations = []population{
	{name: "stable", draw: func(r *rand.Rand) float64 {
		if r.Float64() < 0.95 {
			return 1
		}
		return 0
	}},
	{name: "flaky", draw: func(r *rand.Rand) float64 {
		switch u := r.Float64(); {
		case u < 0.75:
			return 0.99
		case u < 0.9:
			return 0.8
		}
		return 0.4
	}},
	{name: "all .9", draw: func(*rand.Rand) float64 { return 0.9 }},
	{name: "one of 3 fails", draw: func(*rand.Rand) float64 { return 1 }, assertions: 3},
}

// means are the mean pass probabilities of populations.
var means = map[string]float64{"stable": 0.95, "flaky": 0.75*0.99 + 0.15*0.8 + 0.1*0.4, "all .9": 0.9, "one of 3 fails": 1}

// scenario describes how head changes.
type scenario struct {
	name  string
	drop  float64 // drop of the pass rate of each assertion that breaks
	first int     // number of assertions that break; 0 means all
}

var scenarios = []scenario{
	{"no change", 0, 0},
	{"one assertion −10 points", 0.10, 1},
	{"one assertion −20 points", 0.20, 1},
	{"all −3 points (the margin)", 0.03, 0},
	{"all −5 points", 0.05, 0},
}

// cell is one simulated comparison.
type cell struct {
	population
	scenario
	cases, repeats, assertions int
	shared                     bool // the assertions of a case share its difficulty and its breakage

	// A judge with these rates decides, and is measured with labels; TPR 0 means no
	// judge.
	tpr, tnr   float64
	good, bad  int // numbers of labels
	rawVerdict bool
}

// simulate draws a comparison without runs.
func (x cell) simulate(random *rand.Rand) *Comparison {
	c := &Comparison{Pairs: x.cases, Assertions: make([]AssertionEffect, x.assertions)}
	breaks := x.drop / means[x.population.name]
	if x.population.assertions > 0 && x.first == 0 { // the others make up for the one that cannot break
		breaks *= float64(x.assertions) / float64(x.assertions-1)
	}
	baseSum, headSum := make([]float64, x.cases), make([]float64, x.cases)
	chance, broken := make([]float64, x.cases), make([]bool, x.cases)
	for a := range c.Assertions {
		e := &c.Assertions[a]
		e.Assertion = fmt.Sprint(a)
		affected := x.first == 0 || a < x.first
		fails := a+1 == x.population.assertions
		for i := range x.cases {
			if !x.shared || a == 0 {
				chance[i], broken[i] = x.draw(random), random.Float64() < breaks
			}
			base, head := chance[i], chance[i]
			if broken[i] && affected {
				head = 0
			}
			if fails {
				base, head = 0, 0
			}
			b, h := x.mean(random, base), x.mean(random, head)
			e.series.add(b, h, i, x.repeats, x.repeats)
			baseSum[i], headSum[i] = baseSum[i]+b, headSum[i]+h
		}
		e.Effect = Effect{Pairs: x.cases, Units: float64(x.cases)}
		for i := range x.cases {
			e.Difference.Value += (e.series.head[i] - e.series.base[i]) / float64(x.cases)
		}
		e.Worse, _ = stats.SignFlip(e.series.worse(), stats.FirstMore, true)
	}
	trials := x.assertions * x.repeats
	for i := range x.cases {
		c.suite.add(baseSum[i]/float64(x.assertions), headSum[i]/float64(x.assertions), i, trials, trials)
	}
	c.Suite = Effect{Pairs: x.cases, Units: float64(x.cases)}
	if x.tpr > 0 && !x.rawVerdict {
		x.measure(c, random)
	}
	return c
}

// mean returns the mean over the repeats of a case.
func (x cell) mean(random *rand.Rand, chance float64) float64 {
	if x.tpr > 0 {
		chance = chance*x.tpr + (1-chance)*(1-x.tnr)
	}
	return float64(binomial(random, x.repeats, chance)) / float64(x.repeats)
}

func binomial(random *rand.Rand, n int, chance float64) (k int) {
	for range n {
		if random.Float64() < chance {
			k++
		}
	}
	return k
}

// measure labels outputs and corrects the suite for the measured errors.
func (x cell) measure(c *Comparison, random *rand.Rand) {
	labels := stats.Confusion{TP: binomial(random, x.good, x.tpr), TN: binomial(random, x.bad, x.tnr)}
	labels.FN, labels.FP = x.good-labels.TP, x.bad-labels.TN
	judge := newJudgeErrors(labels)
	c.correction.note(judge)
	for i := range c.suite.base {
		c.correction.add(judge.correct(c.suite.base[i]), judge.correct(c.suite.head[i]))
	}
	c.SuiteCorrected = c.correction.effect(c.Suite)
}

// shares are the shares of the outcomes.
type shares struct{ pass, fail, unsure float64 }

func (s shares) String() string {
	short := func(v float64) string {
		if text := fmt.Sprintf("%.2f", v); v < 0.995 {
			return text[1:]
		}
		return "1.0"
	}
	return short(s.pass) + "/" + short(s.fail) + "/" + short(s.unsure)
}

// operate returns the shares of the outcomes for each order of the rules.
func (x cell) operate(rounds int, seed uint64, orders ...order) []shares {
	random := rand.New(rand.NewPCG(seed, uint64(x.cases*1000+x.repeats)))
	s, _ := settingsOf(nil)
	out := make([]shares, len(orders))
	for range rounds {
		c := x.simulate(random)
		for i, order := range orders {
			j := &judgement{settings: s, c: c}
			switch j.decide(order.steps).Outcome {
			case Pass:
				out[i].pass += 1 / float64(rounds)
			case Fail:
				out[i].fail += 1 / float64(rounds)
			default:
				out[i].unsure += 1 / float64(rounds)
			}
		}
	}
	return out
}

// Rules for other orders.
func (j *judgement) anyDrop() Outcome         { return j.worse(math.Inf(-1), true) }
func (j *judgement) dropOfTheMargin() Outcome { return j.worse(j.settings.margin, true) }
func (j *judgement) plainHolm() Outcome       { return j.worse(2*j.settings.margin, false) }

func (j *judgement) marginOfTheSeen() Outcome {
	j.ignoreUnseen = true
	return j.margin()
}

// order is an order of the rules that the tables compare. All orders start after the
// absolute rules.
type order struct {
	name  string
	steps []step
}

var orders = []order{
	{"as built: assertions, least cases, margin, suite", steps[7:]},
	{"assertions fail for a drop of any size", inOrder((*judgement).anyDrop, (*judgement).minCases, (*judgement).margin, (*judgement).suite)},
	{"assertions fail for a drop of the margin", inOrder((*judgement).dropOfTheMargin, (*judgement).minCases, (*judgement).margin, (*judgement).suite)},
	{"the test of the suite before the margin", inOrder((*judgement).assertions, (*judgement).minCases, (*judgement).suite, (*judgement).margin)},
	{"the test of the suite before the least cases", inOrder((*judgement).assertions, (*judgement).suite, (*judgement).minCases, (*judgement).margin)},
	{"the margin before the assertions", inOrder((*judgement).minCases, (*judgement).margin, (*judgement).assertions, (*judgement).suite)},
	{"every assertion takes its share of alpha", inOrder((*judgement).plainHolm, (*judgement).minCases, (*judgement).margin, (*judgement).suite)},
	{"without the limit for breakage that is not seen", inOrder((*judgement).assertions, (*judgement).minCases, (*judgement).marginOfTheSeen, (*judgement).suite)},
}

func inOrder(list ...func(*judgement) Outcome) []step {
	steps := []step{{(*judgement).leftOut, false}}
	for _, f := range list {
		steps = append(steps, step{f, false})
	}
	return steps
}
