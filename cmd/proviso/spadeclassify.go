package main

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/show"
)

// classes asks a model, or the rules, for the categories of changes. If some have no answer, it names
// them and returns exit code 3 with the classes. Without classes the error explains why
// no model was asked.
func (a *app) classes(ctx context.Context, f *spadeDeltas, changes []delta.Change) ([]classify.Classified, error) {
	if f.rules {
		list := classify.ByRules(changes)
		if n := len(list); n > 0 && len(list[n-1].Notes) > 0 {
			fmt.Fprintf(a.err, "proviso: %s\n", list[n-1].Notes[0])
		}
		return list, nil
	}
	var end closers
	defer end.close()
	m, err := a.spadeModel(ctx, &end, &f.spadeAsking, "; or classify without a model: --rules")
	if err != nil {
		return nil, err
	}
	list := classify.All(ctx, changes, m, f.concurrency)
	if ctx.Err() != nil {
		return nil, a.orStopped(ctx, ctx.Err())
	}
	var spent ask.Spent
	undecided := 0
	for i := range list {
		spent.Add(list[i].Spent)
		for _, note := range list[i].Notes {
			fmt.Fprintf(a.err, "proviso: %s: %s\n", printable(changeName(&changes[i])), printable(note))
		}
		if list[i].Err != nil {
			undecided++
			fmt.Fprintf(a.err, "proviso: %s: not classified: %s\n", printable(changeName(&changes[i])), shownError(list[i].Err))
		}
	}
	a.sayAsked(&f.spadeAsking, m, spent)
	if undecided > 0 {
		return list, exitError{exitUndecided}
	}
	return list, nil
}

func changeName(c *delta.Change) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("version %d", c.Number)
}

// spadeAgainst compares a model's categories with human labels.
func (a *app) spadeAgainst(ctx context.Context, f *spadeDeltas) error {
	data, err := a.readInput(f.against, holdsTaxonomy)
	if err != nil {
		return err
	}
	list, mistakes := classify.ReadLabelled(shownName(f.against), data)
	if err := a.mistakes(mistakes); err != nil {
		return err
	}
	said := make([][]string, len(list))
	failed := error(nil)
	if f.classify {
		changes := make([]delta.Change, len(list))
		for i := range list {
			changes[i] = list[i].Change
			changes[i].Name = list[i].Name
		}
		var classes []classify.Classified
		if classes, failed = a.classes(ctx, f, changes); classes == nil {
			return failed
		}
		for i := range classes {
			if classes[i].Err == nil {
				said[i] = append([]string{}, classes[i].Whole...)
			}
		}
	} else {
		for i := range list {
			said[i] = list[i].Predicted
		}
	}
	score := classify.ScoreOf(list, said)
	out := show.Score(&score, f.result.screen(a))
	if f.result.format == formatJSON {
		if out, err = score.JSON(); err != nil {
			return err
		}
	}
	if err := a.result(f.result.out, out); err != nil {
		return err
	}
	if failed == nil && len(score.Undecided) > 0 {
		return exitError{exitUndecided}
	}
	return failed
}
