package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// maxTrialLabels limits how many labels of a run are read for a trial.
const maxTrialLabels = 50_000

// trialItem is a labelled output of a run.
type trialItem struct {
	index   int
	human   proviso.Status // verdict of the majority
	case_   string         // case id, or a substitute for it
	heldOut bool
	judge   string // identity of the judge at the time of the label
}

// runLabels are the labels in force on a run.
type runLabels []store.Label

// labelsOfRun reads the labels on assertions of a run.
func labelsOfRun(ctx context.Context, kept store.ProjectStore, run string) (runLabels, error) {
	var list runLabels
	for l, err := range all(ctx, kept.ListLabels, store.LabelFilter{Run: run}) {
		if err != nil {
			return nil, err
		}
		if list = append(list, *l); len(list) > maxTrialLabels {
			return nil, proviso.Errorf(proviso.Limit, "the run has more than %d labels", maxTrialLabels)
		}
	}
	return list, nil
}

// names lists the assertions with deciding labels, those with most labels first.
func (l runLabels) names() []LabelledName {
	seen := map[string]bool{}
	list := []LabelledName{}
	for i := range l {
		if name := l[i].Assertion; name != "" && !seen[name] {
			seen[name] = true
			if items, _ := l.items(name); len(items) > 0 {
				list = append(list, LabelledName{name, len(items)})
			}
		}
	}
	slices.SortFunc(list, func(a, b LabelledName) int {
		return cmp.Or(cmp.Compare(b.Labels, a.Labels), cmp.Compare(a.Assertion, b.Assertion))
	})
	return list
}

// items returns an item for each output with a majority for pass or fail, in the order of rows,
// and counts the other outputs.
func (l runLabels) items(assertion string) ([]trialItem, LeftOut) {
	votes := map[int]int{} // pass − fail votes of people
	decides := map[int]bool{}
	rows := map[int]*trialItem{}
	for i := range l {
		one := &l[i]
		if one.Assertion != assertion {
			continue
		}
		rows[one.Index] = &trialItem{index: one.Index, case_: cmp.Or(one.Case, one.OutputID), heldOut: align.HeldOut(one.Case, one.OutputID), judge: one.Judge}
		switch one.Verdict {
		case label.Pass:
			votes[one.Index]++
			decides[one.Index] = true
		case label.Fail:
			votes[one.Index]--
			decides[one.Index] = true
		}
	}
	var items []trialItem
	var left LeftOut
	for index, item := range rows {
		switch n := votes[index]; {
		case n > 0:
			item.human = proviso.Pass
		case n < 0:
			item.human = proviso.Fail
		case decides[index]:
			left.Ties++
			continue
		default:
			left.Unsure++
			continue
		}
		items = append(items, *item)
	}
	slices.SortFunc(items, func(a, b trialItem) int { return a.index - b.index })
	return items, left
}

// verdictIn reads a row and its verdict on an assertion.
func verdictIn(ctx context.Context, kept store.Runs, run string, index int, assertion string) (record.Row, record.Verdict, error) {
	result, err := kept.Result(ctx, run, index)
	if err != nil {
		return record.Row{}, record.Verdict{}, err
	}
	row, err := record.Decode(index, result.JSON)
	if err != nil {
		return row, record.Verdict{}, err
	}
	var names []string
	for _, v := range row.Verdicts() {
		name := rowscan.NameOf(v.Assertion)
		if name == assertion {
			return row, v, nil
		}
		names = append(names, name)
	}
	return row, record.Verdict{}, label.NoAssertion(assertion, fmt.Sprintf("row %d of the run", index), names)
}

// definitionIn returns an assertion as it was in a row.
func definitionIn(ctx context.Context, kept store.Runs, run string, index int, assertion string) (*value.Object, error) {
	_, v, err := verdictIn(ctx, kept, run, index, assertion)
	if err != nil {
		return nil, err
	}
	return v.Assertion, nil
}

