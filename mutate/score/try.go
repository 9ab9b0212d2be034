package score

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// made is a mutant and the instruction that it breaks.
type made struct {
	at int // index in Report.Instructions; -1 is AnyAnswer
	mutate.Mutant
}

// tried is the result of a mutant, without the mutant's text.
type tried struct {
	sub       *subject
	n         int // index among the mutants of its output
	at        int
	operator  string
	basis     mutate.Basis
	also      int
	change    Change
	killed    bool
	undecided bool
}

// text is an output or one of its mutants, to run assertions on.
type text struct {
	sub    *subject
	mutant *string // nil for the unchanged output
}

// decide runs some assertions of a group on texts. It returns one row of cells for each
// text.
func (s *scoring) decide(ctx context.Context, g *group, which []int, texts iter.Seq[text]) ([][]matrix.Cell, error) {
	if len(which) == 0 {
		return nil, nil
	}
	list := make([]proviso.Candidate, len(which))
	for n, j := range which {
		list[n] = g.set.Assertions[j]
	}
	trials := func(yield func(trial.Trial, error) bool) {
		for of := range texts {
			t := of.sub.Trial
			if of.mutant != nil {
				t.Output = outputOf(t.Output, *of.mutant)
			}
			if !yield(t, nil) {
				return
			}
		}
	}
	o := s.o.Try
	if s.o.Tick != nil {
		before := s.tried
		o.Tick = func(done int) { s.o.Tick(before + done) }
	}
	grid, err := matrix.Try(ctx, list, trials, o)
	if err != nil {
		return nil, err
	}
	s.tried += len(grid.Cells)
	s.r.Usage.Add(grid.Usage)
	s.r.Cost += grid.Cost
	for n, j := range which {
		a := &s.r.Assertions[g.at[j]]
		if why := grid.Columns[n].Why; len(why) > 0 && a.Why == "" {
			a.Why = why[0]
		}
		if why := grid.Columns[n].NotRunnable; why != "" {
			a.NotRun = why
			s.unrunnable[g.at[j]] = true
		}
	}
	return grid.Cells, nil
}

// outputOf returns a mutant as the kind of value that its output is: a structure stays a
// structure if the text is JSON.
func outputOf(output any, text string) any {
	if _, isText := output.(string); isText {
		return text
	}
	if v, err := value.ParseJSON(text); err == nil {
		return v
	}
	return text
}

// try breaks the outputs of a group, and runs its assertions on the mutants.
func (s *scoring) try(ctx context.Context, g *group) error {
	var list []*tried
	grid, err := s.decideMutants(ctx, g, g.code, &list)
	if err != nil {
		return err
	}
	s.tally(g, g.code, list, grid)
	if len(g.judged) > 0 {
		var left []*tried
		passed := func(sub *subject) bool { // otherwise a verdict on a mutant has no meaning
			return slices.ContainsFunc(g.judged, func(j int) bool { return sub.cells[j] == matrix.Passed })
		}
		for _, t := range list {
			if !t.killed && passed(t.sub) {
				left = append(left, t)
			}
		}
		grid, err := s.decide(ctx, g, g.judged, s.again(ctx, g, left))
		if err != nil {
			return err
		}
		s.tally(g, g.judged, left, grid)
	}
	for _, t := range list {
		t.undecided = t.undecided || s.unknown(g, t.sub)
		s.count(t)
	}
	return nil
}

// unknown reports whether an assertion that might kill an output's mutants could not be
// decided on the unchanged output. An assertion that is undecided on every output is
// ignored, unless it asks a model or cannot run here.
func (s *scoring) unknown(g *group, sub *subject) bool {
	for _, which := range [][]int{g.code, g.judged} {
		for _, j := range which {
			at := g.at[j]
			if sub.cells[j] == matrix.Undecided && (s.decides[at] || s.unrunnable[at] || s.r.Assertions[at].Judged) {
				return true
			}
		}
	}
	return false
}

