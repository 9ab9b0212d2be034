package selection

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// Axis is what a trade-off varies.
type Axis string

// The axes.
const (
	BySize   Axis = "size"   // most bad outputs caught with a maximum number of candidates
	ByBudget Axis = "budget" // most bad outputs caught within a budget in US dollars per output
	ByAlpha  Axis = "alpha"  // best selection of the method that catches at least this share
)

// Trade is the best selection for one point on an axis.
type Trade struct {
	Axis   Axis
	At     float64 // the point
	Tau    float64
	Status solve.Status // adjusted for undecided cells
	// Selected are the candidates, Covered the number of bad outputs that they catch, and
	// False the number of good ones that they fail or may fail. They are empty if there is no
	// selection.
	Selected       []string
	Covered, False int
	Running        Running
	// Dominated means that another trade is nowhere worse, and better in size, coverage, false
	// failures or cost.
	Dominated bool
}

// Found reports whether there is a selection.
func (t *Trade) Found() bool { return t.Status == solve.Optimal || t.Status == solve.Feasible }

// Axes are the points of a trade-off. Each point is combined with every tau.
type Axes struct {
	Sizes          []int
	Budgets        []float64 // in US dollars per output
	Alphas, Taus   []float64
	UntilAllCaught bool // stops the sizes when more candidates catch nothing more
}

// maxFrontier bounds the points of a frontier.
const maxFrontier = 400

// Trades selects for every point of the axes. o are options of [Select]; their budget applies
// everywhere, and the points share their work limit. good and bad count the good and bad
// outputs.
func Trades(ctx context.Context, m *matrix.Matrix, implications []candidate.Implication, o Options, x Axes, p Prices) (list []Trade, good, bad int, err error) {
	method, _ := solve.MethodOf(o.Method)
	if method != solve.Coverage && method != solve.Subsumption {
		return nil, 0, 0, proviso.Errorf(proviso.Invalid, "the method %s has no trade-offs to show; cov and sub have", o.Method)
	}
	n := len(x.Taus) * (len(x.Sizes) + len(x.Budgets) + len(x.Alphas))
	if n == 0 || n > maxFrontier {
		return nil, 0, 0, proviso.Errorf(proviso.Limit, "a frontier of %d points; 1 to %d are possible", n, maxFrontier)
	}
	t := trader{implications: implications, matrix: m, prices: p, options: o, x: x, selected: map[[2]int]*Selection{}}
	if t.options.Work <= 0 {
		t.options.Work = solve.DefaultWork
	}
	t.options.Work = max(1, t.options.Work/int64(n))
	for _, tau := range x.Taus {
		if err := t.at(ctx, tau); err != nil {
			return nil, 0, 0, err
		}
	}
	dominate(t.list)
	good, bad = m.Count()
	return t.list, good, bad, ctx.Err()
}

type trader struct {
	matrix       *matrix.Matrix
	implications []candidate.Implication
	options      Options
	x            Axes
	prices       Prices
	list         []Trade
	selected     map[[2]int]*Selection // by the thresholds as counts
}

// at computes the trades of one tau.
func (t *trader) at(ctx context.Context, tau float64) error {
	before := -1
	for _, size := range t.x.Sizes {
		trade, err := t.most(ctx, Trade{Axis: BySize, At: float64(size), Tau: tau}, func(s *Selection) error {
			one := make([]int64, len(s.Matrix.Names))
			for j := range one {
				one[j] = 1
			}
			s.Instance.Limits = append(s.Instance.Limits, solve.Limit{Price: one, Most: int64(size)})
			return nil
		})
		if err != nil {
			return err
		}
		if t.x.UntilAllCaught && trade.Found() && trade.Covered == before {
			break
		}
		before = trade.Covered
		t.list = append(t.list, trade)
	}
	for _, budget := range t.x.Budgets {
		trade, err := t.most(ctx, Trade{Axis: ByBudget, At: budget, Tau: tau}, func(s *Selection) error {
			own := Selection{Options: Options{Method: s.Options.Method, Budget: &budget, Price: t.prices.USD}, Matrix: s.Matrix, Instance: s.Instance}
			return own.limits()
		})
		if err != nil {
			return err
		}
		t.list = append(t.list, trade)
	}
	for _, alpha := range t.x.Alphas {
		o := t.options
		o.Alpha, o.Tau = alpha, tau
		if err := o.Valid(); err != nil {
			return err
		}
		good, bad := t.matrix.Count()
		need, allow := o.counts(good, bad)
		key := [2]int{need, allow}
		s := t.selected[key]
		if s == nil {
			var err error
			if s, err = Select(ctx, t.matrix, t.implications, o); err != nil {
				return err
			}
			t.selected[key] = s
		}
		t.list = append(t.list, t.taken(Trade{Axis: ByAlpha, At: alpha, Tau: tau}, s))
	}
	return nil
}

