package runs

import (
	"cmp"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/record"
)

// Row holds the texts of one row. All of them come from the suite or a model.
type Row struct {
	Prompt   string // as sent
	Input    string // variables, one per line
	Output   string
	Answered bool   // false if there is no output
	Error    string // why the row failed or is undecided
	Verdicts []VerdictText
}

// VerdictText explains the verdict on one assertion.
type VerdictText struct {
	Assertion string // as [gate.Verdict.Assertion]
	Status    proviso.Status
	Reason    string
	Evidence  []string // quotes from the output
}

// Texts reads the texts of a kept run, row by row. It is for one goroutine at a time.
type Texts struct {
	r       runfile.Run
	prompts map[gate.Column]string
}

// TextsOf returns the texts of a run that stays open.
func TextsOf(r runfile.Run) *Texts {
	t := &Texts{r: r, prompts: map[gate.Column]string{}}
	columns := columnsOf(r.Header().Meta)
	for i, o := range headerColumns(r.Header().Meta) {
		t.prompts[columns[i]] = o.Text("promptRaw")
	}
	return t
}

// Prompt returns the prompt template of a column; "" if the run does not have it.
func (t *Texts) Prompt(column gate.Column) string { return t.prompts[column] }

// Row returns the texts of a row by its index in the run.
func (t *Texts) Row(index int) (*Row, error) {
	encoded, err := t.r.Row(index)
	if err != nil {
		return nil, err
	}
	row, err := record.Decode(index, encoded)
	if err != nil {
		return nil, err
	}
	out := &Row{Prompt: row.Prompt(), Input: row.Input(), Output: row.Output(), Answered: row.Answered(), Error: row.Error()}
	for _, v := range row.Verdicts() {
		out.Verdicts = append(out.Verdicts, VerdictText{Assertion: rowscan.NameOf(v.Assertion), Status: v.Status, Reason: v.Reason(), Evidence: v.Quotes()})
	}
	return out, nil
}

// Verdicts is a replacement for [Texts] for a run without texts, such as a baseline file.
type Verdicts struct{ Run *gate.Run }

// Prompt returns "".
func (v Verdicts) Prompt(gate.Column) string { return "" }

// Row returns the statuses of a row's assertions, by the row's index in the run.
func (v Verdicts) Row(index int) (*Row, error) {
	i, ok := slices.BinarySearchFunc(v.Run.Rows, index, func(r gate.Row, index int) int { return cmp.Compare(r.Index, index) })
	if !ok {
		return nil, proviso.Errorf(proviso.NotFound, "%s has no row %d", v.Run.Name, index)
	}
	out := &Row{}
	for _, verdict := range v.Run.Rows[i].Verdicts {
		out.Verdicts = append(out.Verdicts, VerdictText{Assertion: verdict.Assertion, Status: verdict.Status})
	}
	return out, nil
}
