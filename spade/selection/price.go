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

// Prices are what candidates cost in production for each output, as far as that is known.
type Prices struct {
	USD     map[string]float64 // by name; a candidate that asks no model costs 0
	Unknown []string           // candidates that ask a model of which that is not known, in the order of the matrix
	costs   matrix.Costs
	asks    map[string]bool
}

// PricesOf finds what candidates cost for each output: what is given by name, what was
// measured, and for others that ask a model the price judge, which may be nil. Names are
// those of the matrix. A candidate that the list does not have asks no model.
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

// TakePrices gives the options the prices. With a budget, it is an error if that of a
// candidate is not known.
func (o *Options) TakePrices(p Prices) error {
	o.Price = p.USD
	open := slices.DeleteFunc(slices.Clone(p.Unknown), func(name string) bool { return slices.Contains(o.Ban, name) })
	if o.Budget == nil || len(open) == 0 {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "a budget needs prices, and what %s per output is not known: no question with a known price was measured; give it with --judge-price or --price",
		format.Counted(len(open), "candidate costs", "candidates cost")+" ("+format.Some(open, shownNames)+")")
}

// KnownNames returns an error for a name that no candidate has, which names the nearest.
// What is the thing that is given for them.
func KnownNames(what string, given map[string]float64, names []string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return proviso.Errorf(proviso.Invalid, "a %s is given for %q, which is no candidate%s", what, name, format.DidYouMean(name, names))
		}
	}
	return nil
}

// Running is what a set of assertions costs in production, for each output.
type Running struct {
	USD     float64
	Unknown []string // members that ask a model of which the cost is not known; USD is without them
	Asking  int      // members that ask a model
	// Local is the time of the members that ask no model, one after the other, and Model
	// that of the slowest one that asks one, since they are asked at the same time.
	Local, Model time.Duration
	Untimed      []string // members whose time was not measured
}

// Of returns what a set of candidates costs.
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

// nano is the unit of a budget, as a share of a US dollar.
const nano = 1e9

// limits turns the budget into a limit of the search. Prices are rounded up and the budget
// is rounded down, to a billionth of a dollar.
func (s *Selection) limits() error {
	o := s.Options
	if o.Budget == nil {
		return nil
	}
	if method, _ := solve.MethodOf(o.Method); method != solve.Coverage && method != solve.Subsumption {
		return proviso.Errorf(proviso.Invalid, "the method %s takes no budget; cov and sub do", o.Method)
	}
	const slack = 1e-6 // of the unit, for rounding errors of floating point
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

// Spends is what the selection costs per output, in US dollars, by the prices of its
// options.
func (s *Selection) Spends() float64 {
	sum := 0.0
	for _, name := range s.Selected() {
		sum += s.Options.Price[name]
	}
	return sum
}

// dear reports whether a candidate does not fit into the budget beside the selected.
func (s *Selection) dear(j int) bool {
	for i := range s.Instance.Limits {
		l := &s.Instance.Limits[i]
		if l.Taken(s.Answer.Selected)+l.Price[j] > l.Most {
			return true
		}
	}
	return false
}

// CostOfJudged sets the cost of selecting candidates that a model decides, unless they
// have a cost of their own. Names are those of the matrix; a cost of 0 changes nothing.
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
