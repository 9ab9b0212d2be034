package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

// remoteFlags select the server that executes a run.
type remoteFlags struct {
	on      string
	project string
	given   *pflag.FlagSet // all flags of the command; nil if it always runs locally
}

func (f *remoteFlags) registerRemote(fs *pflag.FlagSet) {
	f.given = fs
	fs.StringVar(&f.on, "on", "", "run on the workers of the server at this `URL`, and keep the rows on this machine")
	fs.StringVar(&f.project, "project", "", "with --on: run in this `PROJECT`; needs a key with the scope admin (default that of the key)")
}

// remoteKnows are the flags that apply to a run on a server. All other flags change what is run or
// how models are asked, which the suite and the server decide.
var remoteKnows = map[string]bool{"on": true, "project": true, "config": true, "output": true, "fail-under": true, "no-table": true, "no-progress-bar": true, "verbose": true,
	"run-dir": true, "no-write": true, "max-concurrency": true, "repeat": true, "resume": true, "allow-host": true, "allow-env": true, "untrusted": true}

// remote is a run on a server.
type remote struct {
	a      *app
	client *client.Client
	api    *url.URL
	run    *url.URL // nil before it is started
	files  *seenFiles
	began  bool // this command started the run
}

// remoteOf returns the run on a server that the flags request or that --resume continues; nil if
// the suite runs locally.
func (a *app) remoteOf(f *evalFlags) (*remote, error) {
	if f.given == nil {
		return nil, nil
	}
	r := &remote{a: a}
	if f.on != "" {
		var err error
		if r.api, err = client.Address(f.on, f.project); err != nil {
			return nil, err
		}
	}
	path, err := a.resumed(f)
	if err != nil {
		return nil, err
	}
	if path != "" {
		if err := r.resume(path); err != nil {
			return nil, err
		}
	}
	if r.api == nil {
		if f.project != "" {
			return nil, usageError{errors.New("--project needs --on"), "name the server with --on https://…"}
		}
		return nil, nil
	}
	var wrong []string
	f.given.Visit(func(flag *pflag.Flag) {
		if !remoteKnows[flag.Name] {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	if len(wrong) > 0 {
		return nil, usageError{fmt.Errorf("a run on a server does not obey %s", strings.Join(wrong, ", ")), "the whole suite is run as its file says it; the server has the keys, the judge and the cache"}
	}
	if len(f.configs) > 1 {
		return nil, usageError{errors.New("one suite is run on a server at a time"), "name it with one -c"}
	}
	f.trust.untrusted, f.noKeys = true, true // as the server, which has the keys, reads it
	r.client = a.client()
	r.files = &seenFiles{}
	f.seen = r.files.add
	return r, nil
}

// resume finds the server's run of which a kept run is a copy.
func (r *remote) resume(path string) error {
	h, _, err := runfile.Ends(path)
	if err != nil {
		return err
	}
	on := h.Meta.Text("on")
	if on == "" {
		if r.api != nil {
			return proviso.Errorf(proviso.Invalid, "the run %s was not run on a server; resume it without --on", h.ID)
		}
		return nil
	}
	u, err := client.RunAddress(on)
	if err != nil {
		return err
	}
	if r.api != nil && u.Host != r.api.Host {
		return proviso.Errorf(proviso.Invalid, "the run %s is on %s, not on %s", h.ID, u.Host, r.api.Host)
	}
	r.run, r.api = u, u.JoinPath("..", "..")
	return nil
}

// collect runs the suite on the server, or continues to fetch its run, and stores the rows.
func (r *remote) collect(ctx context.Context, f *evalFlags, s *loaded, plan *run.Plan) (*run.Outcome, error) {
	if r.run == nil {
		if err := r.start(ctx, f, s); ctx.Err() != nil {
			return nil, r.a.stopped()
		} else if err != nil {
			return nil, err
		}
	}
	state, err := r.state(ctx)
	if err != nil {
		return nil, err
	}
	if state.Progress.Rows != plan.Rows {
		return nil, r.differs(ctx, state.Progress.Rows, plan.Rows)
	}
	if r.began {
		fmt.Fprintln(r.a.err, "proviso: "+printable("running "+plural.Of(plan.Rows, "row")+" at "+r.page()))
	}
	if state.Replayed {
		r.a.warn("the server replays recorded answers: no model is asked")
	}
	return plan.Collect(ctx, run.Remote{ID: state.ID, Hash: state.Hash, Judge: strings.Join(state.JudgedBy, ", "), On: r.page(), Fetch: r.fetch})
}

// differs returns the error for a run with different rows. If this command started the run, it is
// cancelled, because nobody would use its results.
func (r *remote) differs(ctx context.Context, there, here int) error {
	end := ""
	if r.began {
		end = "; it was cancelled"
		if err := r.client.JSON(ctx, http.MethodPost, r.run.JoinPath("cancel"), nil, &struct{}{}); err != nil {
			end = "; it continues, because it could not be cancelled: " + err.Error()
		}
	}
	return proviso.Errorf(proviso.Invalid, "%s has %s, and the local suite has %d: it has changed, or the server has another version of proviso%s", r.page(), plural.Of(there, "row"), here, end)
}

func (r *remote) page() string { return transport.URL(client.RunPage(r.run)) }

// remoteState is the server's description of a run.
type remoteState struct {
	ID, Status, Hash, Error, Waits string
	JudgedBy                       []string `json:"judged_by"`
	Replayed                       bool
	Progress                       struct{ Rows, Finished int }
}

func (s *remoteState) ended() bool {
	return s.Status == "done" || s.Status == "failed" || s.Status == "cancelled"
}

// Times and sizes of following a run.
const (
	followEvery  = 300 * time.Millisecond
	reachableFor = 2 * time.Minute // how long to wait for a server that restarts
	fetchedRows  = "1000"          // rows per request
	fetchedParts = 200             // ranges of rows per request
)

// state requests the state of the run.
func (r *remote) state(ctx context.Context) (state remoteState, err error) {
	err = r.patiently(ctx, func() error {
		return r.client.JSON(ctx, http.MethodGet, client.With(r.run, "results", "no"), nil, &state)
	})
	if err == nil && state.ID == "" {
		err = proviso.Errorf(proviso.Unavailable, "%s: the answer is not a run", transport.URL(r.run))
	}
	return state, err
}

// fetch implements [run.Remote.Fetch].
func (r *remote) fetch(ctx context.Context, missing *run.Missing, add func(int, []byte) error) error {
	again, waits := "", ""
	for {
		state, err := r.state(ctx)
		if err != nil {
			return err
		}
		if err := r.rows(ctx, missing, add); err != nil {
			return err
		}
		if state.ended() {
			return r.finished(&state, missing)
		}
		if state.Error != again && state.Error != "" {
			r.a.warn("the server tries again: " + report.Line(state.Error, 400))
		}
		if state.Waits != waits && state.Waits != "" {
			fmt.Fprintln(r.a.err, "proviso: "+printable("the run "+report.Line(state.Waits, 400)))
		}
		again, waits = state.Error, state.Waits
		if err := transport.Wait(ctx, followEvery); err != nil {
			return err
		}
	}
}

// finished returns an error unless the run is done and all rows have been fetched.
func (r *remote) finished(state *remoteState, missing *run.Missing) error {
	switch {
	case state.Status == "cancelled":
		return proviso.Errorf(proviso.Unavailable, "%s was cancelled: %s missing", r.page(), plural.Of(missing.Len(), "row"))
	case state.Status == "failed":
		return proviso.Errorf(proviso.Unavailable, "%s failed: %s", r.page(), report.Line(state.Error, 400))
	case missing.Len() > 0:
		return proviso.Errorf(proviso.Unavailable, "%s is done, but the server lacks %d of its rows", r.page(), missing.Len())
	}
	return nil
}

// rows fetches the missing rows that are finished.
func (r *remote) rows(ctx context.Context, missing *run.Missing, add func(int, []byte) error) error {
	for before := -1; missing.Len() != before && missing.Len() > 0; {
		before = missing.Len()
		var parts []string
		for _, p := range missing.First(fetchedParts) {
			parts = append(parts, fmt.Sprintf("%d-%d", p.From, p.To-1))
		}
		u := client.With(r.run.JoinPath("results"), "rows", strings.Join(parts, ","), "limit", fetchedRows)
		if err := r.patiently(ctx, func() error { return r.fetchPage(ctx, u, add) }); err != nil {
			return err
		}
	}
	return nil
}

// fetchPage passes the rows of an answer to add, one by one.
func (r *remote) fetchPage(ctx context.Context, u *url.URL, add func(int, []byte) error) error {
	resp, err := r.client.Do(ctx, http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = readRows(resp.Body, add)
	if err != nil && !errors.As(err, &kept{}) {
		err = proviso.Errorf(proviso.Unavailable, "%s: the answer cannot be read: %w", transport.URL(u), err)
	}
	return err
}

func readRows(body io.Reader, add func(int, []byte) error) error {
	d := json.NewDecoder(body)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if t == json.Delim('[') {
			break
		}
	}
	for d.More() {
		var row json.RawMessage
		if err := d.Decode(&row); err != nil {
			return err
		}
		index, ok := runfile.RowIndex(row)
		if !ok {
			return errors.New("an item is not a row")
		}
		if err := add(index, row); err != nil {
			return kept{err}
		}
	}
	return nil
}

// kept marks a local error, which another request would not change.
type kept struct{ error }

func (k kept) Unwrap() error { return k.error }

// whenThere is patiently for the first request. It waits for a server that answers, but not for one
// that cannot be reached, because its name may be wrong.
func (r *remote) whenThere(ctx context.Context, do func() error) error {
	err := do()
	var no *client.Refusal
	if !errors.As(err, &no) {
		return err
	}
	first := true
	return r.patiently(ctx, func() error {
		if first {
			first = false
			return err
		}
		return do()
	})
}

// patiently repeats a request while the server cannot be reached or is starting, and prints that
// once.
func (r *remote) patiently(ctx context.Context, do func() error) error {
	said := false
	limit := time.Now().Add(reachableFor)
	for pause := time.Second; ; pause = min(2*pause, 16*time.Second) {
		err := do()
		var e *proviso.Error
		if err == nil || ctx.Err() != nil || errors.As(err, &kept{}) || errors.As(err, &e) && e.Code != proviso.Unavailable || time.Now().Add(pause).After(limit) {
			return err
		}
		if !said {
			said = true
			r.a.warn(fmt.Sprintf("%v; trying again for %g minutes", err, reachableFor.Minutes()))
		}
		if err := transport.Wait(ctx, pause); err != nil {
			return err
		}
	}
}