// most finds the selection within tau and a limit that catches the most bad outputs. Ties go
// to the one that the method cov prefers: the fewest candidates, and then the cheapest.
func (t *trader) most(ctx context.Context, at Trade, limit func(*Selection) error) (Trade, error) {
	o := t.options
	o.Method, o.Alpha, o.Tau = solve.Coverage.String(), 1, at.Tau
	if good, bad := t.matrix.Count(); (good == 0 || bad == 0) && len(t.matrix.Names) > 0 {
		return at, proviso.Errorf(proviso.Invalid, "a frontier needs outputs labelled good and bad; there are %d good and %d bad ones", good, bad)
	}
	s, err := prepare(t.matrix, t.implications, o, solve.Coverage)
	if err != nil {
		return at, err
	}
	if err := limit(s); err != nil {
		return at, err
	}
	proven := true
	for range 2 {
		if s.Answer, err = solve.Solve(ctx, s.Instance, solve.Coverage, solve.Options{Work: o.Work}); err != nil {
			return at, err
		}
		if s.Answer.Status != solve.Infeasible || s.Answer.Best < 0 || s.Answer.Best >= s.Instance.Need {
			break
		}
		proven = s.Answer.BestProven
		s.Instance.Need = s.Answer.Best
	}
	if err := t.cheapest(ctx, s); err != nil {
		return at, err
	}
	if s.Doubt, err = s.settle(ctx, s.Instance, s.Answer, solve.Coverage, o.Work); err != nil {
		return at, err
	}
	at = t.taken(at, s)
	if !proven && at.Status == solve.Optimal {
		at.Status = solve.Feasible
	}
	return at, nil
}

// cheapest replaces the answer with the cheapest selection of the same size and coverage, up
// to a millionth of the most expensive candidate's price. It needs no proof of its own: any
// such selection is as small and catches as much.
func (t *trader) cheapest(ctx context.Context, s *Selection) error {
	if !s.Found() || t.prices.Of(s.Selected()).USD == 0 {
		return nil
	}
	dearest := 0.0
	for _, name := range s.Matrix.Names {
		dearest = max(dearest, t.prices.USD[name])
	}
	in := *s.Instance
	in.Need, in.Cost = s.Answer.Covered, make([]int, len(s.Matrix.Names))
	size := solve.Limit{Price: make([]int64, len(s.Matrix.Names)), Most: int64(len(s.Answer.Selected))}
	for j, name := range s.Matrix.Names {
		size.Price[j] = 1
		in.Cost[j] = 1 + int(t.prices.USD[name]/dearest*(solve.MaxCost-1))
	}
	in.Limits = append(slices.Clone(in.Limits), size)
	a, err := solve.Solve(ctx, &in, solve.Coverage, solve.Options{Work: t.options.Work})
	if err != nil || a.Status != solve.Optimal {
		return err
	}
	a.Status = s.Answer.Status
	s.Answer = a
	return nil
}

func (t *trader) taken(at Trade, s *Selection) Trade {
	at.Status = s.Status()
	if s.Found() {
		at.Selected, at.Covered, at.False = s.Selected(), s.Answer.Covered, s.Answer.False
		at.Running = t.prices.Of(at.Selected)
	}
	return at
}

// dominate marks the trades that are dominated.
func dominate(list []Trade) {
	for i := range list {
		a := &list[i]
		for j := range list {
			b := &list[j]
			if !a.Found() || !b.Found() {
				continue
			}
			worse := len(b.Selected) > len(a.Selected) || b.Covered < a.Covered || b.False > a.False || b.Running.USD > a.Running.USD
			better := len(b.Selected) < len(a.Selected) || b.Covered > a.Covered || b.False < a.False || b.Running.USD < a.Running.USD
			a.Dominated = a.Dominated || better && !worse
		}
	}
}