// decideMutants runs assertions on all mutants of a group. It appends the mutants, without
// their texts, to list.
func (s *scoring) decideMutants(ctx context.Context, g *group, which []int, list *[]*tried) ([][]matrix.Cell, error) {
	mutants := func(yield func(text) bool) {
		for sub, all := range s.mutants(ctx, g.subjects) {
			for n, m := range all {
				*list = append(*list, &tried{sub: sub, n: n, at: m.at, operator: m.Operator, basis: m.Basis, also: m.Also, change: changeOf(sub.Text(), m.Text)})
				if !yield(text{sub, &m.Text}) {
					return
				}
			}
		}
	}
	if len(which) == 0 {
		mutants(func(text) bool { return true })
		return nil, ctx.Err()
	}
	return s.decide(ctx, g, which, mutants)
}

// again makes the same mutants once more, and yields those in left.
func (s *scoring) again(ctx context.Context, g *group, left []*tried) iter.Seq[text] {
	return func(yield func(text) bool) {
		next := 0
		for sub, all := range s.mutants(ctx, g.subjects) {
			for next < len(left) && left[next].sub == sub {
				if !yield(text{sub, &all[left[next].n].Text}) {
					return
				}
				next++
			}
		}
	}
}

// mutants breaks the usable outputs in parallel, and yields the mutants of each output in
// order.
func (s *scoring) mutants(ctx context.Context, subjects []*subject) iter.Seq2[*subject, []made] {
	return func(yield func(*subject, []made) bool) {
		usable := slices.DeleteFunc(slices.Clone(subjects), func(sub *subject) bool { return !sub.usable })
		ahead := max(1, runtime.GOMAXPROCS(0))
		results := make([]chan []made, len(usable))
		start := func(i int) {
			if i < len(usable) {
				results[i] = make(chan []made, 1)
				go func() { results[i] <- s.broken(ctx, usable[i]) }()
			}
		}
		for i := range ahead {
			start(i)
		}
		for i, sub := range usable {
			all := <-results[i]
			results[i] = nil
			if ctx.Err() != nil || !yield(sub, all) {
				return
			}
			start(i + ahead)
		}
	}
}

// broken returns the mutants of one output: those for all instructions of its prompt, and
// those made by the model.
func (s *scoring) broken(ctx context.Context, sub *subject) []made {
	var list []made
	c := s.checker(ctx, sub)
	for i := range sub.prompt.asked {
		a := &sub.prompt.asked[i]
		if c.brokenAlready(a) {
			continue
		}
		most := s.o.Mutants
		if a.at < 0 {
			most = 0 // AnyAnswer has only a few mutants
		}
		for _, m := range mutate.Of(&a.in, &mutate.Output{ID: sub.ID, Text: sub.Text(), Vars: sub.Vars}, mutate.Options{
			Seed: s.o.Seed, Most: most, Stands: func(text string) mutate.Standing { return c.stands(a, text) },
		}) {
			list = append(list, made{a.at, m})
		}
	}
	return append(list, sub.model...)
}

// checker decides the checks that rules derive from a prompt's instructions.
type checker struct {
	ctx  context.Context
	sub  *subject
	base []proviso.Status // statuses on the unchanged output
}

func (s *scoring) checker(ctx context.Context, sub *subject) *checker {
	c := &checker{ctx: ctx, sub: sub}
	c.base = c.decide(sub.Text())
	return c
}

// decide returns the status of every check on a text.
func (c *checker) decide(text string) []proviso.Status {
	row := &check.Row{Output: &proviso.Output{Value: text}, Prompt: c.sub.Trial.Prompt, HasPrompt: c.sub.HasPrompt, Vars: c.sub.Vars}
	verdicts := c.sub.prompt.set.Eval(c.ctx, row)
	list := make([]proviso.Status, len(verdicts))
	for i := range verdicts {
		list[i] = verdicts[i].Status
	}
	return list
}

// brokenAlready reports whether the unchanged output fails a check of an instruction.
func (c *checker) brokenAlready(a *asked) bool {
	return slices.ContainsFunc(a.checks, func(i int) bool { return c.base[i] == proviso.Fail })
}

// stands returns which checks of the instruction and of the others a text keeps.
func (c *checker) stands(a *asked, text string) mutate.Standing {
	var st mutate.Standing
	if len(c.base) == 0 {
		return st
	}
	for i, status := range c.decide(text) {
		own := slices.Contains(a.checks, i)
		switch {
		case own && status != proviso.Errored && c.base[i] == proviso.Pass:
			st.Known, st.Broken = true, st.Broken || status == proviso.Fail
		case !own && status == proviso.Fail && c.base[i] == proviso.Pass:
			st.Others++
		}
	}
	return st
}
