package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// monitorReplay holds the flags of monitor replay.
type monitorReplay struct {
	judgeCommand // models, judge and trust
	watch        string
	sets         string
}

func newMonitorReplay(a *app) *cobra.Command {
	f := &monitorReplay{}
	cmd := &cobra.Command{
		Use:   "replay EVENTS.jsonl --watch WATCH.yaml",
		Short: "Run watches over recorded events: what they would have said",
		Long: "replay reads events, one JSON object a line as POST /v1/events takes them, in the order\n" +
			"in which they came, and runs the watches of a file over them with the clock of the events.\n" +
			"It needs no server.\n\n" +
			"Exit codes: 0 done, whatever the alarms; 2 a mistake in a file or on the command line, and\n" +
			"nothing was evaluated; 3 nothing was decided, also if no event matched; 130 interrupted.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.monitorReplay(cmd.Context(), f, args) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.watch, "watch", "", "`FILE` with watches by name")
	fs.StringVar(&f.sets, "sets", "", "`FILE` with assertion sets by name, for watches that name one as set:NAME")
	choiceVar(fs, &f.format, "format", formatText, []string{formatJSON, formatText}, "`FORMAT` of the output: json or text")
	f.judge.registerJudge(fs)
	f.judge.registerManner(fs)
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "evaluate `N` events at a time (default 4)")
	f.models.register(fs)
	f.code.register(fs)
	f.trust.register(fs)
	return cmd
}

// check finds mistakes in the flags that cobra does not detect.
func (f *monitorReplay) check(args []string) error {
	see := "see `proviso monitor replay --help`"
	switch {
	case len(args) == 0:
		return usageError{errors.New("no file of events is named"), see}
	case f.watch == "":
		return usageError{errors.New("--watch FILE is missing: the watches that are replayed"), see}
	}
	return errors.Join(f.models.check(), f.code.check(), f.trust.check())
}

// replayed is a watch of the file, with its set.
type replayed struct {
	watch monitor.Watch
	set   *watchSet
}

// monitorReplay runs what the flags request.
func (a *app) monitorReplay(ctx context.Context, f *monitorReplay, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	list, doc, err := a.replayedWatches(ctx, f)
	if err != nil {
		return err
	}
	seen, err := a.checkEvents(args[0])
	if err != nil {
		return err
	}
	if err := a.mistakes(append(seen.unseen(args[0], doc, list), seen.segmentless(doc, list)...)); err != nil {
		return err
	}
	var end closers
	defer end.close()
	j, err := a.oneJudge(ctx, &end, &f.judgeCommand, filepath.Dir(f.watch))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(r replayed) bool { return asksJudge(&r.set.request) }) {
		if err := j.Prepare(proviso.Question{Type: proviso.TypeJudge}); err != nil {
			return a.noModelAsked(err)
		}
	}
	all := 0
	for _, r := range list {
		all += len(r.set.request.Assertions)
	}
	out := replayOutput{Alarms: []*monitor.Alarm{}, Charts: []replayChart{}, Watches: []replayedWatch{}}
	for i := range list {
		r := &list[i]
		got, err := monitor.Replay(ctx, events(args[0]), &r.watch, monitor.ReplayOptions{
			Evaluate: func(ctx context.Context, e *ingest.Event) ([]monitor.Verdict, error) {
				return r.set.evaluate(ctx, j, e)
			},
			Workers: cmp.Or(f.concurrency, 4), Salt: r.watch.Name, Others: all - len(r.set.request.Assertions), Now: time.Now(),
		})
		if ctx.Err() != nil {
			return a.interrupted(ctx, "no alarms")
		}
		if err != nil {
			return a.requestMistakes(r.set.doc, err)
		}
		out.add(&r.watch, got)
	}
	a.sayModels(f.asked)
	return a.printReplay(f, &out)
}

func (a *app) printReplay(f *monitorReplay, out *replayOutput) error {
	var err error
	if f.format == formatJSON {
		err = value.WriteJSON(a.out, out, "")
	} else {
		_, err = io.WriteString(a.out, out.text())
	}
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	if out.undecided() {
		return exitError{exitUndecided}
	}
	return nil
}

