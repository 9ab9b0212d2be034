package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Defaults of the rules.
const (
	DefaultMargin   = 0.03
	DefaultAlpha    = 0.05
	DefaultMinCases = 50

	maxLeftOut = 0.05 // as a share of the pairs
	minUnits   = 5    // independent pairs required to test an assertion
)

// settings holds the rules with their defaults.
type settings struct {
	margin, alpha float64
	minCases      int
	rules         proviso.GateRules
}

// newSettings checks the rules against the assertions of the runs.
func newSettings(r *proviso.GateRules, runs ...*Run) (settings, error) {
	s, mistakes := settingsOf(r)
	names := map[string]bool{}
	for _, run := range runs {
		if run == nil {
			continue
		}
		for i := range run.Rows {
			for j := range run.Rows[i].Verdicts {
				names[run.Rows[i].Verdicts[j].Assertion] = true
			}
		}
	}
	valid := slices.Sorted(maps.Keys(names))
	check := func(rule, name string) {
		if !names[name] {
			mistakes = append(mistakes, proviso.Mistake{
				Code: proviso.Invalid, Nearest: document.Nearest(name, valid),
				Message: fmt.Sprintf("%s names assertion %s, which has no verdict in the run", rule, named(name)),
			})
		}
	}
	for _, name := range s.rules.MustPass {
		check("mustPass", name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.rules.Assertions)) {
		check("assertions", name)
	}
	return s, mistakes.Err()
}

// settingsOf returns the rules with their defaults, and the mistakes in their numbers.
func settingsOf(r *proviso.GateRules) (settings, proviso.Mistakes) {
	s := settings{margin: DefaultMargin, alpha: DefaultAlpha, minCases: DefaultMinCases}
	if r == nil {
		return s, nil
	}
	s.rules = *r
	s.margin = *cmp.Or(r.Margin, &s.margin)
	s.alpha = *cmp.Or(r.Alpha, &s.alpha)
	s.minCases = *cmp.Or(r.MinCases, &s.minCases)
	var mistakes proviso.Mistakes
	check := func(ok bool, format string, args ...any) {
		if !ok {
			mistakes = append(mistakes, proviso.Mistake{Code: proviso.Invalid, Message: fmt.Sprintf(format, args...)})
		}
	}
	share := func(v *float64) bool { return v == nil || *v >= 0 && *v <= 1 }
	check(s.margin > 0 && s.margin <= 1, "margin is more than 0 and at most 1, such as 0.03, not %v", s.margin)
	check(s.alpha > 0 && s.alpha < 0.5, "alpha is more than 0 and less than 0.5, such as 0.05, not %v", s.alpha)
	check(s.minCases >= 1, "minCases is at least 1, not %d", s.minCases)
	check(share(r.MinScore), "minScore is a share from 0 to 1")
	for _, name := range slices.Sorted(maps.Keys(r.Assertions)) {
		check(share(r.Assertions[name].Min), "the min of assertion %s is a share from 0 to 1", named(name))
		check(share(r.Assertions[name].Margin), "the margin of assertion %s is a share from 0 to 1", named(name))
	}
	for _, x := range []struct {
		name string
		v    *float64
	}{{"cost.max", r.Cost.Max}, {"cost.margin", r.Cost.Margin}, {"latency.p95", r.Latency.P95}, {"latency.margin", r.Latency.Margin}} {
		check(x.v == nil || *x.v >= 0, "%s is not negative", x.name)
	}
	return s, mistakes
}
