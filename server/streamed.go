package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// StreamRequest is an evaluation whose verdicts are streamed.
type StreamRequest struct {
	OutputRequest
	Set        string            `json:"set,omitempty" doc:"A stored assertion set in place of assertions: NAME or NAME@VERSION, where a version is a number or the first 8 or more digits of its hash"`
	Assertions []judge.Assertion `json:"assertions,omitempty"`
	Templates  map[string]any    `json:"templates,omitempty" doc:"Templates that the criteria name besides the shipped ones, as in an assertion set; with set, they are those of the set"`
	Context    string            `json:"context,omitempty" doc:"What judged assertions may look at besides the input and the output, such as the sources of the output"`
	KeepS      *int              `json:"keep_s,omitempty" doc:"For how many seconds after its end the evaluation can be streamed, from 1 to 3600; 600 if it is missing"`
}

// StartedEvaluation is a running evaluation.
type StartedEvaluation struct {
	ID string `json:"id"`
}

// StreamStart is the data of the first event of a streamed evaluation.
type StreamStart struct {
	ID         string            `json:"id"`
	Total      int               `json:"total"`
	Assertions []StreamAssertion `json:"assertions"`
	OutputHash string            `json:"output_hash" doc:"SHA-256 of agent_output"`
}

// StreamAssertion is an assertion of a streamed evaluation.
type StreamAssertion struct {
	Index       int    `json:"index"`
	ID          string `json:"id"`
	Instruction string `json:"instruction,omitempty"`
}

// StreamEnd is the data of the last event: the response without its results.
type StreamEnd struct {
	*judge.Response
	Results *struct{} `json:"results,omitempty"` // hides the results of the response
	TotalMS float64   `json:"total_ms"`
}

const (
	usualKeep = 10 * time.Minute
	maxKeep   = time.Hour
)

// streamed is a running streamed evaluation.
type streamed struct {
	s       *Server
	c       *call // without the request, which ends earlier
	held    *heldEvaluation
	req     *judge.Request
	body    []byte
	set     string
	account *account

	begun  sync.Once
	ready  chan struct{} // closed once the assertions are compiled, or err is set
	err    error         // why the evaluation failed before it started
	told   []bool
	result []judge.Result // results of the told assertions
}

func (s *Server) startEvaluation(c *call) error {
	in, err := s.readStream(c)
	if err != nil {
		return err
	}
	account := s.budgets.open(c.key)
	if err := account.check(); err != nil {
		return err
	}
	if err := s.o.Store.Texts(c.r.Context()); err != nil { // other servers must be able to read its output
		return err
	}
	own := &call{id: c.id, key: c.key, project: c.project, kept: c.kept, route: c.route}
	base := withClock(context.Background(), &own.clock) // the request's context holds its body
	base, task := s.turns.Begin(base, c.key.ID, s.o.CPUBudget, s.over)
	ctx, cancel := context.WithCancelCause(withAccount(base, account))
	e := &heldEvaluation{
		id: store.NewID(store.EvaluationID, time.Now()), project: c.project, key: c.key, output: strings.Clone(in.req.Output), keep: in.keep, cancel: cancel,
	}
	if err := s.evaluations.begin(e, len(in.body)); err != nil {
		cancel(nil)
		task.End()
		return err
	}
	x := &streamed{s: s, c: own, held: e, req: in.req, body: in.body, set: in.set, account: account, ready: make(chan struct{}),
		told: make([]bool, len(in.req.Assertions)), result: make([]judge.Result, len(in.req.Assertions))}
	go func() {
		defer task.End()
		defer cancel(nil)
		defer s.evaluations.end(e)
		x.run(ctx)
	}()
	select {
	case <-x.ready:
	case <-c.r.Context().Done(): // no client knows its id
		s.evaluations.abandon(e)
		cancel(errCancelled)
		return context.Cause(c.r.Context())
	}
	if x.err != nil {
		s.evaluations.abandon(e)
		return requestProblem(c.r.Context(), c.body, x.err)
	}
	s.announce(c.r.Context(), e)
	data, err := encode(StartedEvaluation{ID: e.id})
	if err != nil {
		return err
	}
	return c.sendResponse(store.Response{Status: http.StatusAccepted, MediaType: mediaJSON, Location: "/v1/evaluations/" + e.id, Body: data})
}

