package show

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/report"
)

// Decided converts a decision to the form for reports, with the rows of head that each
// reason concerns. c is nil if there was no comparison. The base has no path, because
// reports are shared.
func Decided(head *gate.Run, c *gate.Comparison, d *gate.Decision) *report.Decision {
	out := decided(d)
	for i := range d.Reasons[:min(d.Decided, len(d.Reasons))] {
		if d.Outcome == gate.Pass {
			break
		}
		r := &out.Reasons[i]
		rows := rowsOf(head, c, d.Reasons[i].Rule, r.Assertion)
		r.More = max(0, len(rows)-report.ReasonRows)
		r.Rows = rows[:len(rows)-r.More]
	}
	if c != nil {
		out.Base = path.Base(strings.ReplaceAll(c.Base.Name, `\`, "/"))
	}
	return out
}

// decided converts a decision to the form for reports, without rows.
func decided(d *gate.Decision) *report.Decision {
	out := &report.Decision{Outcome: string(d.Outcome), Reasons: []report.Reason{}, Needed: neededOf(d)}
	for i, r := range d.Reasons {
		besides := i >= d.Decided
		out.Reasons = append(out.Reasons, report.Reason{Rule: cmp.Or(r.Rule, "note"), Assertion: r.Assertion, Met: d.Outcome == gate.Pass || besides, Text: r.Message, Note: besides})
	}
	return out
}

func neededOf(d *gate.Decision) *report.Needed { return (*report.Needed)(d.Needed) }

// rowsOf returns the indices of the rows of head that a rule concerns, the worst first;
// none for a rule on figures.
func rowsOf(head *gate.Run, c *gate.Comparison, rule, assertion string) []int {
	var list []int
	switch rule {
	case "assertions", "suite", "margin":
		if c == nil {
			return nil
		}
		for i := range c.Cases.Broke {
			if p := &c.Cases.Broke[i]; assertion == "" || slices.Contains(p.Broke, assertion) {
				list = append(list, p.Head...)
			}
		}
	case "must-pass", "assertion-min":
		return slices.Concat(rowsWith(head, assertion, failing), rowsWith(head, assertion, erring))
	case "min-score":
		return slices.Concat(rowsWith(head, "", failing), rowsWith(head, "", erring))
	case "left-out":
		return rowsWith(head, "", erring)
	}
	return list
}

func failing(s proviso.Status, waived bool) bool { return s == proviso.Fail || waived }

func erring(s proviso.Status, _ bool) bool { return s == proviso.Errored }

// rowsWith returns the rows for which wanted accepts the verdict on an assertion, or on
// the whole row if assertion is "".
func rowsWith(head *gate.Run, assertion string, wanted func(s proviso.Status, waived bool) bool) []int {
	var list []int
	for i := range head.Rows {
		r := &head.Rows[i]
		found := assertion == "" && wanted(r.Status, false)
		for k := range r.Verdicts {
			v := &r.Verdicts[k]
			found = found || assertion != "" && v.Assertion == assertion && wanted(v.Status, v.Waived)
		}
		if found {
			list = append(list, r.Index)
		}
	}
	return list
}
