package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/show"
)

func newSpade(a *app) *cobra.Command {
	return group("spade", "Go from a prompt's history to the smallest set of assertions that catches its failures",
		"spade has a command for each step; each reads and writes plain files, so that every step can\n"+
			"be looked at, changed, and repeated on its own.",
		newSpadeCoverage(a), newSpadeDeltas(a), newSpadeFrontier(a), newSpadeLabel(a), newSpadeMatrix(a), newSpadePropose(a), newSpadeRun(a), newSpadeSelect(a), newSpadeSubsume(a), newSpadeUpdate(a))
}

func (a *app) readMatrix(name string) (*matrix.Matrix, error) {
	return streamAs(a, name, holdsMatrix, matrix.Read)
}

// readGrid reads a matrix including rows without a label.
func (a *app) readGrid(name string) (*matrix.Grid, error) {
	return streamAs(a, name, holdsMatrix, matrix.ReadGrid)
}

func (a *app) readCandidates(name string) ([]proviso.Candidate, error) {
	return readAs(a, name, holdsCandidates, candidate.Read)
}

// readSelected reads assertions. If a file of candidates is given, they get the provenance of the
// candidates with the same names.
func (a *app) readSelected(name, candidates string) ([]proviso.Candidate, error) {
	list, err := a.readCandidates(name)
	if err != nil || candidates == "" {
		return list, err
	}
	others, err := a.readCandidates(candidates)
	if err != nil {
		return nil, err
	}
	candidate.TakeProvenance(list, others)
	return list, nil
}

// invalidCandidates returns an error from trying candidates as mistakes in their file, each with
// its position.
func (a *app) invalidCandidates(err error, name string) error {
	var invalid *matrix.InvalidError
	if ext := strings.ToLower(filepath.Ext(name)); !errors.As(err, &invalid) || ext == ".py" || ext == ".jsonl" {
		return err
	}
	data, unread := a.readInput(name, holdsCandidates)
	if unread != nil {
		return err
	}
	doc, unread := document.Parse(shownName(name), data)
	if unread != nil {
		return err
	}
	var list proviso.Mistakes
	for _, w := range invalid.Wrong {
		pointer, key := strings.CutSuffix(w.Err.Pointer, "#")
		m := proviso.Mistake{Place: doc.Place(pointer), Code: w.Err.Code, Message: w.Name + ": " + w.Err.Message, Nearest: w.Nearest}
		if key {
			m.Place = doc.KeyPlace(pointer)
		}
		list = append(list, m)
	}
	return a.mistakes(inOrder(list))
}

// notOver refuses to write over an input file or into an input folder: people's labels or texts
// would be lost, or the output would later be read as a version of the prompt.
func notOver(out string, inputs ...string) error {
	if out == "" || out == "-" {
		return nil
	}
	written, _ := os.Stat(out) // nil if it does not exist yet
	folder, _ := os.Stat(filepath.Dir(out))
	for _, name := range inputs {
		if name == "" || name == "-" {
			continue
		}
		read, err := os.Stat(name)
		switch {
		case err != nil:
		case read.IsDir() && os.SameFile(read, folder):
			return usageError{fmt.Errorf("-o %s is in %s, which is read", out, name), "name a file outside of it"}
		case read.Mode().IsRegular() && os.SameFile(read, written):
			return usageError{fmt.Errorf("-o %s is a file that is read, and would be gone", out), "name another one"}
		}
	}
	return nil
}

// missingFlag is the error for a missing input flag.
func missingFlag(cmd *cobra.Command, flag, hint string) error {
	return usageError{fmt.Errorf("--%s is missing", flag), hint + "; " + seeHelp(cmd)}
}

// spadeAsking holds the flags of spade commands that ask a model.
type spadeAsking struct {
	evalFlags // models and concurrency; the rest has no flag here
	model     string
}

// register adds the flags. does describes the model's task.
func (f *spadeAsking) register(fs *pflag.FlagSet, does string) {
	fs.StringVar(&f.model, "model", "", "provider `ID` of the model that "+does+"; overrides "+engine.JudgeVariable)
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "`N` questions at a time (default 4)")
	f.models.register(fs)
}