// evaluate decides the assertions of a set for an event.
func (s *watchSet) evaluate(ctx context.Context, j *judge.Judge, e *ingest.Event) ([]monitor.Verdict, error) {
	req := s.request
	req.Input, req.Output, req.Metadata = e.Input, e.Output, e.Metadata
	if e.Context != "" {
		req.Context = e.Context
	}
	segment := value.NewObject(len(e.Segment))
	for name, v := range e.Segment {
		segment.Set(name, v)
	}
	req.Vars = value.ObjectOf("agent", e.Agent, "version", e.Version, "model", e.Model, "segment", segment)
	resp, err := j.Evaluate(ctx, &req)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var wrong judge.Mistakes
	if errors.As(err, &wrong) {
		return nil, err // the mistake is in the set, not in the event
	}
	var list []monitor.Verdict
	if err != nil {
		for _, one := range s.request.Assertions {
			list = append(list, monitor.Verdict{Assertion: one.ID, Status: proviso.Errored})
		}
		return list, nil
	}
	for _, one := range resp.Results {
		v := monitor.Verdict{Assertion: one.ID, Judge: one.Judge, Status: verdictStatus(one.Status)}
		if one.Cost != nil && !one.Cached {
			v.Cost = *one.Cost
		}
		list = append(list, v)
	}
	return list, nil
}

// verdictStatus returns the status with a name.
func verdictStatus(name string) proviso.Status {
	for _, s := range []proviso.Status{proviso.Pass, proviso.Fail, proviso.Skip} {
		if s.String() == name {
			return s
		}
	}
	return proviso.Errored
}

// replayOutput is the output of monitor replay.
type replayOutput struct {
	Alarms  []*monitor.Alarm   `json:"alarms"`
	Charts  []replayChart      `json:"charts"`
	Watches []replayedWatch    `json:"watches"`
	perDays map[string]float64 // by watch
}

// replayChart is a chart and its watch.
type replayChart struct {
	Watch string `json:"watch"`
	monitor.ChartView
}

// replayedWatch counts the events of a watch.
type replayedWatch struct {
	Watch string `json:"watch"`
	monitor.ReplayCounts
}

// add adds the result of a watch.
func (o *replayOutput) add(w *monitor.Watch, r *monitor.ReplayResult) {
	o.Alarms = append(o.Alarms, r.Alarms...)
	for _, c := range r.Charts {
		o.Charts = append(o.Charts, replayChart{w.Name, c})
	}
	o.Watches = append(o.Watches, replayedWatch{w.Name, r.Counts})
	if o.perDays == nil {
		o.perDays = map[string]float64{}
	}
	o.perDays[w.Name] = w.FalseAlarms.PerDays
}

// undecided reports whether there is no verdict at all, because no evaluation was decided or none
// was made. An assertion that does not apply counts as decided.
func (o *replayOutput) undecided() bool {
	skipped := 0
	for _, c := range o.Charts {
		skipped += c.Skipped
	}
	return skipped == 0 && !slices.ContainsFunc(o.Watches, func(w replayedWatch) bool { return w.Decided > 0 })
}

// text formats everything for a person.
func (o *replayOutput) text() string {
	var b strings.Builder
	for _, w := range o.Watches {
		w.write(&b)
		for _, a := range o.Alarms {
			if a.Watch == w.Watch {
				writeAlarm(&b, a)
			}
		}
		o.writeCharts(&b, w.Watch)
		b.WriteString(falseAlarmsInWords(o.perDays[w.Watch]))
	}
	return b.String()
}

const minute = "2006-01-02 15:04"

// write formats the result of a watch's events.
func (w *replayedWatch) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n", printable(w.Watch))
	if w.Events == 0 || w.From.IsZero() {
		fmt.Fprintf(b, "  no event\n")
		return
	}
	if w.Matched == 0 {
		fmt.Fprintf(b, "  NO EVENT MATCHED, so this watch has seen nothing\n")
	}
	fmt.Fprintf(b, "  %s from %s to %s UTC: %d of this watch, %d evaluated\n", plural.Of(w.Events, "event"), w.From.UTC().Format(minute), w.To.UTC().Format(minute), w.Matched, w.Sampled-w.Unpaid)
	unclear := "left out: the condition of match.where could not be evaluated"
	if w.Why != "" {
		unclear += ", first: " + printable(report.Line(w.Why, 200))
	}
	for _, one := range []struct {
		n    int
		says string
	}{
		{w.Others, "left out: of other agents"},
		{w.Outside, "left out: the condition of match.where is false"},
		{w.Unclear, unclear},
		{w.Duplicate, "left out: an earlier event has the same id"},
		{w.Future, "left out: their clock is ahead"},
		{w.Late, "came more than an hour late; evaluated when they came"},
		{w.Unanswered, "not evaluated: the agent reported an error"},
		{w.Unpaid, "not evaluated: the daily budget was used up"},
		{w.Undecided, "verdicts are errors"},
	} {
		if one.n > 0 {
			fmt.Fprintf(b, "  %d %s\n", one.n, one.says)
		}
	}
	if w.Cost > 0 {
		fmt.Fprintf(b, "  %s\n", usd.Text(w.Cost))
	}
}

