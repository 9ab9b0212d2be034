package main

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso/gate"
)

// flakyCases are the cases of a run that is made only to see what flips.
const flakyCases = 50

// runAgain measures how often verdicts flip although nothing changed: it runs the suite
// of --base-ref, or else the suite itself, a second time, and asks the models anew.
func (g *gating) runAgain(ctx context.Context) error {
	first, flags := g.head, g.f.evalFlags
	if g.commit != nil {
		first, flags = g.base, g.commit.flags
	}
	flags.models.noCache, flags.noWrite, flags.written = true, true, nil
	if flags.Filter.First == 0 || flags.Filter.First > flakyCases {
		flags.Filter.First = flakyCases
	}
	fmt.Fprintf(g.err, "proviso: --flakiness: the first %d cases of %s run again\n", flags.Filter.First, first.run.Name)
	s, out, err := g.runWhole(ctx, &flags, nil, nil)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return err
	}
	defer out.Close()
	second, err := sideOf(out.Rows, "the second run")
	if err != nil {
		return err
	}
	c, err := gate.Compare(first.run, second.run, gate.Options{})
	if err != nil {
		return err
	}
	g.flakes = gate.Flakiness(c)
	lines := flaky(g.flakes, c.Pairs)
	g.notes = append(g.notes, lines...)
	if g.base == nil { // there is no comparison to show them
		for _, line := range lines {
			g.warn(line)
		}
	}
	return nil
}

// flaky says which assertions flip without any change, and what to do.
func flaky(list []gate.Flake, cases int) []string {
	var lines []string
	most := 0.0
	for _, f := range list {
		rate := fmt.Sprintf("%.1f %% of %s (up to %.0f %%)", 100*f.Rate.Value, plural(f.Pairs, "case"), 100*f.Rate.High)
		most = max(most, f.Rate.Value)
		switch {
		case f.Unfit:
			lines = append(lines, fmt.Sprintf("Assertion %q is too flaky for a gate: without any change it flips in %s. Make it more precise, or replace it by one that needs no model.", f.Assertion, rate))
		case f.Repeats > 0:
			lines = append(lines, fmt.Sprintf("Assertion %q flips without any change in %s: run each case %d times (--repeat %d, or evaluateOptions.repeat).", f.Assertion, rate, f.Repeats, f.Repeats))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("Without any change, at most %.1f %% of the verdicts on an assertion flip, in %s.", 100*most, plural(cases, "case")))
	}
	return lines
}
