package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/trial"
)

// tried is the result of a candidate on labelled outputs.
type tried struct {
	good, bad int    // number of decided outputs
	wrong     []miss // good outputs that it fails
	caught    []int  // bad outputs that it fails, as indices of trials
}

// miss is a good output that a candidate fails.
type miss struct {
	at     int // index of the trial
	reason string
}

// add adds a verdict on a trial.
func (t *tried) add(at int, label string, passed bool, reason string) {
	switch label {
	case labelGood:
		if t.good++; !passed {
			t.wrong = append(t.wrong, miss{at, reason})
		}
	case labelBad:
		if t.bad++; !passed {
			t.caught = append(t.caught, at)
		}
	}
}

// strict reports whether the candidate fails more than the share tau of the good outputs.
func (t *tried) strict(tau float64) bool { return float64(len(t.wrong)) > tau*float64(t.good)+1e-9 }

// silent reports whether the candidate failed nothing although there are bad outputs.
func (t *tried) silent() bool { return t.bad > 0 && len(t.wrong)+len(t.caught) == 0 }

// enoughGood is how many good outputs can show that a candidate is useless.
const enoughGood = 8

// hopeless reports whether the candidate fails more than half of many good outputs.
func (t *tried) hopeless() bool { return t.good >= enoughGood && 2*len(t.wrong) > t.good }

// better reports whether t decides the labelled outputs better than o: within tau rather than
// not, then by the number of failed bad outputs minus failed good ones.
func (t *tried) better(o *tried, tau float64) bool {
	if t.strict(tau) != o.strict(tau) {
		return o.strict(tau)
	}
	return len(t.caught)-len(t.wrong) > len(o.caught)-len(o.wrong)
}

// examples returns the indices of two good outputs that the candidate fails.
func (t *tried) examples() []int {
	var list []int
	for _, m := range t.wrong[:min(len(t.wrong), shownEach)] {
		list = append(list, m.at)
	}
	return list
}

// failures describes the good outputs that the candidate fails.
func (t *tried) failures(trials []trial.Trial) string {
	var some []string
	for _, m := range t.wrong[:min(len(t.wrong), shownEach)] {
		text := "output " + trials[m.at].ID
		if m.reason != "" {
			text += " (" + excerpt.Line(m.reason, 160) + ")"
		}
		some = append(some, text)
	}
	return fmt.Sprintf("%d of %d good outputs, such as %s", len(t.wrong), t.good, strings.Join(some, " and "))
}

// weak explains how a usable candidate decides good outputs wrongly; "" if it does not.
func (w *writing) weak(x *entry) string {
	if x.problem != "" || !x.tried.strict(w.Tau) {
		return ""
	}
	return "it fails " + x.tried.failures(w.Trials) + ", which people found good: what it decides is not what the criterion asks, or it reads it too strictly"
}

// open returns the bad trials that no candidate of the question catches, ignoring candidates
// that fail too many good ones; nil if no trial is labelled bad or all are caught.
func (w *writing) open() []int {
	var list []int
	for i := range w.Trials {
		t := &w.Trials[i]
		if t.Label != labelBad || w.bad != nil && !slices.Contains(w.bad, t) {
			continue
		}
		if !slices.ContainsFunc(w.entries, func(x *entry) bool { return !x.tried.strict(w.Tau) && slices.Contains(x.tried.caught, i) }) {
			list = append(list, i)
		}
	}
	return list
}

// triedOnAll reports whether a candidate decided all the bad outputs that it is for. Judged
// candidates see only a few, which prove nothing if they break other criteria.
func (w *writing) triedOnAll(x *entry) bool {
	if w.bad != nil {
		return true
	}
	bad := 0
	for i := range w.Trials {
		if w.Trials[i].Label == labelBad {
			bad++
		}
	}
	return x.tried.bad == bad
}

// judge decides the judged candidates among entries on the outputs that the model sees, all
// questions about one output together. Without a judge, or if it gives no answer, nothing is
// known.
func (w *writing) judge(ctx context.Context, entries []*entry) {
	if w.Judged == nil {
		return
	}
	var asked []*entry
	var list []*proviso.Assertion
	for _, x := range entries {
		if x.problem == "" && x.object != nil && strings.TrimPrefix(x.candidate.Assertion.Type, "not-") == candidate.JudgeType {
			asked, list = append(asked, x), append(list, x.candidate.Assertion)
		}
	}
	if len(list) == 0 {
		return
	}
	set, wrong := w.Judged.CompileContext(ctx, list)
	if len(wrong) > 0 {
		w.report.Notes = append(w.report.Notes, "judged candidates were not tried: "+wrong[0].Error())
		return
	}
	failed := ""
	for _, t := range w.shown {
		if t.Label == "" {
			continue
		}
		verdicts := set.Eval(ctx, &check.Row{Output: &proviso.Output{Value: t.Output}, Prompt: t.Prompt, HasPrompt: t.HasPrompt, Vars: t.Vars})
		w.report.Spent.Judged++
		for i := range verdicts {
			v := &verdicts[i]
			w.report.Spent.Usage.Add(v.Usage)
			w.report.Spent.Cost += v.Cost
			if v.Status == proviso.Errored {
				failed = v.Reason
				continue
			}
			at := slices.IndexFunc(w.Trials, func(o trial.Trial) bool { return o.ID == t.ID })
			asked[i].tried.add(at, t.Label, v.Status != proviso.Fail, v.Reason)
		}
	}
	if failed != "" && ctx.Err() == nil {
		w.report.Notes = append(w.report.Notes, "judged candidates were not tried on all outputs that were shown: "+excerpt.Line(failed, 200))
	}
}
