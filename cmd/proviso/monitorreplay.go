package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.monitorReplay(cmd.Context(), f, args)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.watch, "watch", "", "`FILE` with watches by name")
	fs.StringVar(&f.sets, "sets", "", "`FILE` with assertion sets by name, for watches that name one as set:NAME")
	fs.StringVar(&f.format, "format", formatText, "`FORMAT` of the output: json or text")
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
	case f.format != formatJSON && f.format != formatText:
		return badValue("--format", "json or text", f.format, see)
	}
	return errors.Join(f.judge.check(), f.models.check(), f.code.check(), f.trust.check())
}

// replayed is one watch of the file with its set.
type replayed struct {
	watch monitor.Watch
	set   *watchSet
}

// monitorReplay does what the flags request.
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
		err = a.printJSON(out)
	} else {
		_, err = io.WriteString(a.out, out.text())
	}
	if err != nil {
		return coded(err)
	}
	if out.undecided() {
		return exitError{exitUndecided}
	}
	return nil
}

// evaluate decides the assertions of a set about an event.
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
		return nil, err // in the set, not in the event
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

// verdictStatus is the status with a name.
func verdictStatus(name string) proviso.Status {
	for _, s := range []proviso.Status{proviso.Pass, proviso.Fail, proviso.Skip} {
		if s.String() == name {
			return s
		}
	}
	return proviso.Errored
}
