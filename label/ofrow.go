package label

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
)

// OfRow adds to a label what a row of a run tells of its subject: case, output, and what a
// judge or a check decided. If several assertions of the row have the name and differ, no
// verdict is added. The error is that the row has no such assertion.
func (l *Label) OfRow(row record.Row) error {
	l.Case, l.OutputID, l.Judge, l.Judged = row.Case, record.OutputID(row.Output()), "", ""
	if l.Assertion == "" {
		l.Judged = row.Verdict().String()
		return nil
	}
	var names []string
	found := false
	for _, v := range row.Verdicts() {
		name := rowscan.NameOf(v.Assertion)
		names = append(names, name)
		switch {
		case name != l.Assertion:
		case found && (l.Judged != v.Status.String() || l.Judge != v.Judge):
			l.Judged, l.Judge = "", ""
		default:
			found, l.Judged, l.Judge = true, v.Status.String(), v.Judge
		}
	}
	if found {
		return nil
	}
	return NoAssertion(l.Assertion, fmt.Sprintf("row %d of the run", row.Index), names)
}

// NoAssertion is the error for a label on an assertion that is not there; where says what
// has the names instead.
func NoAssertion(name, where string, names []string) error {
	e := &proviso.Error{Code: proviso.Invalid, Pointer: "/assertion", Message: where + " has no assertion " + quoted(name), Valid: names}
	if near := document.Nearest(name, names); near != "" {
		e.Message += "; did you mean " + quoted(near) + "?"
	}
	return e
}
