// Package selection picks the fewest candidates that catch the bad outputs and spare the good
// ones, and explains the choice. Start at [Select].
package selection

import (
	"context"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Options define the best selection.
type Options struct {
	Method string  // all, base, cov, sub or none
	Alpha  float64 // share of bad examples that must be caught, 0 to 1
	Tau    float64 // share of good examples that may fail, 0 to 1

	// Undecided says how an undecided cell counts: [Bound] (the default), [CountFail]
	// or [Ignore].
	Undecided string
	// Close adds the implications that follow from others.
	Close bool
	// DropContradicted drops the implications that an example contradicts.
	DropContradicted bool
	// Cost is the cost of selecting a candidate, by name; 1 if absent.
	Cost map[string]int
	// Budget, if not nil, is the maximum total price of the selected candidates per output, in
	// US dollars. Price is the price of each candidate; 0 if absent. Names that the matrix
	// does not have are ignored.
	Budget *float64           `json:",omitempty"`
	Price  map[string]float64 `json:",omitempty"`
	// Keep names candidates that are always selected.
	Keep []string
	// Ban names candidates that are never selected. The selection is made from the others: a
	// banned candidate catches nothing, and need not be implied.
	Ban []string
	// FFRConfidence, if not 0, compares tau with the upper bound of the false failure
	// rate at this confidence instead of the observed rate.
	FFRConfidence float64
	// Work limits the search; 0 is the default of package solve.
	Work int64
}

// Selection is the best subset of a matrix's candidates, with its measures.
type Selection struct {
	Options   Options
	Matrix    *matrix.Matrix
	Instance  *solve.Instance
	Answer    *solve.Answer
	Good, Bad int
	Doubt     Doubt
	// Violates names the thresholds, alpha or tau, that the selection violates.
	Violates []string
	// Dropped are the implications that an example contradicts.
	Dropped []candidate.Implication
	// Uncaught are the ids of the bad examples that no candidate within tau catches.
	Uncaught []string
	// Binding says which thresholds affect the selection; nil if [Selection.Bind] did not
	// determine it.
	Binding *Binding
	// Banned are the candidates that the options ban, in matrix order. [Selection.Matrix] does
	// not have them.
	Banned []string
}

// Valid returns an error if the options are invalid.
func (o Options) Valid() error {
	methods := solve.Methods()
	if _, ok := solve.MethodOf(o.Method); !ok {
		return &proviso.Error{Code: proviso.Invalid, Message: "no method " + value.Stringify(o.Method), Valid: methods}
	}
	for _, share := range []struct {
		name  string
		value float64
	}{{"alpha", o.Alpha}, {"tau", o.Tau}} {
		if !(share.value >= 0 && share.value <= 1) {
			return proviso.Errorf(proviso.Invalid, "%s is %v; a share from 0 to 1 is expected", share.name, share.value)
		}
	}
	if c := o.FFRConfidence; c != 0 && !(c > 0.5 && c < 1) {
		return proviso.Errorf(proviso.Invalid, "the confidence is %v; a number above 0.5 and below 1 is expected", c)
	}
	if b := o.Budget; b != nil && !(*b >= 0) {
		return proviso.Errorf(proviso.Invalid, "the budget is %v; US dollars per output, from 0, are expected", *b)
	}
	if ways := []string{Bound, CountFail, Ignore}; !slices.Contains(ways, o.undecided()) {
		return &proviso.Error{Code: proviso.Invalid, Message: "undecided cells cannot count as " + value.Stringify(o.Undecided), Valid: ways}
	}
	for _, name := range o.Ban {
		if slices.Contains(o.Keep, name) {
			return proviso.Errorf(proviso.Invalid, "%q is pinned and banned; choose one", name)
		}
	}
	return nil
}

// Select picks the best subset of the candidates. It uses implications as given unless the
// options say otherwise. It returns an error for mistakes in the options, for names that the
// matrix does not have, and for labels that cannot measure anything.
func Select(ctx context.Context, m *matrix.Matrix, implications []candidate.Implication, o Options) (*Selection, error) {
	method, _ := solve.MethodOf(o.Method)
	s, err := prepare(m, implications, o, method)
	if err != nil {
		return nil, err
	}
	if s.Answer, err = solve.Solve(ctx, s.Instance, method, solve.Options{Work: o.Work}); err != nil {
		return nil, err
	}
	if s.Doubt, err = s.settle(ctx, s.Instance, s.Answer, method, o.Work); err != nil {
		return nil, err
	}
	if s.Found() {
		if s.Answer.Covered < s.Instance.Need {
			s.Violates = append(s.Violates, "alpha")
		}
		if s.Answer.False > s.Instance.Allow {
			s.Violates = append(s.Violates, "tau")
			s.refuse(method)
		}
	}
	s.Uncaught = s.uncaught()
	return s, nil
}

// refuse makes a selection by base infeasible if it violates tau and no output is labelled
// bad, because nothing shows its value. With bad outputs, base is there for comparison with
// other methods.
func (s *Selection) refuse(method solve.Method) {
	if method == solve.Base && s.Bad == 0 {
		s.Answer.Status, s.Answer.Selected, s.Answer.LeftOver, s.Answer.BestProven = solve.Infeasible, nil, nil, true
	}
}

// prepare checks that the labels suffice, and builds the instance.
func prepare(m *matrix.Matrix, implications []candidate.Implication, o Options, method solve.Method) (*Selection, error) {
	if err := o.Valid(); err != nil {
		return nil, err
	}
	s := &Selection{Options: o, Matrix: m}
	s.Good, s.Bad = m.Count()
	if err := s.measurable(method); err != nil {
		return nil, err
	}
	if err := o.Known(m.Names); err != nil {
		return nil, err
	}
	if err := s.ban(&implications); err != nil {
		return nil, err
	}
	return s, s.instance(implications)
}

// measurable checks that the labels suffice for a selection. Good outputs alone suffice for
// base, which only considers false failures. Bad ones alone never suffice: a candidate that
// fails everything would look best.
func (s *Selection) measurable(method solve.Method) error {
	switch {
	case len(s.Matrix.Names) == 0:
		return proviso.Errorf(proviso.Invalid, "the matrix has no candidates")
	case method == solve.None || method == solve.All || method == solve.Base && s.Good > 0:
		return nil
	case len(s.Matrix.Examples) == 0:
		return proviso.Errorf(proviso.Invalid, "no example is labelled; the method none needs no labels: it selects one candidate of each group that no other implies")
	case s.Bad == 0:
		return proviso.Errorf(proviso.Invalid, "all %d labelled examples are good, so it cannot be seen what an assertion catches; the method base remains, which needs good ones alone: every candidate within tau", s.Good)
	case s.Good == 0:
		return proviso.Errorf(proviso.Invalid, "all %d labelled examples are bad, so it cannot be seen what an assertion fails wrongly, and one that fails everything would look best; label good ones, or use the method none, which needs no labels", s.Bad)
	}
	return nil
}

// instance numbers the candidates and examples for the search.
func (s *Selection) instance(implications []candidate.Implication) error {
	m, o := s.Matrix, s.Options
	index := map[string]int{}
	for j, name := range m.Names {
		index[name] = j
	}
	in := &solve.Instance{Fails: s.failures(o.fails)}
	for _, e := range m.Examples {
		in.Good = append(in.Good, e.Good)
	}
	for _, p := range implications {
		pair := [2]int{}
		for k, name := range []string{p.A, p.B} {
			j, ok := index[name]
			if !ok {
				return proviso.Errorf(proviso.Invalid, "an implication names %q, which is not a candidate%s", name, format.DidYouMean(name, m.Names))
			}
			pair[k] = j
		}
		in.Implies = append(in.Implies, pair)
	}
	s.Instance = in
	in.Need, in.Allow = o.counts(s.Good, s.Bad)
	for _, name := range o.Keep {
		in.Keep = append(in.Keep, index[name])
	}
	s.relations()
	if err := s.limits(); err != nil {
		return err
	}
	return s.costs(index)
}

// relations drops and closes implications as the options say.
func (s *Selection) relations() {
	in := s.Instance
	if s.Options.DropContradicted {
		drop := map[[2]int]bool{}
		for _, p := range s.contradicted() {
			drop[p] = true
			s.Dropped = append(s.Dropped, candidate.Implication{A: s.Matrix.Names[p[0]], B: s.Matrix.Names[p[1]]})
		}
		in.Implies = slices.DeleteFunc(in.Implies, func(p [2]int) bool { return drop[p] })
	}
	if s.Options.Close {
		in.Implies = solve.Close(len(in.Fails), in.Implies)
	}
}

func (s *Selection) costs(index map[string]int) error {
	if len(s.Options.Cost) == 0 {
		return nil
	}
	s.Instance.Cost = slices.Repeat([]int{1}, len(s.Matrix.Names))
	for name, cost := range s.Options.Cost {
		if cost < 1 || cost > solve.MaxCost {
			return proviso.Errorf(proviso.Invalid, "the cost of %q is %d; a whole number from 1 to %d is expected", name, cost, solve.MaxCost)
		}
		s.Instance.Cost[index[name]] = cost
	}
	return nil
}

// counts converts the thresholds to numbers of examples.
func (o Options) counts(good, bad int) (need, allow int) {
	need, allow = solve.Thresholds(good, bad, o.Alpha, o.Tau)
	if o.FFRConfidence != 0 {
		allow = allowed(good, o.Tau, o.FFRConfidence)
	}
	return need, allow
}

// allowed returns the highest number of failed good examples whose upper bound (Clopper and
// Pearson, one-sided) is within tau. It is at least 0: a selection that fails no good example
// is always allowed.
func allowed(good int, tau, confidence float64) int {
	most := 0
	for k := 0; k <= good; k++ {
		i, err := stats.ClopperPearson(stats.Count{Pass: k, N: good}, 2*confidence-1)
		if err != nil || i.High > tau+1e-12 && !(k == good && tau >= 1) {
			break
		}
		most = k
	}
	return most
}

// uncaught returns the bad examples that no candidate within tau fails.
func (s *Selection) uncaught() []string {
	caught := make([]bool, len(s.Matrix.Examples))
	for _, fails := range s.Instance.Fails {
		wrong := 0
		for _, i := range fails {
			if s.Instance.Good[i] {
				wrong++
			}
		}
		if wrong > s.Instance.Allow {
			continue
		}
		for _, i := range fails {
			caught[i] = true
		}
	}
	var ids []string
	for i, e := range s.Matrix.Examples {
		if !e.Good && !caught[i] {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// Selected returns the names of the selected candidates, in matrix order.
func (s *Selection) Selected() []string { return s.names(s.Answer.Selected) }

func (s *Selection) names(list []int) []string {
	out := make([]string, len(list))
	for i, j := range list {
		out[i] = s.Matrix.Names[j]
	}
	return out
}

// Gap returns the largest possible distance of the objective from the best one, as a share of
// the objective.
func (s *Selection) Gap() float64 {
	return float64(s.Answer.Objective-s.lowerBound()) / math.Max(1, float64(s.Answer.Objective))
}

// lowerBound returns a lower bound of every selection's objective. A proof holds for the
// decided cells, whatever the other candidates leave undecided.
func (s *Selection) lowerBound() int {
	if s.Proven() {
		return s.Answer.LowerBound
	}
	return s.Doubt.LowerBound
}
