package align

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/value"
)

// sayings collects labels written by [label.AppendLine]; a file holds their history.
type sayings struct {
	log   label.Log
	lines map[string]int // line of each label, by id
}

// isOutputLabel reports whether an object is a label of `proviso spade label`, which is
// about a whole output.
func isOutputLabel(o *value.Object) bool {
	return o.Has("id") && o.Has("label") && !o.Has("case") && !o.Has("assertion") && !o.Has("human")
}

// add reads a line of [label.AppendLine].
func (in *labelReader) add(line document.Line, o *value.Object) {
	l, removed, err := label.ReadLine(o)
	switch {
	case err != nil:
		in.mistake(position{line.Number, 1}, "%v", err)
	case removed:
		in.said.log.Remove(l.ID)
	default:
		if in.said.lines == nil {
			in.said.lines = map[string]int{}
		}
		in.said.lines[l.ID] = line.Number
		in.said.log.Add(&l)
	}
}

// output identifies an output and assertion that several people label.
type output struct {
	name, assertion, outputID string
	row                       int
}

// settle converts the labels in force to rows: one per output and assertion, decided by
// majority.
func (in *labelReader) settle() {
	of := map[output][]*label.Label{}
	var order []output
	for _, l := range in.said.log.InForce() {
		if in.by != "" && l.By != in.by && l.Name != in.by {
			in.labels.Others++
			continue
		}
		if l.Assertion == "" {
			in.labels.Outputs++
			continue
		}
		if l.Judge == "" && l.Judged != "" && l.Judged != proviso.Errored.String() {
			in.labels.Counted++
			continue
		}
		o := output{name: l.Case, assertion: l.Assertion, outputID: l.OutputID, row: l.Index}
		if l.Run == "" {
			o.name, o.row = l.Evaluation, -1
		}
		if of[o] == nil {
			order = append(order, o)
		}
		of[o] = append(of[o], l)
	}
	var firsts []*label.Label
	var rows []Label
	for _, o := range order {
		verdict, ok, split := label.Majority(of[o])
		if split {
			in.labels.Split++
			continue
		}
		first := of[o][0]
		row := Label{Case: o.name, Assertion: o.assertion, Row: o.row, OutputID: o.outputID, Weight: 1, Labelled: ok, Note: notesOf(of[o]), fromPeople: true}
		row.Human = proviso.Fail
		if verdict == label.Pass {
			row.Human = proviso.Pass
		}
		row.JudgeID = first.Judge
		row.Judge, row.Judged = statusOf(first.Judged)
		for c := range row.at {
			row.at[c] = position{line: in.said.lines[first.ID], column: 1}
		}
		rows = append(rows, row)
		for _, l := range of[o] {
			if l.Population > 0 {
				first = l
			}
		}
		firsts = append(firsts, first)
	}
	in.weigh(rows, firsts)
	in.labels.Rows = append(in.labels.Rows, rows...)
}

// weigh sets the number of outputs that each row represents; only rows with a verdict
// represent any.
func (in *labelReader) weigh(rows []Label, firsts []*label.Label) {
	var decided []*label.Label
	var at []int
	for i := range rows {
		if rows[i].Labelled {
			decided, at = append(decided, firsts[i]), append(at, i)
		}
	}
	for i, weight := range label.Weights(decided) {
		rows[at[i]].Weight = weight
	}
}

// statusOf reads a judge's status; false if it cannot be compared.
func statusOf(name string) (proviso.Status, bool) {
	s := proviso.StatusNamed(name)
	return s, s != proviso.Skip && s.String() == name
}

// notesOf joins the notes of several people.
func notesOf(list []*label.Label) string {
	var notes []string
	for _, l := range list {
		if l.Note != "" {
			notes = append(notes, l.Note)
		}
	}
	return strings.Join(notes, " · ")
}
