package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
)

// sayStep prints the file of a step and a summary of its contents.
func (a *app) sayStep(f *spadeRun, step, file, made string) {
	fmt.Fprintf(a.out, "%-9s %-*s  %s\n", step, len(f.file(spade.ImplicationsFile)), printable(f.file(file)), made)
}

// take records what a step has spent and reduces the budget of the later steps.
func (f *spadeRun) take(a *app, why string, step *evalFlags, s ask.Spent) {
	if tokens := s.Usage.Prompt + s.Usage.Completion; tokens > 0 {
		bill := plural.Of(int(tokens), "token") + " " + why
		if s.Cost > 0 {
			bill += " (" + usd.Text(s.Cost) + ")"
		}
		f.bills = append(f.bills, bill)
	}
	if step.asked == nil {
		return
	}
	a.sayModels(step.asked)
	if b := step.asked.Budget(); b != nil {
		left := max(0, *f.models.maxCost-b.Spent())
		f.models.maxCost = &left
	}
}

// done prints the result of a step.
func (p *pipeline) done(ctx context.Context, step spade.Step, r *spade.Result) error {
	p.clear()
	f := p.f
	switch step {
	case spade.Deltas:
		p.sayStep(f, "deltas", spade.DeltasFile, plural.Of(len(r.History.Changes), "version")+" of the prompt")
	case spade.Propose:
		p.sayStep(f, "propose", spade.CandidatesFile, show.ProposalLine(r.Proposal, p.model != nil))
		f.take(p.app, "to propose", p.asked, r.Proposal.Spent())
		if p.also != nil {
			f.take(p.app, "", p.also, ask.Spent{}) // the tokens are already counted by the proposal
		}
		if p.model == nil {
			p.sayUnread(r.History)
		} else {
			p.sayNotes(r.Proposal)
			p.sayDropped(r.Proposal, false)
			if ctx.Err() == nil {
				p.sayFailed(r.Proposal)
			}
		}
	case spade.Try:
		if !f.tries() {
			return nil
		}
		p.sayStep(f, "matrix", spade.MatrixFile, show.GridLine(r.Grid))
		p.warnUnkept(r.Grid)
		p.sayTroubles(r.Grid)
		f.take(p.app, "to try them", p.asked, ask.Spent{Usage: r.Grid.Usage, Cost: r.Grid.Cost})
	case spade.Imply:
		p.sayStep(f, "subsume", spade.ImplicationsFile, show.SubsumptionLine(r.Implied))
		f.take(p.app, "to find implications", p.asked, r.Implied.Spent)
		p.warnOfProofs(r.Implied)
		p.sayUnanswered(r.Implied)
	case spade.Select:
		if !r.Selection.Found() {
			p.sayVerdict(shownSelection(r))
		}
		if n := len(r.SetAside); n > 0 {
			fmt.Fprintf(p.err, "proviso: %s of what the prompt no longer asks left out, since no labels show that they still hold: %s\n", plural.Of(n, "candidate"), show.Names(r.SetAside, show.MaxNames))
		}
		file := spade.SuiteFile
		if !r.Selection.Found() {
			file = spade.SelectionFile
			p.sayUnwritten(f.file(spade.SuiteFile))
		}
		p.sayStep(f, "select", file, show.SelectionLine(shownSelection(r)))
	case spade.Cover:
		return p.covered(r)
	}
	return nil
}

// sayUnwritten prints that a file of assertions is not written because nothing could be selected: a
// suite with an empty file would pass without checking anything.
func (a *app) sayUnwritten(file string) {
	state := "is not written"
	if _, err := os.Stat(file); err == nil {
		state = "is left as it was"
	}
	fmt.Fprintf(a.err, "proviso: %s %s, since nothing could be selected\n", printable(filepath.ToSlash(file)), state)
}

func shownSelection(r *spade.Result) show.Selection {
	return show.Selection{Selection: r.Selection, Took: r.Took}
}

