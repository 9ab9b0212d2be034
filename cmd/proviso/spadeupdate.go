package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/spade/update"
	"github.com/proviso-eval/proviso/value"
)

// spadeUpdate holds the flags of spade update.
type spadeUpdate struct {
	evalFlags // models, judge and trust; the other fields have no flag here
	dir       string
	trials    trialFlags
	traffic   trafficFlags
	labels    string
	thumbs    bool
	write     bool
	queue     int
	result    resultFlags
	code      candidateCode
}

// updateReport is the file with the last update, in the folder of a run.
const updateReport = "update.md"

// maxUpdated bounds the new outputs of an update, because all of them are in memory.
const maxUpdated = 20_000

func newSpadeUpdate(a *app) *cobra.Command {
	f := &spadeUpdate{}
	cmd := &cobra.Command{
		Use:   "update [FOLDER]",
		Short: "Bring a selection up to date with new outputs",
		Long: "update tries the candidates of `spade run` in FOLDER (spade if it is not given) on new outputs:\n" +
			"a file, a run, or what an agent answered on a server. It shows which selected assertions fail\n" +
			"more or less often than before, bad outputs that the selection does not catch and what they\n" +
			"share, which outputs are worth labelling, and how the selection changes, with the reasons.\n\n" +
			"It writes nothing unless --write is given: then the new outputs, the matrix and the selection\n" +
			"are in FOLDER, with the report in update.md, and `spade run` and the next update continue from\n" +
			"there. Outputs that were tried before are not tried again.\n\n" +
			"Labels of people change the selection. Thumbs of users and failures of a run are hints: they\n" +
			"choose what to look at. --thumbs shows what would be selected if thumbs were labels.\n\n" +
			"Exit codes: 0 done, 1 no selection is within the thresholds, 2 a mistake in the command line or\n" +
			"a file, 3 undecided cells leave the selection open, 130 interrupted.",
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeUpdate(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	f.trials.register(fs)
	f.traffic.register(fs)
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels that override those of the outputs (default labels.jsonl of FOLDER, if it exists)")
	fs.BoolVar(&f.thumbs, "thumbs", false, "count thumbs of users as labels where people gave none; not with --write")
	fs.BoolVar(&f.write, "write", false, "write the outputs, the matrix and the selection into FOLDER")
	countVar(fs, &f.queue, "queue", "", 10, 0, "name `N` outputs to label next")
	f.result.register(fs, formatJSON, formatMarkdown)
	fs.Lookup("output").Usage = "write the report to `FILE` instead of standard output"
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "decide `N` cells at a time (default one for each processor, and at least 4 if a model is asked)")
	f.code.register(fs)
	f.judge.registerJudge(fs)
	f.models.register(fs)
	f.evalFlags.trust.register(fs)
	return cmd
}

// check rejects flags that exclude each other.
func (f *spadeUpdate) check(cmd *cobra.Command, args []string) error {
	f.dir = cmp.Or(argument(args), "spade")
	f.result.find()
	see := seeHelp(cmd)
	if f.traffic.server == "" {
		if f.traffic.agent != "" || f.traffic.given != "" {
			return usageError{errors.New("--agent and --since are for --server"), see}
		}
		if f.trials.examples == "" && f.trials.run == "" {
			return missingFlag(cmd, "examples", "name the new outputs: a file with --examples, a run with --run, or --server and --agent")
		}
	} else if f.trials.examples != "" || f.trials.run != "" {
		return usageError{errors.New("--examples, --run and --server exclude each other"), see}
	}
	if f.thumbs && f.write {
		return usageError{errors.New("--thumbs does not go with --write: in the folder, a thumb would look like a label of a person"), "label the outputs that count, or give them to spade run, which says that they are thumbs"}
	}
	source := f.trials.check
	if f.traffic.server != "" {
		source = f.traffic.check
	}
	return errors.Join(source(cmd), f.code.check(), f.models.check(), f.evalFlags.trust.check())
}

func (f *spadeUpdate) file(name string) string { return filepath.Join(f.dir, name) }

func (a *app) spadeUpdate(ctx context.Context, f *spadeUpdate) error {
	if err := notOver(f.result.out, f.trials.examples, f.labels, f.file(spade.MatrixFile), f.file(spade.CandidatesFile)); err != nil {
		return err
	}
	in, err := a.updateInput(f)
	if err != nil {
		return err
	}
	if in.Trials, err = a.newOutputs(ctx, f); err != nil {
		return err
	}
	var end closers
	defer end.close()
	o, err := a.spadeEngine(ctx, &end, &f.evalFlags, f.dir, &f.code)
	if err != nil {
		return err
	}
	done := 0
	var clear func()
	o.Tick, clear = a.ticker(len(in.Trials), &done)
	began := time.Now()
	r, err := update.Run(ctx, in, o)
	clear()
	if ctx.Err() != nil {
		return a.interrupted(ctx, fmt.Sprintf("%d of %s tried; nothing was written", done, plural.Of(len(in.Trials), "output")))
	}
	if err != nil {
		return err
	}
	a.sayModels(f.asked)
	a.warnUnkept(r.Tried)
	a.sayTroubles(r.Tried)
	a.warnContradictions(r.Grid.Entries)
	u := show.Update{Report: r}
	if f.write {
		u.Written = f.dir
		if err := a.keepUpdate(f, in, r, time.Since(began)); err != nil {
			return err
		}
	}
	if err := a.showUpdate(f, u); err != nil {
		return err
	}
	a.sayUpdated(f, u)
	return a.exitOf(ctx, show.Selection{Selection: r.After})
}

// updateInput reads the files of a run in the folder.
func (a *app) updateInput(f *spadeUpdate) (in update.Input, err error) {
	last, ok := spade.ReadLast(f.dir)
	if !ok {
		return in, usageError{fmt.Errorf("%s has no selection to bring up to date", f.dir), "make one with proviso spade run … -o " + f.dir}
	}
	grid, err := a.readGrid(f.file(spade.MatrixFile))
	if err != nil {
		return in, err
	}
	list, err := a.readCandidates(f.file(spade.CandidatesFile))
	if err != nil {
		return in, err
	}
	for _, c := range list {
		if !slices.Contains(grid.Names, c.Name) {
			a.warn("the candidate " + printable(c.Name) + " is new; spade run tries it")
		}
	}
	return update.Input{
		Before: last.Problem, Grid: grid, Known: last.Known, Candidates: list, Thumbs: f.thumbs, Queue: f.queue,
		Labels: func(entries []trial.Entry) error { return a.takeLabels(labelsIn(f.dir, f.labels), entries) },
	}, nil
}

// newOutputs reads the new outputs.
func (a *app) newOutputs(ctx context.Context, f *spadeUpdate) ([]trial.Trial, error) {
	if f.traffic.server != "" {
		return a.answeredOn(ctx, &f.traffic)
	}
	var end closers
	defer end.close()
	o, err := a.openTrials(ctx, &end, &f.trials)
	if err != nil {
		return nil, err
	}
	if len(o.entries) > maxUpdated {
		return nil, proviso.Errorf(proviso.Limit, "%s has %d outputs, and an update takes at most %d", o.name, len(o.entries), maxUpdated)
	}
	var list []trial.Trial
	for t, err := range o.all {
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// keepUpdate writes the update into the folder.
func (a *app) keepUpdate(f *spadeUpdate, in update.Input, r *update.Report, took time.Duration) error {
	u := spade.Updated{
		Grid: r.Grid, Problem: r.Problem, Selection: r.After, Took: took, Candidates: in.Candidates,
		Costs: r.Tried.Costs(tried(in), spade.ReadCosts(f.dir)), Outputs: outputLines(r),
	}
	if err := a.keepCorrected(f, in, r); err != nil {
		return err
	}
	if err := spade.Keep(f.dir, u); err != nil {
		return err
	}
	return a.result(f.file(updateReport), show.UpdateMarkdown(show.Update{Report: r, Written: f.dir}))
}

// keepCorrected writes labels to the label file of the folder, for outputs whose label differs from
// that of the run or which had none: the outputs file that the run reads still has the old labels.
func (a *app) keepCorrected(f *spadeUpdate, in update.Input, r *update.Report) error {
	entries := slices.Clone(r.Grid.Entries)
	for i := range in.Grid.Entries {
		entries[i].Label = in.Grid.Entries[i].Label
	}
	file := f.file(runLabels)
	log, mistakes, err := label.OpenLog(file, entries, "")
	if err := errors.Join(err, a.mistakes(mistakes)); err != nil {
		return err
	}
	n, rows := 0, in.Grid.ByID()
	for _, out := range r.Outputs {
		i, ok := rows[out.ID]
		if !ok || !out.Known || out.By != update.People {
			continue
		}
		now := r.Grid.Entries[i].Label
		if before, _ := log.Label(i); now == before {
			continue
		}
		if err := log.Set(i, now, out.Note); err != nil {
			return errors.Join(err, log.Close())
		}
		n++
	}
	if n > 0 {
		fmt.Fprintf(a.err, "proviso: %s of earlier outputs changed: kept in %s\n", plural.Of(n, "label"), printable(file))
	}
	return log.Close()
}

// tried returns the candidates of the matrix, in its order.
func tried(in update.Input) []proviso.Candidate {
	var list []proviso.Candidate
	for _, name := range in.Grid.Names {
		for _, c := range in.Candidates {
			if c.Name == name {
				list = append(list, c)
			}
		}
	}
	return list
}

// outputLines returns the new outputs in the form that spade commands read. Hints are not written
// as labels.
func outputLines(r *update.Report) []byte {
	var b bytes.Buffer
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if out.Known {
			continue
		}
		o := value.ObjectOf("id", out.ID, "output", out.Output, "vars", out.Vars)
		if out.HasPrompt {
			o.Set("prompt", out.Prompt)
		}
		switch {
		case out.By == update.People && out.Good:
			o.Set("label", "good")
		case out.By == update.People:
			o.Set("label", "bad")
		}
		if out.Version != "" {
			o.Set("version", out.Version)
		}
		if out.Note != "" {
			o.Set("note", out.Note)
		}
		b.WriteString(value.Stringify(o))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (a *app) showUpdate(f *spadeUpdate, u show.Update) error {
	var data []byte
	var err error
	switch f.result.format {
	case formatJSON:
		data, err = show.UpdateJSON(u)
	case formatMarkdown:
		data = show.UpdateMarkdown(u)
	default:
		data = show.UpdateText(u, f.result.screen(a))
	}
	if err != nil {
		return err
	}
	return a.result(f.result.out, data)
}

// sayUpdated prints what was written, and how to label the outputs that the report names.
func (a *app) sayUpdated(f *spadeUpdate, u show.Update) {
	switch {
	case u.Written == "":
		fmt.Fprintln(a.err, "proviso: nothing was written; --write takes the outputs and the selection into "+printable(f.dir))
	case len(u.Queue) > 0:
		fmt.Fprintf(a.err, "proviso: label with proviso spade label --labels %s --examples %s --matrix %s, and run the same update again\n",
			printable(f.file(runLabels)), printable(f.file(spade.OutputsFile)), printable(f.file(spade.MatrixFile)))
	}
}