func (f *spadeAsking) check() error {
	return f.models.check()
}

// spadeModel opens the model. If none is named, the error lists the ways to name one, and hint, an
// alternative.
func (a *app) spadeModel(ctx context.Context, end *closers, f *spadeAsking, hint string) (*ask.Model, error) {
	e, err := a.openEngine(ctx, end, &f.evalFlags, ".", func(o *engine.Options) error {
		o.Judge = engine.Judge{Name: f.model}
		return nil
	})
	if err != nil {
		return nil, err
	}
	who, err := e.Judges()
	if err != nil {
		return nil, noModel(hint)
	}
	p, err := e.Provider(who[0])
	if err != nil {
		return nil, a.noModelAsked(err)
	}
	return &ask.Model{Provider: p, Spec: who[0]}, nil
}

// textEngine opens an engine that asks no model; files may be nil. Code that may come from a model
// runs in the kernel's sandbox without grants, otherwise not at all.
func (a *app) textEngine(ctx context.Context, end *closers, files proviso.Files, workers int) (*engine.Engine, error) {
	e, err := engine.Open(ctx, nil, engine.Options{
		Policy:    engine.Policy{Trusted: true, Sandbox: sandbox.Require, Synthesised: true},
		Judge:     engine.Judge{Off: true},
		Engines:   engine.Engines{Env: a.env, Files: files, Secrets: a.secrets},
		Limits:    engine.Limits{Workers: workers},
		Observers: engine.Observers{Warn: a.warn},
	})
	if err == nil {
		end.add(func() { closeEngine(e) })
	}
	return e, err
}

// textOnly restricts a compiler to templates: no code, no files and no network.
func textOnly(o *check.Options) {
	*o = check.Options{Templates: o.Templates, Expand: o.Expand, Engines: o.Engines}
}

// noModel is the error that explains how to name a model.
func noModel(hint string) error {
	var keys []string
	example := ""
	for _, row := range engine.DefaultJudges(judge.Text) {
		keys = append(keys, row.Key)
		if example == "" {
			example = row.Provider
		}
	}
	ways := fmt.Sprintf("name a provider with --model, such as %s, or with %s in the environment, or set %s", example, engine.JudgeVariable, strings.Join(keys, " or "))
	return usageError{errors.New("no model is named"), ways + hint}
}

// sayAsked prints the usage of the model.
func (a *app) sayAsked(f *spadeAsking, m *ask.Model, s ask.Spent) {
	if s.Calls > 0 {
		cost := ""
		if s.Cost > 0 {
			cost = ", " + usd.Text(s.Cost)
		}
		judged := ""
		if s.Judged > 0 {
			judged = fmt.Sprintf(", and a judge on %s", plural.Of(s.Judged, "output"))
		}
		fmt.Fprintf(a.err, "proviso: %s by %s%s, %s%s\n", plural.Of(s.Calls, "answer"), printable(m.Label()), judged,
			plural.Of(int(s.Usage.Prompt+s.Usage.Completion), "token"), cost)
	}
	a.sayModels(f.asked)
}

// counter shows the progress of the questions. done removes the line.
func (a *app) counter() (tell func(answered, of int), done func()) {
	if !a.watchedByPerson() {
		return nil, func() {}
	}
	return func(answered, of int) {
			fmt.Fprintf(a.err, "\r%d of %s answered\x1b[K", answered, plural.Of(of, "question"))
		},
		func() { fmt.Fprint(a.err, "\r\x1b[K") }
}

func shownError(err error) string {
	if err == nil {
		return ""
	}
	return report.Line(strings.ReplaceAll(err.Error(), "\n", "; "), 400)
}

// classes asks a model, or the rules, for the categories of changes. If some have no answer, it
// names them and returns exit code 3 with the classes. Without any classes, the error explains why
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
	list, err := readAs(a, f.against, holdsTaxonomy, classify.ReadLabelled)
	if err != nil {
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
