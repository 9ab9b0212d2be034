package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/stats"
)

// classes asks a model for the categories of changes. If some have no answer, it names
// them and returns exit code 3 with the classes. Without classes the error explains why
// no model was asked.
func (a *app) classes(ctx context.Context, f *spadeDeltas, changes []delta.Change) ([]classify.Classified, error) {
	m, end, err := a.spadeModel(ctx, &f.spadeAsking, "")
	if err != nil {
		return nil, err
	}
	defer end()
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
	data, err := a.spadeFile(f.against, holdsTaxonomy)
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
	var out []byte
	if f.format == formatJSON {
		if out, err = score.JSON(); err != nil {
			return err
		}
	} else {
		o := a.terminal(true)
		if f.out != "" {
			o.Color = false
		}
		out = classScoreText(&score, o)
	}
	if err := a.result(f.out, out); err != nil {
		return err
	}
	if failed == nil && len(score.Undecided) > 0 {
		return exitError{exitUndecided}
	}
	return failed
}

// shownUndecided is how many changes without an answer the terminal lists.
const shownUndecided = 10

// classScoreText shows a comparison to a person.
func classScoreText(s *classify.Score, o report.TerminalOptions) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %d with exactly the categories that people gave\n\n", plural(s.Rows, "change"), s.Exact)
	fmt.Fprintf(&b, "%-22s %5s   %-18s  %-18s  %4s  %10s  %11s\n", "category", "F1", "precision", "recall", "both", "model only", "people only")
	for _, c := range s.Categories {
		classRow(&b, c.Category, c, o)
	}
	classRow(&b, "all (micro)", s.Micro, o)
	b.WriteString("\nRanges in brackets are 95 % intervals (Wilson).\n")
	if len(s.Undecided) > 0 {
		var names []string
		for _, n := range s.Undecided[:min(len(s.Undecided), shownUndecided)] {
			names = append(names, report.Line(n, 60))
		}
		if n := len(s.Undecided) - shownUndecided; n > 0 {
			names = append(names, fmt.Sprintf("and %d more", n))
		}
		fmt.Fprintf(&b, "Undecided and not counted: %s.\n", strings.Join(names, ", "))
	}
	return b.Bytes()
}

func classRow(b *bytes.Buffer, name string, c classify.CategoryScore, o report.TerminalOptions) {
	f1 := "-"
	if f, ok := c.F1(); ok {
		f1 = fmt.Sprintf("%.3f", f)
	}
	row := fmt.Sprintf("%-22s %5s   %-18s  %-18s  %4d  %10d  %11d", name, f1, shareText(c.Precision()), shareText(c.Recall()), c.Both, c.Model, c.People)
	if o.Color && c.Category == "" {
		row = "\x1b[1m" + row + "\x1b[0m"
	}
	b.WriteString(row + "\n")
}

func shareText(e stats.Estimate, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.2f–%.2f)", e.Value, e.Low, e.High)
}
