package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/show"
)

// sayStep prints the file of a step and its contents.
func (a *app) sayStep(f *spadeRun, step, file, made string) {
	fmt.Fprintf(a.out, "%-9s %-*s  %s\n", step, len(f.file(runImplications)), printable(f.file(file)), made)
}

// take records the spending of a step and reduces the budget of the others.
func (f *spadeRun) take(a *app, why string, step *evalFlags, s ask.Spent) {
	if tokens := s.Usage.Prompt + s.Usage.Completion; tokens > 0 {
		bill := plural(int(tokens), "token") + " " + why
		if s.Cost > 0 {
			bill += fmt.Sprintf(" ($%.4g)", s.Cost)
		}
		f.bills = append(f.bills, bill)
	}
	if step.asked == nil {
		return
	}
	a.sayModels(step.asked)
	if b := step.asked.Budget(); b != nil {
		f.models.maxCost.usd = max(0, f.models.maxCost.usd-b.Spent())
	}
}

// sayCoverage prints how much of the prompt the selection checks.
func (a *app) sayCoverage(ctx context.Context, f *spadeRun, h *delta.History) error {
	list, err := a.readCandidates(f.file(runSuite))
	if err != nil {
		return err
	}
	others, err := a.readCandidates(f.file(runCandidates))
	if err != nil {
		return err
	}
	candidate.TakeProvenance(list, others)
	e, err := a.textEngine(ctx, nil, 0)
	if err != nil {
		return err
	}
	defer closeEngine(e)
	c, err := coverage.Of(ctx, h.Changes[len(h.Changes)-1].Text, list, e.Compiler(textOnly))
	if err != nil {
		return a.orStopped(ctx, err)
	}
	a.sayStep(f, "coverage", runReport, show.CoverLine(c))
	file, err := os.ReadFile(f.file(runReport))
	if err != nil {
		return err
	}
	return a.result(f.file(runReport), bytes.Join([][]byte{bytes.TrimRight(file, "\n"), show.CoverMarkdown(c)}, []byte("\n\n")))
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
		fmt.Fprintf(a.err, "proviso: select by what candidates catch takes good and bad outputs; label some: %s --matrix %s\n", label, f.file(runMatrix))
	case len(s.Uncaught) > 0 && s.Found():
		a.sayUncaught(f, s, label)
	}
}

// sayUncaught names the bad outputs that nothing within tau catches. If a candidate
// catches one but fails a few good outputs, a label may be wrong.
func (a *app) sayUncaught(f *spadeRun, s show.Selection, label string) {
	fmt.Fprintf(a.err, "proviso: nothing within tau catches %s, labelled bad\n", show.Names(s.Uncaught, show.MaxNames))
	name, caught, failed := almost(s)
	if name == "" {
		way := "write an assertion for it into " + f.file(runCandidates)
		if f.model == "" {
			way = "propose with --model, or " + way
		}
		fmt.Fprintf(a.err, "proviso: %s\n", way)
		return
	}
	fmt.Fprintf(a.err, "proviso: %s catches %s and fails %s, labelled good; look at that label again: %s --matrix %s --review=good\n",
		report.Line(name, 60), show.Names(caught, show.MaxNames), show.Names(failed, show.MaxNames), label, f.file(runMatrix))
}

// fewFalse is the number of good outputs up to which a candidate's false failures
// suggest wrong labels.
const fewFalse = 3

// almost returns the candidate that catches most of these bad outputs and fails few
// good outputs, with the ids of both; "" if there is none.
func almost(s show.Selection) (name string, caught, failed []string) {
	for j, fails := range s.Instance.Fails {
		var bad, good []string
		for _, i := range fails {
			switch id := s.Matrix.Examples[i].ID; {
			case s.Matrix.Cells[j][i] != matrix.Failed: // undecided or passed
			case s.Instance.Good[i]:
				good = append(good, id)
			case slices.Contains(s.Uncaught, id):
				bad = append(bad, id)
			}
		}
		if len(good) > 0 && len(good) <= fewFalse && (len(bad) > len(caught) || len(bad) == len(caught) && len(bad) > 0 && len(good) < len(failed)) {
			name, caught, failed = s.Matrix.Names[j], bad, good
		}
	}
	return name, caught, failed
}

// words returns the flags that name the outputs.
func (f *trialFlags) words() string {
	if f.run != "" {
		return "--run " + f.run
	}
	return "--examples " + f.examples
}
