package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
)

// spadeLabel holds the flags of spade label.
type spadeLabel struct {
	trials     trialFlags
	labels     string
	from       []string
	matrix     string
	sets       []string
	review     string
	verdicts   bool
	author     string
	alpha, tau float64
}

// usualLabels is the default file of labels.
const usualLabels = "labels.jsonl"

func newSpadeLabel(a *app) *cobra.Command {
	f := &spadeLabel{}
	cmd := &cobra.Command{
		Use:   "label",
		Short: "Label outputs as good or bad",
		Long: "label shows one output at a time, the most informative first, and reads a key for its label:\n" +
			"g good, b bad, s skip, u undo, n note, q quit. Every answer is written to the file of labels\n" +
			"before the next output is shown, and the same command continues where the last one ended.\n" +
			"`spade matrix --labels` reads the file.\n\n" +
			"With --matrix, which needs no labels, the most informative output is the one that separates\n" +
			"most candidates; without it, the one least similar to those shown before.\n\n" +
			"If standard input is not a terminal, answers are read from it line by line: good, bad, skip,\n" +
			"undo, note TEXT, quit. --set ID=good labels without asking.\n\n" +
			"Exit codes: 0 done, 2 a mistake in the command line, a file or an answer, 130 interrupted;\n" +
			"earlier answers are always kept.",
		Args:    atMost(0),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeLabel(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *spadeLabel) register(fs *pflag.FlagSet) {
	f.trials.register(fs)
	fs.StringVar(&f.labels, "labels", usualLabels, "JSON Lines `FILE` to add labels to")
	fs.StringArrayVar(&f.from, "from", nil, "take labels of unlabelled outputs from `FILE`, CSV or JSON Lines; may be repeated")
	fs.StringVar(&f.matrix, "matrix", "", "`FILE` of the matrix, used to choose the next output to label")
	fs.StringArrayVar(&f.sets, "set", nil, "label without asking: `ID=good` or ID=bad, or ID= to remove a label; may be repeated")
	choiceVar(fs, &f.review, "review", "", []string{"all", "good", "bad"}, "review the outputs with the label `LABEL`: good, bad or all")
	fs.Lookup("review").NoOptDefVal = "all"
	fs.BoolVar(&f.verdicts, "show-verdicts", false, "show the verdicts of the run on each output, which may bias people")
	fs.StringVar(&f.author, "author", "", "`NAME` of the person who labels, stored with each label")
	shareVar(fs, &f.alpha, "alpha", 0.6, "show how many bad outputs are enough for this `SHARE`")
	shareVar(fs, &f.tau, "tau", 0.25, "show how many good outputs are enough for this `SHARE`")
}

// check rejects flags that exclude each other.
func (f *spadeLabel) check(cmd *cobra.Command) error {
	if err := f.trials.check(cmd); err != nil {
		return err
	}
	see := seeHelp(cmd)
	switch {
	case !strings.EqualFold(filepath.Ext(f.labels), ".jsonl"):
		return usageError{fmt.Errorf("--labels %q: labels are kept as JSON Lines", f.labels), "name a file that ends in .jsonl; --from reads CSV"}
	case f.trials.examples != "" && filepath.Clean(f.labels) == filepath.Clean(f.trials.examples):
		return usageError{errors.New("--labels and --examples name the same file"), "labels go to a file of their own"}
	case len(f.sets) > 0 && f.review != "":
		return usageError{errors.New("--set and --review exclude each other"), see}
	case !(f.alpha >= 0 && f.alpha <= 1) || !(f.tau >= 0 && f.tau <= 1):
		return usageError{errors.New("--alpha and --tau are shares from 0 to 1"), see}
	}
	return nil
}

func (a *app) spadeLabel(ctx context.Context, f *spadeLabel) error {
	var end closers
	defer end.close()
	outputs, err := a.openTrials(ctx, &end, &f.trials)
	if err != nil {
		return err
	}
	log, err := a.openLabels(f, outputs.entries)
	if err != nil {
		return err
	}
	defer log.Close()
	s := &labelSession{app: a, f: f, log: log}
	s.wantBad, s.wantGood = label.Wanted(f.alpha, f.tau, show.Confidence)
	if err := s.takeFrom(f.from, outputs.entries); err != nil {
		return err
	}
	if len(f.sets) > 0 {
		if err := s.set(outputs.entries); err != nil {
			return err
		}
		s.summary()
		return nil
	}
	if err := s.start(outputs); err != nil {
		return err
	}
	return s.ask(ctx)
}

// openLabels opens the file of labels, and prints notes about it.
func (a *app) openLabels(f *spadeLabel, entries []trial.Entry) (*label.Log, error) {
	log, mistakes, err := label.OpenLog(f.labels, entries, f.author)
	if err != nil {
		return nil, err
	}
	if err := a.mistakes(mistakes); err != nil {
		return nil, err
	}
	if log.Cut != "" {
		a.warn(fmt.Sprintf("the last line of %s was incomplete and is removed: %s", f.labels, shortName(log.Cut)))
	}
	if log.Stale > 0 {
		a.warn(fmt.Sprintf("%s of %s left alone: for other outputs than these", plural.Of(log.Stale, "label"), f.labels))
	}
	return log, nil
}

// labelSession is one run of spade label.
type labelSession struct {
	*app
	f                 *spadeLabel
	log               *label.Log
	l                 *label.Session
	wantBad, wantGood int // number of labels that suffices for alpha and tau

	view show.Output
}

// start prepares the session.
func (s *labelSession) start(outputs *openedTrials) error {
	var trials []trial.Trial
	for t, err := range outputs.all {
		if err != nil {
			return err
		}
		trials = append(trials, t)
	}
	if len(trials) != len(outputs.entries) {
		return proviso.Errorf(proviso.Conflict, "%s was changed while it was read", outputs.name)
	}
	o := label.Options{Review: s.f.review}
	if s.f.matrix != "" {
		var err error
		if o.Grid, err = s.readGrid(s.f.matrix); err != nil {
			return err
		}
		ids := map[string]bool{}
		for _, e := range o.Grid.Entries {
			ids[e.ID] = true
		}
		if !slices.ContainsFunc(outputs.entries, func(e trial.Entry) bool { return ids[e.ID] }) {
			return proviso.Errorf(proviso.Invalid, "%s and %s have no id in common", s.f.matrix, outputs.name)
		}
	}
	var err error
	s.l, err = label.Start(trials, s.log, o)
	return err
}

// takeFrom copies labels from files to outputs that have none. All files are read before the first
// label is written.
func (s *labelSession) takeFrom(files []string, entries []trial.Entry) error {
	read := make([][]trial.Entry, len(files))
	for k, file := range files {
		read[k] = slices.Clone(entries)
		for i := range read[k] {
			read[k][i].Label = ""
		}
		if err := s.takeLabels(file, read[k]); err != nil {
			return err
		}
	}
	for k, said := range read {
		n := 0
		for i, e := range said {
			if label, _ := s.log.Label(i); label != "" || e.Label == "" {
				continue
			}
			if err := s.log.Set(i, e.Label, ""); err != nil {
				return err
			}
			n++
		}
		fmt.Fprintf(s.err, "proviso: took %s from %s\n", plural.Of(n, "label"), printable(shownName(files[k])))
	}
	return nil
}

// set applies the labels of --set, all of them or none.
func (s *labelSession) set(entries []trial.Entry) error {
	type change struct {
		entry int
		label string
	}
	at := make(map[string]int, len(entries))
	ids := make([]string, len(entries))
	for i, e := range entries {
		at[e.ID], ids[i] = i, e.ID
	}
	var changes []change
	var wrong []error
	for _, text := range s.f.sets {
		i := strings.LastIndexByte(text, '=')
		if i < 0 {
			wrong = append(wrong, fmt.Errorf("--set %q: ID=good or ID=bad is expected", text))
			continue
		}
		id, word := text[:i], text[i+1:]
		entry, known := at[id]
		if !known {
			wrong = append(wrong, fmt.Errorf("--set %q: no output has the id %q%s", text, id, document.DidYouMean(id, ids)))
		}
		label := ""
		if word != "" {
			good, ok := align.ParseVerdict(word)
			if !ok {
				near := ""
				if n := trial.NearestLabel(word); n != "" {
					near = fmt.Sprintf(" (did you mean %q?)", n)
				}
				wrong = append(wrong, fmt.Errorf("--set %q: the label is %q; good or bad is expected%s", text, word, near))
			}
			label = map[bool]string{true: "1", false: "0"}[good]
		}
		changes = append(changes, change{entry, label})
	}
	if len(wrong) > 0 {
		return proviso.Errorf(proviso.Invalid, "%w", errors.Join(wrong...))
	}
	for _, c := range changes {
		_, note := s.log.Label(c.entry)
		if err := s.log.Set(c.entry, c.label, note); err != nil {
			return err
		}
	}
	return nil
}

// ask goes through the outputs: with single keys on a terminal, otherwise line by line.
func (s *labelSession) ask(ctx context.Context) error {
	if _, ok := s.l.Current(); !ok {
		s.summary()
		return nil
	}
	in, _ := s.in.(*os.File)
	var err error
	if in != nil && term.IsTerminal(int(in.Fd())) && isTerminal(s.out) {
		err = s.askByKeys(ctx, in, fileOf(s.out))
	} else {
		err = s.askByLines(ctx)
	}
	if errors.Is(err, errInterrupted) {
		n := s.log.Labels()
		fmt.Fprintf(s.err, "proviso: interrupted; %s kept in %s, and the same command continues\n", plural.Of(n.Good+n.Bad, "label"), printable(s.f.labels))
		return exitError{exitInterrupted}
	}
	s.summary()
	return err
}

var errInterrupted = errors.New("interrupted")

// summary prints what is labelled, and what cannot be measured with the labels.
func (s *labelSession) summary() {
	n := s.log.Labels()
	text := fmt.Sprintf("%s: %d good, %d bad, %d without a label", printable(s.f.labels), n.Good, n.Bad, n.Left)
	if s.l != nil && s.l.Skipped() > 0 && s.f.review == "" {
		text += fmt.Sprintf(" (%d skipped)", s.l.Skipped())
	}
	fmt.Fprintln(s.err, "proviso: "+text+"; "+s.enough(n))
	if text := n.OneSided(); text != "" {
		s.warn(text)
	}
	s.warnContradictions(s.log.Entries())
}

// enough describes what the labels suffice for.
func (s *labelSession) enough(n trial.Labels) string {
	part := func(have, want int, kind, threshold string, value float64) string {
		switch {
		case want == 0:
			return fmt.Sprintf("no number of %s outputs shows %s %v", kind, threshold, value)
		case have >= want:
			return fmt.Sprintf("enough %s ones for %s %v", kind, threshold, value)
		}
		return fmt.Sprintf("%d more %s for %s %v", want-have, kind, threshold, value)
	}
	return part(n.Bad, s.wantBad, "bad", "alpha", s.f.alpha) + ", " + part(n.Good, s.wantGood, "good", "tau", s.f.tau)
}
