package report

import (
	"cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Row is a finished row, read from the record that [AppendRow] wrote.
type Row struct {
	Index       int
	CaseID      string
	Description string // the case's description
	Provider    string // label, else id
	Prompt      string // the prompt as sent
	Vars        *value.Object
	Output      any // nil if there is none
	Status      proviso.Status
	Score       *float64 // nil if the row is undecided, or failed while a part of it is undecided
	Reason      string   // why it failed or is undecided; "" otherwise
	Assertions  []RowAssertion

	Record *value.Object // the complete row, as in a JSON report
}

// RowAssertion is the verdict on one assertion of a [Row].
type RowAssertion struct {
	ID, Type, Metric string
	Status           proviso.Status
	Score            *float64 // nil if it is undecided
	Reason           string
}

// ReadRow reads a record.
func ReadRow(record []byte) (*Row, error) {
	v, err := viewOf(record)
	if err != nil {
		return nil, err
	}
	provider := v.Object.Object("provider")
	r := &Row{
		Index: integer(v.Object, "index"), CaseID: v.Object.Text("caseId"), Description: v.description(),
		Provider: cmp.Or(provider.Text("label"), provider.Text("id")), Prompt: v.Object.Object("prompt").Text("raw"),
		Vars: v.Object.Object("vars"), Output: v.Object.Object("response").At("output"),
		Status: v.status, Score: decidedScore(v.Object, v.status), Reason: v.Object.Text("error"), Record: v.Object,
	}
	list, _ := v.Object.Object("gradingResult").At("componentResults").([]any)
	for i := 0; i < len(list); i++ {
		c, _ := list[i].(*value.Object)
		a := c.Object("assertion")
		status := proviso.StatusNamed(c.Text("status"))
		r.Assertions = append(r.Assertions, RowAssertion{
			ID: a.Text("id"), Type: a.Text("type"), Metric: a.Text("metric"), Status: status, Score: decidedScore(c, status), Reason: c.Text("reason"),
		})
		i += max(0, integer(c, "members")) // the set's members are part of its verdict
	}
	return r, nil
}

// decidedScore returns the score of a row or an assertion; nil if it has none.
func decidedScore(o *value.Object, s proviso.Status) *float64 {
	score, ok := o.At("score").(float64)
	if !ok || s == proviso.Errored {
		return nil
	}
	return &score
}