// errCancelled is why the rest of a cancelled evaluation is undecided.
var errCancelled = proviso.Errorf(proviso.Undecided, "cancelled")

// run evaluates, and adds the events.
func (x *streamed) run(ctx context.Context) {
	defer x.begun.Do(func() { close(x.ready) })
	defer func() {
		if v := recover(); v != nil {
			x.s.o.Log.Error("defect", "request_id", x.c.id, "route", x.c.route.Path, "panic", v)
			x.fail(problem(proviso.Internal, "see the log of the server"))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, x.s.o.EvaluateLimit)
	defer cancel()
	spans, done := x.s.traceAsked(ctx, x.c, x.req.TraceID)
	defer done()
	x.req.Spans, x.req.Compiled = spans, x.start
	x.req.Decided = func(d judge.Decision) { x.tell(ctx, d) }
	started := time.Now()
	resp, err := x.s.o.Judge.Evaluate(ctx, x.req)
	cost, usage := x.account.total()
	x.s.metrics.spent(x.c.project, cost, usage)
	if err != nil {
		if failed := x.s.settle(ctx, x.account); failed != nil {
			x.s.o.Log.Error("charge a key", "request_id", x.c.id, "error", failed)
		}
		if cause := endedBy(ctx); cause != nil {
			err = cause
		}
		x.fail(err)
		return
	}
	x.start()
	x.complete(ctx, resp)
	took := time.Since(started)
	x.keep(ctx, resp, store.NewEvaluation{Set: x.set, Cost: cost, Usage: usage, Elapsed: took})
	if endedBy(ctx) == nil {
		x.s.latencies.add(x.c.project, took)
		x.s.metrics.streamed.WithLabelValues(string(x.c.project)).Observe(took.Seconds())
	}
	x.held.add("end", StreamEnd{Response: resp, TotalMS: milliseconds(took)})
}

// fail ends an evaluation with an error. Before its id is known, the error becomes the problem
// of the request.
func (x *streamed) fail(err error) {
	started := true
	x.begun.Do(func() {
		started = false
		x.err = err
		close(x.ready)
	})
	if started {
		p := problemOf(err)
		resp := &judge.Response{Status: proviso.Errored.String(), Errors: []judge.Failed{{Message: p.Error()}}}
		x.held.add("end", StreamEnd{Response: resp})
	}
}

// start adds the first event.
func (x *streamed) start() {
	x.begun.Do(func() {
		sum := sha256.Sum256([]byte(x.req.Output))
		first := StreamStart{ID: x.held.id, Total: len(x.req.Assertions), Assertions: []StreamAssertion{}, OutputHash: hex.EncodeToString(sum[:])}
		for i := range x.req.Assertions {
			a := &x.req.Assertions[i]
			first.Assertions = append(first.Assertions, StreamAssertion{i, a.ID, a.Instruction})
		}
		x.held.add("start", first)
		close(x.ready)
	})
}

// tell adds the event of a verdict. If the evaluation was ended early, the reason of an
// undecided assertion says so.
func (x *streamed) tell(ctx context.Context, d judge.Decision) {
	if d.Index < 0 || d.Index >= len(x.told) || x.told[d.Index] {
		return
	}
	if cause := endedBy(ctx); cause != nil && d.Status == proviso.Errored.String() {
		d.Reasoning = cause.Error()
	}
	x.told[d.Index], x.result[d.Index] = true, d.Result
	x.held.add("verdict", d)
}

// complete adds the events that the evaluator did not report, and makes the response consistent
// with all events.
func (x *streamed) complete(ctx context.Context, resp *judge.Response) {
	resp.Errors = nil
	for i := range resp.Results {
		if i < len(x.told) && !x.told[i] {
			x.tell(ctx, judge.NewDecision(i, resp.Results[i], x.req.Output))
		}
		if i < len(x.result) {
			resp.Results[i] = x.result[i]
		}
		if r := &resp.Results[i]; r.Status == proviso.Errored.String() {
			resp.Errors = append(resp.Errors, judge.Failed{ID: r.ID, Message: r.Reasoning})
		}
	}
}

// keep stores the result, like that of a request to /v1/evaluate.
func (x *streamed) keep(ctx context.Context, resp *judge.Response, n store.NewEvaluation) {
	data, err := encode(resp)
	if err == nil {
		n.ID = x.held.id
		err = x.s.storeEvaluation(ctx, x.c, x.body, data, resp, n)
	}
	if err != nil {
		x.s.o.Log.Error("keep an evaluation", "request_id", x.c.id, "error", err)
	}
}

// endedBy returns why an evaluation was ended early, or nil.
func endedBy(ctx context.Context) error {
	var e *proviso.Error
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}

// streamInput is a parsed [StreamRequest].
type streamInput struct {
	req  *judge.Request
	body []byte // equivalent request to /v1/evaluate
	set  string // hash of the set's version
	keep time.Duration
}

// readStream reads a request for a streamed evaluation.
func (s *Server) readStream(c *call) (in streamInput, err error) {
	var parts streamParts
	if err := c.compute(func() (err error) {
		parts, err = splitStream(c.r.Context(), c.body)
		return err
	}); err != nil {
		return in, err
	}
	in.keep = parts.keep
	var doc store.Document
	if parts.set != "" {
		if doc, err = documentNamed(c.r.Context(), c.kept, store.AssertionSetKind, parts.set); err != nil {
			return in, err
		}
		in.set = doc.Hash
	}
	err = c.compute(func() (err error) {
		var templates *criteria.Library
		in.body = value.AppendJSON(nil, parts.body)
		if parts.set != "" {
			if in.body, templates, err = withSet(c.r.Context(), doc.Content, in.body); err != nil {
				return err
			}
		}
		if in.req, err = judge.ReadRequestWith(c.r.Context(), in.body, templates); err != nil {
			err = requestProblem(c.r.Context(), c.body, err)
		}
		return err
	})
	return in, err
}

// streamParts are the parts of a [StreamRequest].
type streamParts struct {
	body *value.Object // equivalent request to /v1/evaluate
	set  string        // name of a set
	keep time.Duration
}

// splitStream separates the members that only a [StreamRequest] has from those of a request to
// /v1/evaluate.
func splitStream(ctx context.Context, data []byte) (streamParts, error) {
	doc, o, err := decodeObject(ctx, data)
	if err != nil {
		return streamParts{}, err
	}
	names, _ := fieldsOf(typeOf[StreamRequest]())
	d := decoder{}
	p := streamParts{body: value.NewObject(o.Len()), keep: usualKeep}
	for key, v := range o.All() {
		switch {
		case key == "keep_s" && v != nil:
			n, ok := v.(float64)
			if p.keep = time.Duration(n) * time.Second; !ok || n != float64(int(n)) || p.keep < time.Second || p.keep > maxKeep {
				d.mistake("/keep_s", "/keep_s has to be a number of seconds from 1 to %d", int(maxKeep.Seconds()))
			}
		case key == "set" && v != nil:
			if p.set, _ = v.(string); p.set == "" {
				d.mistake("/set", "/set has to be the name of an assertion set, such as replies or replies@3")
			}
		case key == "keep_s" || key == "set":
		default:
			if !slices.Contains(names, key) {
				d.unknown("", key, names)
			}
			p.body.Set(key, v)
		}
	}
	for _, key := range []string{"assertions", "templates"} {
		if o.At("set") != nil && o.At(key) != nil {
			d.mistake("/"+key, "the %s are those of the set %s", key, strconv.Quote(shortened(p.set)))
		}
	}
	if len(d.mistakes) > 0 {
		return streamParts{}, d.problem(doc)
	}
	return p, nil
}
