// Package update brings a selection up to date with new answers of agents: it finds which
// selected assertions fail more or less often than before, which bad outputs nothing catches
// and what these share, which outputs are worth labelling, and what is selected now. Start at
// [Run].
package update

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Source is the source of an opinion on an output.
type Source string

// The sources. All except People are hints: they are not labels unless [Input] says so.
const (
	Nobody  Source = ""
	People  Source = "people" // a label
	Thumb   Source = "thumb"  // a user's thumb
	Failure Source = "run"    // the output failed assertions in its run
)

// Output is one of the new outputs.
type Output struct {
	trial.Trial        // without the opinions
	Good        bool   // opinion of By
	By          Source // [Nobody] if there is no opinion
	Known       bool   // it was already tried
	row         int    // in the report's grid
}

// Bad reports whether any source calls the output bad.
func (o *Output) Bad() bool { return o.By != Nobody && !o.Good }

// Input is the input of an update.
type Input struct {
	Before     selection.Problem   // the selection so far
	Grid       *matrix.Grid        // all outputs so far, as the run kept it
	Known      map[string]string   // output id -> content id ([record.OutputID]) of the outputs so far, where known
	Candidates []proviso.Candidate // candidates of the grid
	Trials     []trial.Trial       // the new outputs
	// Thumbs uses users' thumbs as labels where people gave none.
	Thumbs bool
	// Labels sets the labels of a file in entries; it may be nil.
	Labels func(entries []trial.Entry) error
	// Queue is the maximum number of outputs to label in the report.
	Queue int
}

// Report is the result of [Run].
type Report struct {
	Outputs []Output
	Renamed [][2]string  // ids that another output already has, each with the new id, such as o1~2
	Grid    *matrix.Grid // all outputs, with the new ones at the end
	Tried   *matrix.Grid // outputs that were tried now

	Drift    []Drift // drift of the set, then of each previously selected assertion
	Uncaught []Group // bad outputs that the selection does not catch, or the previous selection if there is none now
	Queue    []label.Queued

	Before, After *selection.Selection // Before is nil if it cannot be selected again
	Problem       selection.Problem    // problem that After solves
	Shifts        []selection.Shift
	Contradicted  []candidate.Implication // implications that were dropped because a new output contradicts them
	Thumbs        int                     // thumbs that count as labels in After
}

// Run tries the candidates on the new outputs, compares, and selects again. It does not try
// outputs again that were already tried.
func Run(ctx context.Context, in Input, o matrix.Options) (*Report, error) {
	r := &Report{}
	list, err := columns(in)
	if err != nil {
		return nil, err
	}
	r.take(in)
	var fresh []trial.Trial
	for _, out := range r.Outputs {
		if !out.Known {
			fresh = append(fresh, out.Trial)
		}
	}
	if r.Tried, err = matrix.Try(ctx, list, trial.List(fresh), o); err != nil {
		return nil, err
	}
	r.merge(in)
	if err := r.label(in); err != nil {
		return nil, err
	}
	if err := r.selectAgain(ctx, in); err != nil {
		return nil, err
	}
	selected := r.After.Selected()
	if r.Before != nil && r.Before.Found() {
		r.drift(r.Before.Selected())
		if !r.After.Found() {
			selected = r.Before.Selected() // they stay until something else is selected
		}
	}
	r.uncaught(selected)
	r.queue(selected, in.Queue)
	return r, ctx.Err()
}

// columns returns the candidates of the grid, in grid order.
func columns(in Input) ([]proviso.Candidate, error) {
	var list []proviso.Candidate
	var gone []string
	for _, name := range in.Grid.Names {
		i := slices.IndexFunc(in.Candidates, func(c proviso.Candidate) bool { return c.Name == name })
		if i < 0 {
			gone = append(gone, name)
			continue
		}
		list = append(list, in.Candidates[i])
	}
	if len(gone) > 0 {
		return nil, proviso.Errorf(proviso.Conflict, "the matrix has %s that the candidates no longer have: %s; spade run brings them together",
			plural.Of(len(gone), "column"), strings.Join(gone[:min(len(gone), 5)], ", "))
	}
	return list, nil
}

