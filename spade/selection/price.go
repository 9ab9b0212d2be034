package selection

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// Prices are the known costs of candidates in production per output.
type Prices struct {
	USD     map[string]float64 // by name; a candidate that asks no model costs 0
	Unknown []string           // candidates that ask a model and have no known price, in matrix order
	costs   matrix.Costs
	asks    map[string]bool
}

// PricesOf finds the price of each candidate per output: the given price by name, else the
// measured one, else judge for candidates that ask a model; judge may be nil. names are those
// of the matrix. A candidate that is not in list asks no model.
func PricesOf(list []proviso.Candidate, names []string, given map[string]float64, costs matrix.Costs, judge *float64) Prices {
	p := Prices{USD: maps.Clone(given), costs: costs, asks: map[string]bool{}}
	if p.USD == nil {
		p.USD = map[string]float64{}
	}
	for i := range list {
		p.asks[list[i].Name] = matrix.AsksModel(&list[i])
	}
	for _, name := range names {
		if _, known := p.USD[name]; known {
			continue
		}
		usd, measured := costs[name].PerOutput()
		switch {
		case !p.asks[name]:
			p.USD[name] = 0
		case measured:
			p.USD[name] = usd
		case judge != nil:
			p.USD[name] = *judge
		default:
			p.Unknown = append(p.Unknown, name)
		}
	}
	return p
}

// TakePrices sets the prices in the options. With a budget, an unknown price of a candidate is
// an error.
func (o *Options) TakePrices(p Prices) error {
	o.Price = p.USD
	open := slices.DeleteFunc(slices.Clone(p.Unknown), func(name string) bool { return slices.Contains(o.Ban, name) })
	if o.Budget == nil || len(open) == 0 {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "a budget needs prices, and what %s per output is not known: no question with a known price was measured; give it with --judge-price or --price",
		format.Counted(len(open), "candidate costs", "candidates cost")+" ("+format.Some(open, shownNames)+")")
}

// KnownNames returns an error for a name that no candidate has; the error suggests the nearest
// name. what describes the given values.
func KnownNames(what string, given map[string]float64, names []string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return proviso.Errorf(proviso.Invalid, "a %s is given for %q, which is not a candidate%s", what, name, format.DidYouMean(name, names))
		}
	}
	return nil
}

// Running is the cost of a set of assertions in production, per output.
type Running struct {
	USD     float64
	Unknown []string // members that ask a model at an unknown price; USD excludes them
	Asking  int      // members that ask a model
	// Local is the total time of the members that ask no model, and Model the time of the
	// slowest one that asks a model, because models are asked concurrently.
	Local, Model time.Duration
	Untimed      []string // members whose time was not measured
}

// Of returns the cost of a set of candidates.
func (p Prices) Of(names []string) Running {
	var r Running
	for _, name := range names {
		r.USD += p.USD[name]
		if slices.Contains(p.Unknown, name) {
			r.Unknown = append(r.Unknown, name)
		}
		if p.asks[name] {
			r.Asking++
		}
		each, ok := p.costs[name].Time()
		switch {
		case !ok:
			r.Untimed = append(r.Untimed, name)
		case p.asks[name]:
			r.Model = max(r.Model, each)
		default:
			r.Local += each
		}
	}
	return r
}

// maxUSD bounds a price, in US dollars per output.
const maxUSD = 10_000

// nano is the number of budget units in a US dollar.
const nano = 1e9

// limits converts the budget into a limit of the search. It rounds prices up and the budget
// down, to a billionth of a dollar.
func (s *Selection) limits() error {
	o := s.Options
	if o.Budget == nil {
		return nil
	}
	if method, _ := solve.MethodOf(o.Method); method != solve.Coverage && method != solve.Subsumption {
		return proviso.Errorf(proviso.Invalid, "the method %s takes no budget; cov and sub do", o.Method)
	}
	const slack = 1e-6 // floating-point tolerance, in units
	l := solve.Limit{Price: make([]int64, len(s.Matrix.Names)), Most: int64(math.Floor(min(*o.Budget, maxUSD)*nano + slack))}
	for j, name := range s.Matrix.Names {
		usd := o.Price[name]
		if !(usd >= 0 && usd <= maxUSD) {
			return proviso.Errorf(proviso.Invalid, "the price of %q is %v; US dollars per output from 0 to %d are expected", name, usd, maxUSD)
		}
		l.Price[j] = int64(math.Ceil(usd*nano - slack))
	}
	s.Instance.Limits = append(s.Instance.Limits, l)
	return nil
}

// Spends returns the cost of the selection per output, in US dollars, at the prices of its
// options.
func (s *Selection) Spends() float64 {
	sum := 0.0
	for _, name := range s.Selected() {
		sum += s.Options.Price[name]
	}
	return sum
}

// dear reports whether a candidate exceeds the budget together with the selected ones.
func (s *Selection) dear(j int) bool {
	for i := range s.Instance.Limits {
		l := &s.Instance.Limits[i]
		if l.Taken(s.Answer.Selected)+l.Price[j] > l.Most {
			return true
		}
	}
	return false
}

// CostOfJudged sets the selection cost of candidates that ask a model, unless they have their
// own cost. names are those of the matrix; a cost of 0 changes nothing.
func (o *Options) CostOfJudged(list []proviso.Candidate, names []string, cost int) {
	if cost == 0 {
		return
	}
	if o.Cost = maps.Clone(o.Cost); o.Cost == nil {
		o.Cost = map[string]int{}
	}
	for _, c := range list {
		kind, ok := check.Lookup(strings.TrimPrefix(c.Assertion.Type, "not-"))
		asks := ok && kind.Needs&check.NeedsJudge != 0 && !(kind.Type == proviso.TypeJudge && len(c.Assertion.Criteria) == 0 && c.Assertion.Check != nil)
		if _, own := o.Cost[c.Name]; asks && !own && slices.Contains(names, c.Name) {
			o.Cost[c.Name] = cost
		}
	}
}
