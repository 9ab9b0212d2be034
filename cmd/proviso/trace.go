package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// tracing handles the traces of a run: it receives spans, and forwards spans and verdicts. The zero
// value does nothing.
type tracing struct {
	suite    proviso.Tracing
	store    *otlp.Store // nil without traces in the suite
	tape     *otlp.Tape  // nil if nothing is recorded or replayed
	replays  bool        // no model is asked, so no spans arrive
	client   *http.Client
	receives *otlp.Listener
	forward  *otlp.Exporter
	emit     *otlp.Exporter
	results  *otlp.Results
}

// tracing prepares the trace settings of a suite. Nothing listens and nothing is sent before start.
func (a *app) tracing(s *loaded, f *evalFlags, cassette *transport.Cassette) *tracing {
	t := &tracing{suite: s.Tracing}
	t.suite.Enabled = t.suite.Enabled || suite.Switch(s.env, "PROMPTFOO_TRACING_ENABLED")
	if t.suite.Forward != nil || t.suite.Emit != nil {
		// Exported data is neither recorded nor replayed.
		p := f.trust.policy()
		t.client = transport.New(p.Transport(transport.Options{Env: s.env, MaxBody: 1 << 20})).Client()
	}
	if !t.suite.Enabled && len(t.suite.Files) == 0 {
		return t
	}
	o := otlp.StoreOptions{}
	if ms := t.suite.WaitMS; ms != nil {
		if o.Wait = milliseconds(*ms); *ms == 0 {
			o.Wait = -time.Millisecond // do not wait
		}
	}
	t.store = otlp.NewStore(o)
	if cassette != nil {
		t.tape, t.replays = otlp.NewTape(t.store, cassette, a.warn), cassette.Replays()
	}
	for _, name := range t.suite.Files {
		data, err := s.files.ReadFile(name)
		if err != nil {
			continue // it was reported when the suite was read
		}
		if err := t.store.Load(s.files.Show(name), string(data)); err != nil {
			s.mistakes = append(s.mistakes, proviso.Mistake{Place: s.Place("/tracing/file"), Code: proviso.Invalid, Message: err.Error()})
		}
	}
	return t
}

// spans returns the source of spans; nil if traces are not used.
func (t *tracing) spans() proviso.Spans {
	switch {
	case t.tape != nil:
		return t.tape
	case t.store != nil:
		return t.store
	}
	return nil
}

// keep returns the function that forwards verdicts, if the suite asks for it.
func (t *tracing) keep() func(context.Context, int, []byte, *proviso.Result) error {
	if t.suite.Emit == nil {
		return nil
	}
	return func(_ context.Context, _ int, _ []byte, res *proviso.Result) error {
		if t.results != nil {
			t.results.Add(res)
		}
		return nil
	}
}

// start opens what the plan needs. If a receiver cannot be opened, trace assertions are
// undecided, unless the suite requires it.
func (t *tracing) start(ctx context.Context, a *app, p *run.Plan) error {
	var err error
	if e := t.suite.Emit; e != nil {
		if t.emit, err = t.exporter(otlp.LogsPath, e); err != nil {
			return err
		}
		t.results = otlp.NewResults(t.emit, otlp.Origin{Version: versionName(), Agent: p.Suite.ID, Suite: p.Name()})
	}
	if !t.suite.Enabled || t.replays || !p.LooksAtTraces() && t.suite.Forward == nil {
		return nil
	}
	if e := t.suite.Forward; e != nil {
		if t.forward, err = t.exporter(otlp.TracesPath, e); err != nil {
			return err
		}
	}
	return t.listen(ctx, a)
}

// listen opens the receiver.
func (t *tracing) listen(ctx context.Context, a *app) error {
	o := otlp.ReceiverOptions{Formats: t.suite.Formats, Redact: t.suite.Redact}
	if t.forward != nil {
		o.Forward = func(kind string, body []byte) { t.forward.Send(kind, body, 1) }
	}
	port := -1
	if t.suite.Port != nil {
		port = *t.suite.Port
	}
	l, err := otlp.Listen(ctx, otlp.NewReceiver(t.store, o), t.suite.Host, port)
	if err != nil {
		t.store.Listens("", err)
		if t.suite.MustReceive {
			return err
		}
		a.warn(err.Error())
		return nil
	}
	t.receives = l
	t.store.Listens(l.Endpoint(), nil)
	if port <= 0 && l.Port() != otlp.DefaultPort {
		fmt.Fprintf(a.err, "proviso: spans are received at %s\n", l.Endpoint())
	}
	return nil
}

func (t *tracing) exporter(signal string, e *proviso.Endpoint) (*otlp.Exporter, error) {
	header := http.Header{}
	for name, v := range e.Headers.All() {
		header.Set(name, value.ToString(v))
	}
	return otlp.NewExporter(signal, otlp.ExporterOptions{Endpoint: e.URL, Header: header, Client: t.client})
}

// close ends what start began, and prints one line for each kind of data that could not be sent.
func (t *tracing) close(a *app) {
	if t.receives != nil {
		if err := t.receives.Close(); err != nil {
			a.warn("the receiver of traces: " + err.Error())
		}
	}
	if t.results != nil {
		t.results.Flush()
	}
	for _, e := range []struct {
		exporter *otlp.Exporter
		to       *proviso.Endpoint
		what     string
	}{{t.forward, t.suite.Forward, "batches of spans"}, {t.emit, t.suite.Emit, "verdicts"}} {
		if e.exporter == nil {
			continue
		}
		if items, lost, err := e.exporter.Close(); lost > 0 {
			a.warn(fmt.Sprintf("%d of %d %s could not be sent to %s: %v", lost, items, e.what, proviso.RedactedURL(e.to.URL), err))
		}
	}
}