// take determines which outputs are new, and the opinions on them.
func (r *Report) take(in Input) {
	at := in.Grid.ByID()
	taken := map[string]bool{}
	for id := range at {
		taken[id] = true
	}
	for _, t := range in.Trials {
		out := Output{Trial: t}
		switch {
		case t.Label != "" && t.Thumb:
			out.By, out.Good = Thumb, t.Label == "1"
		case t.Label != "":
			out.By, out.Good = People, t.Label == "1"
		case strings.HasPrefix(t.Said, proviso.Fail.String()):
			out.By = Failure
		}
		out.Label = ""
		entry := t.Entry()
		if row, ok := at[t.ID]; ok {
			content, known := in.Known[t.ID]
			if out.Known = !known || content == entry.OutputID; out.Known {
				out.row = row
			}
		}
		if !out.Known && taken[t.ID] {
			for n := 2; taken[out.ID] && !out.Known; n++ {
				out.ID = fmt.Sprintf("%s~%d", t.ID, n)
				if row, ok := at[out.ID]; ok && in.Known[out.ID] == entry.OutputID {
					out.Known, out.row = true, row
				}
			}
			r.Renamed = append(r.Renamed, [2]string{t.ID, out.ID})
		}
		taken[out.ID] = true
		r.Outputs = append(r.Outputs, out)
	}
}

// merge appends the new rows to the grid.
func (r *Report) merge(in Input) {
	g := &matrix.Grid{Names: in.Grid.Names, Columns: in.Grid.Columns, Entries: slices.Clone(in.Grid.Entries), Cells: slices.Clone(in.Grid.Cells)}
	for i := range g.Entries {
		if g.Entries[i].OutputID == "" {
			g.Entries[i].OutputID = in.Known[g.Entries[i].ID]
		}
	}
	next := 0
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if out.Known {
			continue
		}
		out.row = len(g.Entries)
		g.Entries = append(g.Entries, r.Tried.Entries[next])
		g.Cells = append(g.Cells, r.Tried.Cells[next])
		next++
	}
	r.Grid = g
}

// label sets the labels in the grid. People's labels have priority over thumbs.
func (r *Report) label(in Input) error {
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if e := &r.Grid.Entries[out.row]; out.By == People {
			e.Label = word(out.Good)
		}
	}
	if in.Labels != nil {
		if err := in.Labels(r.Grid.Entries); err != nil {
			return err
		}
	}
	for i := range r.Outputs {
		out := &r.Outputs[i]
		e := &r.Grid.Entries[out.row]
		switch {
		case e.Label != "":
			out.By, out.Good = People, e.Label == "1"
		case out.By == Thumb && in.Thumbs:
			e.Label, e.Note = word(out.Good), "thumb of a user"
			r.Thumbs++
		}
	}
	return nil
}

func word(good bool) string {
	if good {
		return "1"
	}
	return "0"
}

// selectAgain selects with all outputs, and explains what changed.
func (r *Report) selectAgain(ctx context.Context, in Input) error {
	// Exclude the candidates that people rejected.
	known := r.Grid.Matrix().Only(func(name string) bool { return slices.Contains(in.Before.Matrix.Names, name) })
	r.Problem = selection.Problem{Matrix: known, Options: in.Before.Options}
	for _, p := range in.Before.Implications {
		if r.contradicts(p) {
			r.Contradicted = append(r.Contradicted, p)
			continue
		}
		r.Problem.Implications = append(r.Problem.Implications, p)
	}
	var err error
	if r.Before, err = selection.Select(ctx, in.Before.Matrix, in.Before.Implications, in.Before.Options); err != nil {
		r.Before = nil
	}
	if r.After, err = selection.Select(ctx, r.Problem.Matrix, r.Problem.Implications, r.Problem.Options); err != nil {
		return err
	}
	if r.Before == nil {
		return nil
	}
	r.Shifts, err = selection.Explain(ctx, in.Before, r.Problem)
	return err
}

// contradicts reports whether an output passes A and fails B.
func (r *Report) contradicts(p candidate.Implication) bool {
	a, b := slices.Index(r.Grid.Names, p.A), slices.Index(r.Grid.Names, p.B)
	return a >= 0 && b >= 0 && slices.ContainsFunc(r.Grid.Cells, func(row []matrix.Cell) bool { return row[a] == matrix.Passed && row[b] == matrix.Failed })
}

// verdict returns the verdict of a set of candidates on an output, and which of them fail it.
func (r *Report) verdict(row int, set []int) (cell matrix.Cell, failing []string) {
	cell = matrix.Passed
	for _, j := range set {
		switch r.Grid.Cells[row][j] {
		case matrix.Failed:
			failing = append(failing, r.Grid.Names[j])
		case matrix.Undecided:
			cell = matrix.Undecided
		}
	}
	if len(failing) > 0 {
		cell = matrix.Failed
	}
	return cell, failing
}

// places returns the columns of names.
func (r *Report) places(names []string) []int {
	var list []int
	for _, name := range names {
		if j := slices.Index(r.Grid.Names, name); j >= 0 {
			list = append(list, j)
		}
	}
	return list
}
