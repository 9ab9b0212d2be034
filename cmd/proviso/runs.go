package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// runsFlags are the flags of runs and its commands.
type runsFlags struct {
	dir    string
	suite  string
	format string
	limit  int
}

func newRuns(a *app) *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List and remove kept runs, and show the pass rates of a suite over time",
		Long: "runs lists the runs that eval kept, newest first: when they started, their suite, the version\n" +
			"of its prompts and the commit, the verdict, the pass rate and the cost.\n\n" + runNames,
		Args: noCommand,
		RunE: func(*cobra.Command, []string) error { return a.listRuns(f) },
	}
	cmd.PersistentFlags().StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	f.add(cmd)
	countVar(cmd.Flags(), &f.limit, "limit", "", 20, 0, "at most `N` runs; 0 is all")
	cmd.AddCommand(newRunsRemove(a, f), newRunsPrune(a, f), newRunsTrend(a, f))
	return cmd
}

// add adds the flags of the commands that show runs.
func (f *runsFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.suite, "suite", "", "only runs of this `SUITE`: its id, or its description or file as the list shows it")
	choiceVar(cmd.Flags(), &f.format, "format", formatTable, tableFormats, "print in `FORMAT` table or json")
}

func (a *app) runsDir(f *runsFlags) string { return cmp.Or(f.dir, a.stateDir()) }

// keptRuns reads the first and the last line of kept runs, newest first, up to limit runs; 0 means
// all. It warns about files that it cannot read.
func (a *app) keptRuns(f *runsFlags, limit int) ([]report.Kept, error) {
	runs, err := runfile.List(a.runsDir(f))
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	list, suites := []report.Kept{}, []string{}
	unread, why := 0, error(nil)
	for _, info := range runs {
		if limit > 0 && len(list) == limit {
			break
		}
		header, trailer, err := runfile.Ends(info.Path)
		if err != nil {
			unread, why = unread+1, err
			continue
		}
		k := report.ReadKept(header, trailer)
		k.ID, k.Path = info.ID, info.Path // the folder name identifies the run
		switch {
		case f.suite == "" || k.Of(f.suite):
			list = append(list, k)
		case !slices.Contains(suites, k.Suite):
			suites = append(suites, k.Suite)
		}
	}
	if unread > 0 {
		a.warn(fmt.Sprintf("%s left out: %v", plural.Of(unread, "run"), why))
	}
	if len(list) == 0 && len(suites) > 0 {
		e := proviso.Errorf(proviso.NotFound, "no run of a suite %q is kept%s", f.suite, document.DidYouMean(f.suite, suites))
		e.Valid = suites
		return nil, e
	}
	return list, nil
}

