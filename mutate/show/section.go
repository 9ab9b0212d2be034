package show

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/report"
)

// Section returns the mutation testing section for the report of a run. The error is that
// of encoding the report as JSON.
func Section(r *score.Report) (*report.Missed, error) {
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	out := &report.Missed{Headline: Headline(r), About: about(r), JSON: compact.Bytes()}
	for at, p := range parts(r) {
		group := report.MissedGroup{Title: p.Title, Missed: at == surviving, Killed: at == killed, Uncounted: at == uncounted}
		for _, in := range p.List {
			shown := report.MissedInstruction{Group: group, Line: in.Line, Text: in.Text, Result: result(in), Next: next(r, in)}
			if len(in.Survivors) > 0 {
				e := in.Survivors[0]
				shown.Example = &report.MissedChange{
					Of: fmt.Sprintf("%s, %s, in %s", e.Operator, e.Basis, e.Output), Before: e.Before, Removed: e.Removed, Added: e.Added, After: e.After,
				}
			}
			out.Instructions = append(out.Instructions, shown)
		}
	}
	for i := range r.Assertions {
		a := &r.Assertions[i]
		shown := report.MissedAssertion{Name: a.Name, Kills: a.Killed, Passes: a.Survived, Undecided: a.Counts.Undecided, Note: note(a)}
		for at := range r.Instructions {
			if a.Kills[at] > 0 {
				shown.Of = append(shown.Of, r.Instructions[at].Text)
			}
		}
		if a.Kills[-1] > 0 {
			shown.Of = append(shown.Of, r.AnyAnswer.Text)
		}
		out.Assertions = append(out.Assertions, shown)
	}
	return out, nil
}