// covered writes the report, and prints what the selection checks, what changed, and what to do
// next.
func (p *pipeline) covered(r *spade.Result) error {
	sum := r.Cover.Sum(r.Candidates, r.Proposal.Unproposed)
	parts := [][]byte{bytes.TrimRight(show.SelectionMarkdown(shownSelection(r)), "\n"), bytes.TrimRight(show.CoverMarkdown(r.Cover), "\n"), show.SumMarkdown(sum)}
	line := show.CoverLine(r.Cover)
	if !r.Selection.Found() {
		line += ": of this run, which selected nothing"
		parts = slices.Insert(parts, 1, []byte("The coverage is of this run, which selected nothing; `selected.yaml` of an earlier run does not count."))
	}
	report := bytes.Join(parts, []byte("\n\n"))
	if err := p.result(p.f.file(runReport), report); err != nil {
		return err
	}
	p.sayStep(p.f, "coverage", runReport, line)
	for _, line := range show.SumLines(sum) {
		fmt.Fprintf(p.out, "          %s\n", line)
	}
	if r.Compared {
		p.showShifts(r.Shifts)
	} else if r.Selection.Found() {
		fmt.Fprintf(p.err, "proviso: a suite takes them with assertions: file://%s\n", printable(filepath.ToSlash(p.f.file(spade.SuiteFile))))
	}
	if r.Unkept != nil {
		p.warn(fmt.Sprintf("what changes the next time will not be explained: %v", r.Unkept))
	}
	for _, line := range show.Unbound(shownSelection(r)) {
		fmt.Fprintf(p.err, "proviso: %s\n", line)
	}
	for _, c := range r.Contradictions {
		fmt.Fprintf(p.err, "proviso: no output can pass both %s and %s, and no label shows which is right: neither is selected, unless it is pinned\n", printable(c[0]), printable(c[1]))
	}
	good, bad := r.Matrix.Count()
	p.sayNext(p.f, shownSelection(r), good, bad)
	return nil
}

func (a *app) showShifts(shifts []selection.Shift) {
	if len(shifts) == 0 {
		fmt.Fprintln(a.out, "\nThe selection is that of the last time.")
		return
	}
	fmt.Fprintln(a.out, "\nSince the last time")
	for _, c := range shifts {
		sign := "-"
		if c.Selected {
			sign = "+"
		}
		fmt.Fprintf(a.out, "  %s %s  %s; %s\n", sign, printable(c.Name), c.Cause, printable(c.Because))
	}
}

// sayNext prints the usage of the steps, and what would improve the selection.
func (a *app) sayNext(f *spadeRun, s show.Selection, good, bad int) {
	if len(f.bills) > 0 {
		rest := ""
		if f.models.replay != "" {
			rest = "; it was replayed, and nothing was spent"
		}
		fmt.Fprintf(a.err, "proviso: models took %s%s\n", strings.Join(f.bills, ", "), rest)
	}
	label := "proviso spade label --labels " + f.file(runLabels) + " " + f.trials.words()
	switch {
	case !f.tries():
		fmt.Fprintln(a.err, "proviso: nothing was tried; give outputs with --examples FILE or --run last to select by what candidates catch")
	case good == 0 || bad == 0:
		fmt.Fprintf(a.err, "proviso: selecting by catches needs both good and bad outputs; label some: %s --matrix %s\n", label, f.file(spade.MatrixFile))
	case len(s.Uncaught) > 0 && s.Found():
		a.sayUncaught(f, s, label)
	}
}

// sayUncaught names the bad outputs that no candidate within tau catches. If a candidate catches
// one but fails a few good outputs, a label may be wrong.
func (a *app) sayUncaught(f *spadeRun, s show.Selection, label string) {
	what, them := "outputs", "them"
	if len(s.Uncaught) == 1 {
		what, them = "output", "it"
	}
	fmt.Fprintf(a.err, "proviso: %s catches %s %s, labelled bad\n", show.NoneWithin(s), what, show.Names(s.Uncaught, show.MaxNames))
	name, caught, failed := s.Almost()
	if name == "" {
		way := "write an assertion for it into " + f.file(spade.CandidatesFile)
		if len(s.Uncaught) > 1 {
			way = "write assertions for them into " + f.file(spade.CandidatesFile)
		}
		switch {
		case f.model == "":
			way = "propose with --model, or " + way
		case f.trials.examples != "":
			way = fmt.Sprintf("ask what is wrong with %s (the same versions with proviso spade propose --model %s %s --uncaught %s -o %s), or %s",
				them, printable(f.model), printable(f.trials.words()), printable(f.file(spade.MatrixFile)), printable(f.file(spade.CandidatesFile)), way)
		}
		fmt.Fprintf(a.err, "proviso: %s\n", way)
		return
	}
	fmt.Fprintf(a.err, "proviso: %s catches %s and fails %s, labelled good; look at that label again: %s --matrix %s --review=good\n",
		report.Line(name, 60), show.Names(caught, show.MaxNames), show.Names(failed, show.MaxNames), label, f.file(spade.MatrixFile))
}

// words returns the flags that name the outputs.
func (f *trialFlags) words() string {
	if f.run != "" {
		return "--run " + f.run
	}
	return "--examples " + f.examples
}