// writeAlarm formats an alarm.
func writeAlarm(b *strings.Builder, a *monitor.Alarm) {
	end := "still open"
	if a.Closed != nil {
		end = "closed " + a.Closed.UTC().Format(minute)
	}
	fmt.Fprintf(b, "\n  ALARM (%s) %s, %s\n    %s\n", printable(string(a.Kind)), a.Opened.UTC().Format(minute), end, printable(a.Reason))
	if s := a.Since; s != nil {
		fmt.Fprintf(b, "    began between %s and %s\n", s.Low.UTC().Format(minute), s.High.UTC().Format(minute))
	}
	for _, c := range a.Changed {
		fmt.Fprintf(b, "    changed at %s: %s from %s to %s\n", c.At.UTC().Format(minute), printable(c.What), printable(shownValue(c.From)), printable(shownValue(c.To)))
	}
	if len(a.Changed) == 0 && a.Kind == monitor.KindAgent {
		fmt.Fprintf(b, "    neither version, model, prompt, judge nor mix of segments changed then\n")
	}
	if len(a.Examples) > 0 {
		fmt.Fprintf(b, "    examples: %s\n", printable(strings.Join(a.Examples, ", ")))
	}
}

// shownValue shortens a prompt hash.
func shownValue(s string) string {
	if rest, ok := strings.CutPrefix(s, "sha256:"); ok && len(rest) == 64 {
		return "sha256:" + rest[:12] + "…"
	}
	return s
}

// writeCharts formats the charts of a watch as a table.
func (o *replayOutput) writeCharts(b *strings.Builder, watch string) {
	if !slices.ContainsFunc(o.Charts, func(c replayChart) bool { return c.Watch == watch }) {
		return
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  ASSERTION\tVERSION\tEVALUATIONS\tFAIL\t95 %\tIN CONTROL\tSTATE\tDETECTED WITHIN A WEEK")
	for _, c := range o.Charts {
		if c.Watch != watch {
			continue
		}
		rate, limits, control, sight := "-", "-", "-", "nothing yet"
		if c.Rate != nil {
			rate, limits = percentage(*c.Rate), percentage(*c.Low)+" to "+percentage(*c.High)
		}
		if c.InControl != nil {
			control, sight = "≤ "+percentage(*c.InControl), "no change: too few evaluations"
		}
		if c.SmallestRate != nil {
			sight = "a rise to " + percentage(*c.SmallestRate)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(c.Assertion), printable(dash(c.Version)), evaluations(&c.ChartView), rate, limits, control, stateInWords(&c.ChartView), sight)
	}
	_ = t.Flush() // writing to a strings.Builder does not fail
}

// evaluations returns the number of evaluations in a chart, and how many of them count if not all
// do.
func evaluations(c *monitor.ChartView) string {
	s := fmt.Sprint(c.N)
	if c.Entered != c.N {
		s += fmt.Sprintf(" (%d enter)", c.Entered)
	}
	if c.Errors > 0 {
		s += fmt.Sprintf(", %s", plural.Of(c.Errors, "error"))
	}
	return s
}

func stateInWords(c *monitor.ChartView) string {
	switch {
	case c.State != "watching":
		return c.State
	case c.Source == monitor.FromObjective:
		return "compared with the objective"
	case c.Source == monitor.FromEarlier:
		return "compared with the version before"
	}
	return "watching"
}

func percentage(f float64) string {
	digits := 1
	if f > 0 && f < .01 {
		digits = 2
	}
	return fmt.Sprintf("%.*f %%", digits, 100*f)
}

// falseAlarmsInWords explains how many false alarms the design means per month.
func falseAlarmsInWords(perDays float64) string {
	days := fmt.Sprintf("in %.4g days", perDays)
	if perDays == 1 {
		days = "a day"
	}
	return fmt.Sprintf("\n  If nothing changes, some chart raises a false alarm at most once %s, on average:\n  %.0f %% of all months have at least one.\n", days, 100*monitor.FalseMonths(perDays))
}