// applied returns an assertion with a change. It drops the condition, because the assertion
// applied to the labelled outputs.
func applied(assertion *value.Object, name string, change *TrialChange) *value.Object {
	o := assertion.Clone()
	o.Delete("when")
	if o.Text("id") == "" {
		o.Set("id", name)
	}
	if change.Instruction != nil {
		o.Set("instruction", *change.Instruction)
	}
	if change.Criteria != nil {
		o.Set("criteria", change.Criteria)
	}
	if change.Value != nil {
		o.Set("value", *change.Value)
	}
	if change.RubricPrompt != nil {
		o.Set("rubricPrompt", *change.RubricPrompt)
	}
	if change.Judge != "" {
		o.Delete("provider")
	}
	return o
}

// contextOf replaces {{name}} in a context with the variables of a case. It does not render
// templates: the values are data.
func contextOf(context string, vars *value.Object) (string, error) {
	var b strings.Builder
	for rest := context; ; {
		before, after, found := strings.Cut(rest, "{{")
		name, behind, closed := strings.Cut(after, "}}")
		if !found || !closed {
			b.WriteString(rest)
			break
		}
		b.WriteString(before)
		if v, ok := vars.Get(strings.TrimSpace(name)); !ok {
			b.WriteString("{{" + name + "}}")
		} else if text, ok := v.(string); ok {
			b.WriteString(text)
		} else {
			b.WriteString(value.Stringify(v))
		}
		if b.Len() > judge.MaxText {
			break
		}
		rest = behind
	}
	if b.Len() > judge.MaxText {
		return "", pointed("/change/context", proviso.Limit, fmt.Sprintf("with the variables of a case, the context has more than %d bytes (2 MiB)", judge.MaxText))
	}
	return b.String(), nil
}

// withName adds a name to a list, unless the name is empty or already there.
func withName(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// halfOf compares the judges on some outputs.
func halfOf(pairs []align.Pair) TrialHalf {
	c := align.ChangeOf(pairs)
	return TrialHalf{
		Labels: c.Labels, Cases: c.Cases, Pairs: c.Pairs, Before: sideOf(&c.Before), After: sideOf(&c.After), Finding: string(c.Finding()),
		Difference: TrialDifference{estimateOf(c.Difference.Kappa), estimateOf(c.Difference.TPR), estimateOf(c.Difference.TNR)},
	}
}

func sideOf(a *align.Agreement) TrialSide {
	return TrialSide{TruePass: a.TP, FalsePass: a.FP, TrueFail: a.TN, FalseFail: a.FN, Errors: a.Errors, Agreement: a.Agreement,
		Kappa: estimateOf(a.Kappa), TPR: estimateOf(a.TPR), TNR: estimateOf(a.TNR)}
}

func estimateOf(e *stats.Estimate) EstimateJSON {
	if e == nil {
		return EstimateJSON{}
	}
	return EstimateJSON{&e.Value, &e.Low, &e.High}
}

func (s *Server) getTrial(c *call) error {
	t, err := s.seenTrial(c)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, t.trial)
}

// cancelTrial ends a trial. An ended trial stays as it is.
func (s *Server) cancelTrial(c *call) error {
	t, err := s.seenTrial(c)
	if err != nil {
		return err
	}
	if t.key != c.key.ID && !c.key.Can(store.Admin) {
		return problem(codeForbidden, "only the key that started a trial, and admin, cancel it")
	}
	if held := s.trials.get(t.id); held != nil {
		held.cancel()
	} else if t.server != "" && t.status == trialRunning {
		if err := s.peers.cancel(c.r.Context(), t.server, t.id); err != nil {
			return err
		}
	}
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}

func (s *Server) trialEvents(c *call) error {
	return s.followStates(c, c.r.PathValue("trial"), func() (state, error) {
		t, err := s.seenTrial(c)
		if err != nil {
			return state{}, err
		}
		return state{fmt.Sprintf("%s-%d", t.status, t.done), t.status != trialRunning, t.trial}, nil
	})
}
