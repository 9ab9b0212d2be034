// Package trend follows the assertions of a suite over its kept runs: the pass rate of each
// in every run, and what was changed before it. Start with [Of].
package trend

import (
	"context"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
)

// maxAssertions limits the assertions of a trend.
const maxAssertions = 1000

// Trend has a suite's assertions over its last runs.
type Trend struct {
	Suite      string       `json:"suite"`
	Runs       []Run        `json:"runs"` // oldest first
	Assertions []*Assertion `json:"assertions"`
	More       int          `json:"more,omitempty"` // number of assertions left out
}

// Run is a run and what changed before it.
type Run struct {
	report.Kept
	Changed []string `json:"changed"` // differences from the previous run: prompts, suite, judge, cases, commit
}

// Assertion has an assertion's counts in each run.
type Assertion struct {
	Name  string `json:"assertion"`
	Rates []Rate `json:"rates"` // in the order of Runs
}

// Rate has the counts of an assertion in a run.
type Rate struct {
	Run     string   `json:"run"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Errors  int      `json:"errors"`
	Skipped int      `json:"skipped"`
	Rate    *float64 `json:"rate"` // null if nothing was decided
}

// Of reads runs of a suite, oldest first, and counts the verdicts on each assertion. list
// must not be empty. If ctx ends, Of returns its error.
func Of(ctx context.Context, list []report.Kept) (*Trend, error) {
	t := &Trend{Suite: list[len(list)-1].Suite, Assertions: []*Assertion{}}
	for i, k := range list {
		run := Run{Kept: k, Changed: []string{}}
		if i > 0 {
			run.Changed = changes(&list[i-1], &k)
		}
		t.Runs = append(t.Runs, run)
	}
	byName := map[string]*Assertion{}
	for i := range t.Runs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := t.add(i, byName); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.Assertions, func(x, y *Assertion) int { return strings.Compare(x.Name, y.Name) })
	return t, nil
}

// add counts the verdicts of one run.
func (t *Trend) add(i int, byName map[string]*Assertion) error {
	r, err := runfile.Open(t.Runs[i].Path)
	if err != nil {
		return proviso.Errorf(proviso.NotFound, "%w", err)
	}
	defer r.Close()
	_, sum, err := report.FromRun(r)
	if err != nil {
		return proviso.Errorf(proviso.Invalid, "%w", err)
	}
	list := sum.Assertions()
	for k := range list {
		s := &list[k]
		if s.Others > 0 {
			t.More = max(t.More, s.Others)
			continue
		}
		name := s.Known()
		x := byName[name]
		if x == nil {
			if len(t.Assertions) == maxAssertions {
				t.More++
				continue
			}
			x = &Assertion{Name: name}
			for k := range t.Runs {
				x.Rates = append(x.Rates, Rate{Run: t.Runs[k].ID})
			}
			byName[name] = x
			t.Assertions = append(t.Assertions, x)
		}
		rate := &x.Rates[i]
		rate.Passed, rate.Failed, rate.Errors, rate.Skipped = rate.Passed+s.Passed, rate.Failed+s.Failed, rate.Errors+s.Errors, rate.Skipped+s.Skipped
		if n := rate.Passed + rate.Failed; n > 0 {
			share := float64(rate.Passed) / float64(n)
			rate.Rate = &share
		}
	}
	return nil
}

// changes names what differs between two runs, as far as it is known for both.
func changes(before, k *report.Kept) []string {
	list := []string{}
	for _, part := range [...]struct{ name, before, now string }{
		{"prompts", before.Hashes.Prompts, k.Hashes.Prompts},
		{"suite", before.Hashes.Suite, k.Hashes.Suite},
		{"judge", before.Hashes.Judge, k.Hashes.Judge},
		{"cases", before.Hashes.Cases, k.Hashes.Cases},
		{"commit", before.Revision.Commit, k.Revision.Commit},
	} {
		if part.before != "" && part.now != "" && part.before != part.now {
			list = append(list, part.name)
		}
	}
	return list
}
