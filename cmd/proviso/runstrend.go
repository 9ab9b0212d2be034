package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/report/trend"
	"github.com/proviso-eval/proviso/value"
)

// maxTrend bounds the runs of a trend, because each run is read completely.
const maxTrend = 200

func newRunsTrend(a *app, dir *runsFlags) *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Show the pass rates of a suite's assertions over its last runs",
		Long: "trend shows the pass rate of each assertion in the last finished runs of a suite, and marks the\n" +
			"runs before which prompts, suite, judge, cases or commit changed. It leaves out runs that a gate\n" +
			"made as a base. Without --suite, it takes the suite of the last run.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.limit > maxTrend {
				return usageError{fmt.Errorf("--last %d: expected at most %d runs", f.limit, maxTrend), seeHelp(cmd)}
			}
			f.dir = dir.dir
			t, err := a.trend(cmd.Context(), f)
			if err != nil {
				return err
			}
			if f.format == formatJSON {
				return value.WriteJSON(a.out, t, "  ")
			}
			return a.showTrend(t)
		},
	}
	f.add(cmd)
	countVar(cmd.Flags(), &f.limit, "last", "", 10, 1, "the last `N` runs")
	return cmd
}

func (a *app) trend(ctx context.Context, f *runsFlags) (*trend.Trend, error) {
	if f.suite == "" {
		last, err := a.keptRuns(f, 1)
		if err != nil {
			return nil, err
		}
		if len(last) == 0 {
			return nil, proviso.Errorf(proviso.NotFound, "no run is kept in %s yet: `proviso eval` keeps them there", a.runsDir(f))
		}
		f.suite = last[0].Suite
	}
	list, err := a.keptRuns(f, 0)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(k report.Kept) bool { return k.Verdict == report.KeptUnfinished || k.Revision.Base })
	if len(list) == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "no finished run of the suite %q is kept in %s", f.suite, a.runsDir(f))
	}
	newest := list[0]
	list = slices.DeleteFunc(list, func(k report.Kept) bool { return k.Elsewhere(&newest) })
	list = list[:min(len(list), f.limit)]
	slices.Reverse(list)
	t, err := trend.Of(ctx, list)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	return t, err
}

// showTrend prints a line for each run, and a line with a chart for each assertion.
func (a *app) showTrend(t *trend.Trend) error {
	fmt.Fprintf(a.out, "%s: the last %s, oldest first\n\n", report.Line(t.Suite, 100), plural.Of(len(t.Runs), "run"))
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTARTED\tPROMPTS\tCOMMIT\tPASSED\tCHANGED")
	for i := range t.Runs {
		r := &t.Runs[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Started.Local().Format(minute), dash(shortHash(r.Hashes.Prompts, 8)),
			dash(commitOf(r.Revision)), passed(&r.Kept), dash(strings.Join(r.Changed, ", ")))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	marks := make([]byte, len(t.Runs))
	for i := range t.Runs {
		marks[i] = " ^"[min(len(t.Runs[i].Changed), 1)]
	}
	fmt.Fprintf(a.out, "\nPass rate of each assertion: first run, chart of all runs, last run\n")
	for _, x := range t.Assertions {
		fmt.Fprintf(a.out, "  %s  %s  %s  %s\n", rateText(x.Rates[0].Rate), chart(x.Rates), rateText(x.Rates[len(x.Rates)-1].Rate), report.Line(x.Name, 100))
	}
	if line := strings.TrimRight(string(marks), " "); line != "" {
		fmt.Fprintf(a.out, "        %s\n  ^ something changed before this run: see CHANGED\n", line)
	}
	if t.More > 0 {
		fmt.Fprintf(a.out, "  %s left out\n", plural.Of(t.More, "further assertion"))
	}
	return nil
}

// chart draws rates as a line of bars. A dot stands for a run without a verdict.
func chart(rates []trend.Rate) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, r := range rates {
		if r.Rate == nil {
			b.WriteByte('.')
			continue
		}
		b.WriteRune(bars[min(int(*r.Rate*float64(len(bars))), len(bars)-1)])
	}
	return b.String()
}

func rateText(rate *float64) string {
	if rate == nil {
		return "   -"
	}
	return percentOf(*rate)
}
