package selection

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso/spade/solve"
)

// Binding says which thresholds shape a selection: without one that does not bind, the
// same candidates are selected.
type Binding struct {
	Alpha, Tau bool
	// Cov is how many candidates the method cov selects within the same thresholds; 0 if
	// that is not known.
	Cov int
}

// bindingWork bounds each search of [Selection.Bind], in steps.
const bindingWork = solve.DefaultWork / 50

// Bind finds which thresholds shape a selection of the method sub, and keeps it in
// [Selection.Binding]. It searches three times more, for a short time. It does nothing
// where the selection is not proven, or a search does not end.
func (s *Selection) Bind(ctx context.Context) error {
	if s.Options.Method != solve.Subsumption.String() || s.Answer.Status != solve.Optimal || !s.Answer.Tied {
		return nil
	}
	o := solve.Options{Work: bindingWork}
	if s.Options.Work > 0 {
		o.Work = min(o.Work, s.Options.Work)
	}
	search := func(method solve.Method, change func(*solve.Instance)) (*solve.Answer, error) {
		in := *s.Instance
		change(&in)
		a, err := solve.Solve(ctx, &in, method, o)
		if err != nil || a.Status != solve.Optimal || !a.Tied {
			return nil, err
		}
		return a, nil
	}
	anyway, err := search(solve.Subsumption, func(in *solve.Instance) { in.Need = 0 })
	if err != nil || anyway == nil {
		return err
	}
	free, err := search(solve.Subsumption, func(in *solve.Instance) { in.Allow = s.Good })
	if err != nil || free == nil {
		return err
	}
	few, err := search(solve.Coverage, func(*solve.Instance) {})
	if err != nil {
		return err
	}
	s.Binding = &Binding{Alpha: !slices.Equal(anyway.Selected, s.Answer.Selected), Tau: !slices.Equal(free.Selected, s.Answer.Selected)}
	if few != nil {
		s.Binding.Cov = len(few.Selected)
	}
	return nil
}
