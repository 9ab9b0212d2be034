package spade

import (
	"context"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// work is the state of one run.
type work struct {
	Steps
	result *Result
	folder folder
}

// step runs one step between the calls of Open and Done.
func (w *work) step(ctx context.Context, name Step, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.Open != nil {
		end, err := w.Open(ctx, name, &w.Steps, w.result)
		if err != nil {
			return err
		}
		if end != nil {
			defer end()
		}
	}
	if err := do(ctx); err != nil {
		return err
	}
	if w.Done != nil {
		return w.Done(ctx, name, w.result)
	}
	return nil
}

func (w *work) deltas(context.Context) error {
	if w.History == nil || len(w.History.Changes) == 0 {
		return proviso.Errorf(proviso.Invalid, "there is no history of a prompt")
	}
	data, err := w.History.JSON(nil)
	if err != nil {
		return err
	}
	return w.folder.write(DeltasFile, append(data, '\n'))
}

// propose makes candidates. If it is stopped, it keeps the proposals so far.
func (w *work) propose(ctx context.Context) error {
	o := w.Propose
	o.Rules = o.Rules || o.Model == nil
	if o.Compiler == nil {
		o.Compiler = w.Compiler
	}
	if !w.Fresh {
		var err error
		if o.Earlier, err = w.folder.earlier(); err != nil {
			return err
		}
	}
	o.Earlier = o.Earlier.With(w.Own)
	if w.Folder != "" {
		o.Save = func(p *propose.Proposal) error { return w.folder.write(CandidatesFile, p.YAML(p.About(w.History))) }
	}
	p, err := propose.Run(ctx, w.History, o)
	if p == nil || err != nil && ctx.Err() == nil {
		return err
	}
	data := p.YAML(p.About(w.History))
	if err := w.folder.write(CandidatesFile, data); err != nil {
		return err
	}
	w.result.Proposal = p
	list, mistakes := candidate.Read(w.folder.name(CandidatesFile), data) // as the other steps read them from a file
	if err := mistakes.Err(); err != nil {
		return err
	}
	w.result.Candidates = list
	return nil
}

// try decides the candidates on the outputs.
func (w *work) try(ctx context.Context) error {
	list := w.result.Candidates
	if len(list) == 0 {
		return ErrNoCandidates
	}
	if err := w.pinned(); err != nil {
		return err
	}
	g := &matrix.Grid{Columns: make([]matrix.Column, len(list))}
	for i := range list {
		g.Names = append(g.Names, list[i].Name)
	}
	if w.Trials != nil {
		o := w.Try
		if o.Compiler == nil {
			o.Compiler = w.Compiler
		}
		var err error
		if g, err = matrix.Try(ctx, list, w.Trials, o); err != nil {
			return err
		}
	}
	w.result.Grid = g
	if err := w.cost(list, g); err != nil {
		return err
	}
	if err := w.folder.writeBy(MatrixFile, g.CSV); err != nil {
		return err
	}
	m := g.Matrix()
	rejected := len(w.Reject) > 0
	w.setAside(m)
	w.result.Matrix = m.Only(func(name string) bool { return !slices.Contains(w.Reject, name) })
	switch {
	case len(w.result.Matrix.Names) > 0:
		return nil
	case rejected:
		return ErrAllRejected
	}
	return ErrNoCandidates
}

// pinned rejects unknown candidate names before anything is tried.
func (w *work) pinned() error {
	names := make([]string, len(w.result.Candidates))
	for i := range w.result.Candidates {
		names[i] = w.result.Candidates[i].Name
	}
	return w.Select.Known(names)
}

// setAside excludes the candidates of text that the prompt no longer has from a selection that
// ignores labels: nothing shows that they still apply.
func (w *work) setAside(m *matrix.Matrix) {
	if good, bad := m.Count(); good > 0 && bad > 0 && w.Select.Method != "none" {
		return
	}
	w.Reject = slices.Clone(w.Reject)
	for i := range w.result.Candidates {
		if c := &w.result.Candidates[i]; c.Delta.Removed > 0 {
			w.Reject = append(w.Reject, c.Name)
			w.result.SetAside = append(w.result.SetAside, c.Name)
		}
	}
}

// cost saves what the candidates cost.
func (w *work) cost(list []proviso.Candidate, g *matrix.Grid) error {
	w.result.Costs = g.Costs(list, w.folder.costs())
	if len(w.result.Costs) == 0 {
		return nil
	}
	data, err := w.result.Costs.JSON()
	if err != nil {
		return err
	}
	return w.folder.write(CostsFile, data)
}

// imply finds which candidate implies which.
func (w *work) imply(ctx context.Context) error {
	o := w.Subsume
	if o.Compiler == nil {
		o.Compiler = w.Compiler
	}
	if good, _ := w.result.Matrix.Count(); good > 0 {
		o.Matrix = w.result.Matrix
		if o.Tau == nil {
			o.Tau = &w.Select.Tau
		}
	}
	list := slices.DeleteFunc(slices.Clone(w.result.Candidates), func(c proviso.Candidate) bool {
		return slices.Contains(w.Reject, c.Name) || slices.Contains(w.Select.Ban, c.Name) || c.Ban && !slices.Contains(w.Select.Keep, c.Name)
	})
	found, err := subsume.Find(ctx, list, o)
	if err != nil {
		return err
	}
	w.result.Implied = found
	return w.folder.writeBy(ImplicationsFile, found.CSV)
}

// pick selects from the candidates.
func (w *work) pick(ctx context.Context) error {
	r := w.result
	o := w.Select
	if o.Method == "" {
		o.Method = w.method()
	}
	o.TakePriorities(r.Candidates, r.Matrix.Names)
	o.CostOfJudged(r.Candidates, r.Matrix.Names, w.JudgeCost)
	if err := selection.KnownNames("price", w.Price, r.Matrix.Names); err != nil {
		return err
	}
	if err := o.TakePrices(selection.PricesOf(r.Candidates, r.Matrix.Names, w.Price, r.Costs, w.JudgePrice)); err != nil {
		return err
	}
	if o.Method == "none" {
		w.withoutContradictions(&o)
	}
	began := time.Now()
	var err error
	if r.Selection, err = selection.Select(ctx, r.Matrix, r.Implied.Set("final"), o); err != nil {
		return err
	}
	r.Took = time.Since(began)
	if err := r.Selection.Bind(ctx); err != nil {
		return err
	}
	data, err := r.Selection.JSON(r.Took)
	if err != nil {
		return err
	}
	if err := w.folder.write(SelectionFile, append(data, '\n')); err != nil {
		return err
	}
	if r.Suite, err = r.Selection.Suite(r.Candidates, false); err != nil {
		return err
	}
	if !r.Selection.Found() {
		// A suite that includes an empty file would pass, so the file keeps what was selected
		// before.
		return nil
	}
	return w.folder.write(SuiteFile, r.Suite)
}

// withoutContradictions bans candidates that no output can both pass, unless a person keeps
// one: without labels, nothing shows which of them is right.
func (w *work) withoutContradictions(o *selection.Options) {
	r := w.result
	var list []proviso.Candidate
	for _, c := range r.Candidates {
		if slices.Contains(r.Matrix.Names, c.Name) && !slices.Contains(o.Ban, c.Name) {
			list = append(list, c)
		}
	}
	for _, pair := range subsume.Exclusive(list, w.Compiler) {
		one := Contradiction{list[pair[0]].Name, list[pair[1]].Name}
		r.Contradictions = append(r.Contradictions, one)
		for _, name := range one {
			if !slices.Contains(o.Ban, name) && !slices.Contains(o.Keep, name) {
				o.Ban = append(o.Ban, name)
			}
		}
	}
}

// method returns the best method that the labels allow: sub needs good and bad outputs, and
// base good ones.
func (w *work) method() string {
	switch good, bad := w.result.Matrix.Count(); {
	case good > 0 && bad > 0:
		return "sub"
	case good > 0:
		return "base"
	}
	return "none"
}

// cover finds which parts of the prompt the selection checks, and what has changed since the
// previous run.
func (w *work) cover(ctx context.Context) error {
	r := w.result
	list, mistakes := candidate.Read(w.folder.name(SuiteFile), r.Suite)
	if err := mistakes.Err(); err != nil {
		return err
	}
	candidate.TakeProvenance(list, r.Candidates)
	var err error
	last := w.History.Changes[len(w.History.Changes)-1].Text
	if r.Cover, err = coverage.Of(ctx, last, list, w.Compiler); err != nil || w.Folder == "" || !r.Selection.Found() {
		return err
	}
	before, ok := w.folder.lastProblem()
	if ok {
		now := selection.Problem{Matrix: r.Matrix, Implications: r.Implied.Set("final"), Options: r.Selection.Options}
		if r.Shifts, err = selection.Explain(ctx, before, now); err != nil {
			return err
		}
		r.Compared = true
	}
	r.Unkept = w.folder.keepProblem(r.Selection.Options, r.Grid.Entries)
	return nil
}