func (a *app) listRuns(f *runsFlags) error {
	asked := f.limit
	if asked > 0 {
		asked++ // one more, to see whether there are others
	}
	list, err := a.keptRuns(f, asked)
	if err != nil {
		return err
	}
	more := f.limit > 0 && len(list) > f.limit
	if more {
		list = list[:f.limit]
	}
	if f.format == formatJSON {
		return value.WriteJSON(a.out, map[string]any{"runs": list}, "  ")
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(a.out, "No run is kept in %s; `proviso eval` keeps them there\n", printable(a.runsDir(f)))
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTARTED\tSUITE\tPROMPTS\tCOMMIT\tVERDICT\tPASSED\tCOST")
	for i := range list {
		k := &list[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Started.Local().Format(minute), report.Line(k.Suite, 40),
			dash(shortHash(k.Hashes.Prompts, 8)), dash(commitOf(k.Revision)), k.Verdict, passed(k), usd.Cents(k.Cost))
	}
	if err := w.Flush(); err != nil || !more {
		return err
	}
	_, err = fmt.Fprintf(a.out, "These are the last %d; --limit shows more.\n", f.limit)
	return err
}

// passed formats how many rows passed.
func passed(k *report.Kept) string {
	if k.PassRate == nil {
		return "-"
	}
	return fmt.Sprintf("%s  %d of %d", percentOf(*k.PassRate), k.Passed, k.Passed+k.Failed)
}

// percentOf formats a rate. It never rounds up to 100 % or down to 0 %.
func percentOf(rate float64) string {
	n := int(rate*100 + 0.5)
	switch {
	case n == 100 && rate < 1:
		n = 99
	case n == 0 && rate > 0:
		n = 1
	}
	return fmt.Sprintf("%3d%%", n)
}

// commitOf formats a commit, with + if files differed from it, and the pull request.
func commitOf(r report.Revision) string {
	text := shortHash(r.Commit, 7)
	if text != "" && r.Dirty != nil && *r.Dirty {
		text += "+"
	}
	if r.PullRequest != "" {
		text += " #" + report.Line(r.PullRequest, 12)
	}
	return strings.TrimSpace(text)
}

// shortHash returns the beginning of a hash; "" for other text.
func shortHash(hash string, n int) string {
	if len(hash) < n || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	return hash[:n]
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func newRunsRemove(a *app, f *runsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "remove RUN...",
		Short: "Remove kept runs",
		Long:  "remove removes runs of the run folder. It refuses a run that is being written.\n\n" + runNames,
		Args:  someArgs("no run is named", 1, math.MaxInt),
		RunE:  func(_ *cobra.Command, args []string) error { return a.removeRuns(f, args) },
	}
}

// removeRuns finds all runs before it removes the first.
func (a *app) removeRuns(f *runsFlags, args []string) error {
	dir := a.runsDir(f)
	var ids []string
	var wrong []error
	for _, name := range args {
		id, err := keptID(dir, name)
		if err != nil {
			wrong = append(wrong, err)
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	return a.removeIDs(dir, ids)
}

// keptID returns the id of a run in the folder dir.
func keptID(dir, name string) (string, error) {
	path, err := findRun(dir, name)
	if err != nil {
		return "", err
	}
	folder := strings.TrimSuffix(filepath.Clean(path), string(filepath.Separator)+runfile.FileName)
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	runs, err := runfile.List(dir)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if kept, err := filepath.Abs(filepath.Dir(r.Path)); err == nil && kept == abs {
			return r.ID, nil
		}
	}
	return "", proviso.Errorf(proviso.Invalid, "%s is not a run of the folder %s: only those are removed", name, dir)
}

// removeIDs removes runs and prints their number.
func (a *app) removeIDs(dir string, ids []string) error {
	var failed []error
	for _, id := range ids {
		if err := runfile.Remove(dir, id); err != nil {
			failed = append(failed, err)
		}
	}
	if n := len(ids) - len(failed); n > 0 || len(failed) == 0 {
		fmt.Fprintf(a.out, "Removed %s from %s\n", plural.Of(n, "run"), printable(dir))
	}
	return errors.Join(failed...)
}

func newRunsPrune(a *app, f *runsFlags) *cobra.Command {
	var older time.Duration
	var keep int
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove the old runs of the run folder",
		Long: "prune removes runs that were started or resumed longer ago than --older-than and are not among\n" +
			"the newest --keep. If only one of the two is given, only that one counts. A run that is being written is kept.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("older-than") && !cmd.Flags().Changed("keep") {
				return usageError{errors.New("expected --older-than or --keep, to say which runs to remove"), "such as --older-than 30d --keep 20"}
			}
			return a.pruneRuns(f, time.Now().Add(-older), keep, dry)
		},
	}
	cmd.Flags().Var(&flagValue{"", "age", func(text string) (err error) { older, err = ageOf(text); return err }}, "older-than", "remove runs older than `AGE`, such as 30d, 2w or 12h")
	countVar(cmd.Flags(), &keep, "keep", "", 0, 0, "keep the newest `N` runs")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would be removed, and remove nothing")
	return cmd
}

// ageOf parses the age of a run.
func ageOf(text string) (time.Duration, error) {
	if d, err := duration.Parse(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("expected an age, such as 30d, 2w or 12h, found %q", text)
}

func (a *app) pruneRuns(f *runsFlags, before time.Time, keep int, dry bool) error {
	dir := a.runsDir(f)
	runs, err := runfile.List(dir)
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	var ids []string
	for _, r := range runs[min(keep, len(runs)):] {
		if !r.Begun.Before(before) {
			continue
		}
		if runfile.Busy(r.Path) {
			a.warn(r.ID + " is kept: it is still being written")
			continue
		}
		ids = append(ids, r.ID)
	}
	if !dry {
		return a.removeIDs(dir, ids)
	}
	for _, id := range ids {
		fmt.Fprintln(a.out, id)
	}
	fmt.Fprintf(a.err, "proviso: %s of %s would be removed from %s\n", plural.Of(len(ids), "run"), strconv.Itoa(len(runs)), printable(dir))
	return nil
}
