package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
)

// trialFlags select the source of outputs.
type trialFlags struct {
	examples string
	run, dir string
}

func (f *trialFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.examples, "examples", "", "`FILE` of the outputs: CSV, JSON Lines, or what another tool exports")
	fs.StringVar(&f.run, "run", "", "use the outputs of a kept `RUN`: its id or the beginning of it, last, its file or folder, or its address on a server")
	fs.StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
}

func (f *trialFlags) check(cmd *cobra.Command) error {
	switch {
	case f.examples == "" && f.run == "":
		return missingFlag(cmd, "examples", "name the file of outputs, CSV or JSON Lines, or a kept run with --run")
	case f.examples != "" && f.run != "":
		return usageError{errors.New("--examples and --run exclude each other"), seeHelp(cmd)}
	}
	return nil
}

// openedTrials are outputs that can be read repeatedly.
type openedTrials struct {
	name    string
	all     iter.Seq2[trial.Trial, error]
	entries []trial.Entry
}

// openTrials finds outputs, reads them once and prints mistakes.
func (a *app) openTrials(ctx context.Context, end *closers, f *trialFlags) (*openedTrials, error) {
	o := &openedTrials{name: shownName(f.examples)}
	var first iter.Seq2[trial.Trial, error] // this pass prints notes
	if f.run != "" {
		r, err := a.openRun(ctx, f.dir, f.run)
		if err != nil {
			return nil, err
		}
		end.add(func() { _ = r.Close() })
		o.name, o.all = "run "+r.Header().ID, trial.OfRun(r.Reader)
	} else {
		open, err := a.reopener(f.examples)
		if err != nil {
			return nil, err
		}
		o.all = trial.File(shownName(f.examples), open)
		first = trial.Noted(shownName(f.examples), open, func(note string) { fmt.Fprintf(a.err, "proviso: %s\n", printable(note)) })
	}
	if first == nil {
		first = o.all
	}
	var err error
	o.entries, err = trial.Entries(first)
	if err == nil && len(o.entries) == 0 {
		err = proviso.Errorf(proviso.Invalid, "%s has no outputs", o.name)
	}
	return o, a.mistaken(err, nothingRun)
}

// add adds the outputs whose ids are new. They need not be closed.
func (o *openedTrials) add(more *openedTrials) {
	here := map[string]bool{}
	for _, e := range o.entries {
		here[e.ID] = true
	}
	own := o.all
	o.all = func(yield func(trial.Trial, error) bool) {
		for t, err := range own {
			if !yield(t, err) || err != nil {
				return
			}
		}
		for t, err := range more.all {
			if err == nil && here[t.ID] {
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
	for _, e := range more.entries {
		if !here[e.ID] {
			o.entries = append(o.entries, e)
		}
	}
}

// reopener returns a function that opens a file repeatedly. Input that can be read only once is
// stored in memory.
func (a *app) reopener(name string) (func() (io.ReadCloser, error), error) {
	if info, err := os.Stat(name); name != "-" && (err != nil || info.Mode().IsRegular()) {
		return func() (io.ReadCloser, error) { return a.openInput(name, holdsOutputs) }, nil
	}
	data, err := a.readInput(name, holdsOutputs)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, nil
}

// takeLabels copies the labels of a file, if one is named, to entries.
func (a *app) takeLabels(file string, entries []trial.Entry) error {
	if file == "" {
		return nil
	}
	data, err := a.readInput(file, holdsLabels)
	if err != nil {
		return err
	}
	read, mistakes := label.Read(shownName(file), data, entries)
	if err := a.mistakes(mistakes); err != nil {
		return err
	}
	if read.Stale > 0 {
		a.warn(fmt.Sprintf("%s of %s left out: for other outputs than these", plural.Of(read.Stale, "label"), shownName(file)))
	}
	if len(read.Split) > 0 {
		a.warn("people disagree on " + show.Names(read.Split, show.MaxNames) + ", which count as not labelled")
	}
	return nil
}

// warnContradictions names the outputs that are labelled both good and bad.
func (a *app) warnContradictions(entries []trial.Entry) {
	list := trial.Contradictions(entries)
	for i, c := range list {
		if i == maxContradictions {
			a.warn(fmt.Sprintf("and %d more outputs are labelled good and bad", len(list)-i))
			return
		}
		a.warn(fmt.Sprintf("one output is labelled good (%s) and bad (%s); no assertion can decide both as labelled", show.Names(c.Good, show.MaxNames), show.Names(c.Bad, show.MaxNames)))
	}
}

// maxContradictions bounds the contradicting labels that are listed.
const maxContradictions = 5

// trafficFlags select an agent's answers on a proviso server.
type trafficFlags struct {
	server, agent, given string
	since                time.Time
	address              *url.URL
}

// Limits for reading from a server.
const (
	maxTraffic  = 5_000 // events
	trafficPage = "500"
)

func (f *trafficFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "use what an agent answered on the server at `URL`; the key is in PROVISO_API_KEY")
	fs.StringVar(&f.agent, "agent", "", "with --server: `NAME` of the agent")
	fs.StringVar(&f.given, "since", "", "with --server: only answers since `TIME`: a date, a date and time (RFC 3339), or how long ago, such as 36h or 7d")
}

func (f *trafficFlags) check(cmd *cobra.Command) error {
	see := seeHelp(cmd)
	u, err := client.Address(f.server, "")
	if err != nil {
		return badValue("--server", "the address of a server, such as https://HOST", f.server, see)
	}
	if f.agent == "" {
		return usageError{errors.New("--server needs --agent"), see}
	}
	f.address = u.JoinPath("events")
	if f.given == "" {
		return nil
	}
	if f.since, err = parseSince(f.given, time.Now()); err != nil {
		return badValue("--since", err.Error(), f.given, see)
	}
	return nil
}

// parseSince parses a time, or a duration before now. The error says what is expected.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if d, err := duration.Parse(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("a date, a date and time (RFC 3339), or how long ago, such as 36h or 7d")
}

// answeredOn reads an agent's answers on a server, newest first. Only answers whose texts the
// server stored become outputs.
func (a *app) answeredOn(ctx context.Context, f *trafficFlags) ([]trial.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, client.Timeout)
	defer cancel()
	u := client.With(f.address, "agent", f.agent, "kept", "yes", "failed", "no", "texts", "full", "limit", trafficPage)
	if !f.since.IsZero() {
		u = client.With(u, "since", f.since.UTC().Format(time.RFC3339))
	}
	items := []json.RawMessage{}
	for item, err := range client.Pages[json.RawMessage](ctx, a.client(), u) {
		if err != nil {
			return nil, err
		}
		if len(items) == maxTraffic {
			a.warn(fmt.Sprintf("%s answered more; the newest %d are used", printable(f.agent), maxTraffic))
			break
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "%s has no answers of the agent %s whose texts are kept", f.address.Host, printable(f.agent))
	}
	data, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		return nil, err
	}
	list, mistakes := trial.Read("events of "+f.address.Host, data)
	return list, a.mistakes(mistakes)
}
