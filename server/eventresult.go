package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// evaluateEvent evaluates one event.
func (m *monitoring) evaluateEvent(ctx context.Context, c *chunk, l store.EventLease) (out settlement) {
	out = settlement{key: c.live.key, result: store.EventResult{EventLease: l}}
	work := m.workOf(c.live.key)
	defer func() {
		if v := recover(); v != nil {
			m.defect(v)
			work.ended(0, provider.NoTrouble, "", m.now())
			if out.result.Verdicts, out.result.Error = nil, "a defect of proviso: see the log of the server"; l.Attempt < eventTries {
				out.result.Again = m.now().Add(firstPause)
			}
		}
	}()
	e, err := m.event(ctx, c.live.key.project, l.Event)
	if errors.Is(err, store.ErrSealed) {
		out.left = true
		return out
	}
	if err != nil {
		work.ended(0, provider.NoTrouble, "", m.now())
		var coded *proviso.Error
		if out.result.Error = "read the event: " + problemOf(err).Error(); !errors.As(err, &coded) || coded.Code != proviso.NotFound {
			out.result.Again = m.now().Add(firstPause)
		}
		return out
	}
	began := time.Now()
	resp, account, err := m.decide(ctx, c, e)
	took := time.Since(began)
	cost := m.s.paid(ctx, c.live.key.project, account, "watch", c.live.Name)
	m.s.metrics.evaluatedSeconds(c.live.key.project, took, cost)
	trouble, why := account.trouble()
	work.ended(cost, trouble, why, m.now())
	out.result.Cost, out.trace, out.answer = cost, e.TraceID, e.Metadata.Text("response_id")
	m.conclude(ctx, c, e, resp, err, trouble, &out.result)
	return out
}

// decide asks the judge, on the account of the key that stored the watch.
func (m *monitoring) decide(ctx context.Context, c *chunk, e *ingest.Event) (*judge.Response, *account, error) {
	account := m.s.budgets.open(c.key)
	if err := account.check(); err != nil {
		account.failed(fmt.Errorf("%w: %w", errKeyBudget, err))
		return nil, account, err
	}
	req := c.set.request
	req.Input, req.Output, req.Metadata, req.Repeat = e.Input, e.Output, e.Metadata, c.repeat
	if e.Context != "" {
		req.Context = e.Context
	}
	req.Vars = varsOf(e)
	spans, done := m.s.spansOf(c.key, e.TraceID)
	defer done()
	req.TraceID, req.Spans = e.TraceID, spans
	if spans == nil {
		req.TraceID = ""
	}
	ctx, task := m.s.turns.Begin(ctx, c.key.ID, m.s.o.CPUBudget, m.s.over)
	defer task.End()
	if len(req.Assertions) == 0 { // none of the assertions can be evaluated here
		return &judge.Response{}, account, nil
	}
	ctx, cancel := context.WithTimeout(withAccount(ctx, account), m.s.o.EvaluateLimit)
	defer cancel()
	resp, err := m.s.o.Judge.Evaluate(ctx, &req)
	return resp, account, err
}

// varsOf returns the variables for the conditions of a set.
func varsOf(e *ingest.Event) *value.Object {
	segment := value.NewObject(len(e.Segment))
	for name, v := range e.Segment {
		segment.Set(name, v)
	}
	return value.ObjectOf("agent", e.Agent, "version", e.Version, "model", e.Model, "segment", segment)
}

// conclude turns a response into verdicts, and decides whether the event is evaluated again.
// Decided verdicts are always stored, so that no model is asked twice.
func (m *monitoring) conclude(ctx context.Context, c *chunk, e *ingest.Event, resp *judge.Response, err error, trouble provider.Trouble, r *store.EventResult) {
	now := m.now()
	if err != nil {
		r.Error = firstLine(err.Error())
		switch {
		case ctx.Err() != nil: // the server is stopping
			r.Again = now
		case trouble != provider.NoTrouble:
			r.Again = now.Add(troublePause)
		case r.Attempt < eventTries:
			r.Again = now.Add(firstPause << (r.Attempt - 1))
		default:
			r.Verdicts = c.undecided(e, r)
		}
		return
	}
	undecided := false
	for _, one := range resp.Results {
		undecided = undecided || proviso.StatusNamed(one.Status) == proviso.Errored
	}
	last := !undecided || r.Attempt >= eventTries && trouble == provider.NoTrouble
	for _, one := range resp.Results {
		if v := c.verdict(e, r, &one); last || v.Status != proviso.Errored {
			r.Verdicts = append(r.Verdicts, v)
		} else if r.Error == "" {
			r.Error = v.Reason
		}
	}
	if last {
		for _, one := range c.set.broken {
			v := c.about(e, r, one.id)
			v.Status, v.Reason = proviso.Errored, one.why
			r.Verdicts = append(r.Verdicts, v)
		}
		if len(c.set.broken) > 0 && r.Error == "" {
			r.Error = c.set.broken[0].id + ": " + c.set.broken[0].why
		}
	}
	switch {
	case last:
	case trouble != provider.NoTrouble || ctx.Err() != nil:
		r.Again = now.Add(troublePause)
	default:
		r.Again = now.Add(firstPause << (r.Attempt - 1))
	}
}

func firstLine(text string) string {
	return excerpt.Line(strings.ToValidUTF8(text, "\uFFFD"), store.MaxExcerpt/4)
}

// verdict converts one result into a verdict.
func (c *chunk) verdict(e *ingest.Event, r *store.EventResult, one *judge.Result) store.WatchVerdict {
	v := c.about(e, r, one.ID)
	v.Status, v.Score, v.Judge = proviso.StatusNamed(one.Status), one.Score, one.Judge
	v.Reason = excerpt.Bytes(strings.ToValidUTF8(one.Reasoning, "\uFFFD"), store.MaxExcerpt)
	if one.Cost != nil && *one.Cost > 0 && !one.Cached {
		v.Cost = *one.Cost
	}
	return v
}

// undecided returns an error verdict on each assertion of an event that could not be evaluated.
func (c *chunk) undecided(e *ingest.Event, r *store.EventResult) []store.WatchVerdict {
	var list []store.WatchVerdict
	for _, id := range c.set.ids {
		v := c.about(e, r, id)
		v.Status, v.Reason = proviso.Errored, r.Error
		list = append(list, v)
	}
	return list
}

// about returns a verdict on an event, without the outcome.
func (c *chunk) about(e *ingest.Event, r *store.EventResult, assertion string) store.WatchVerdict {
	return store.WatchVerdict{
		Event: e.ID, Conversation: e.Conversation, Agent: e.Agent, Assertion: assertion, Set: c.set.hash, Version: e.Version, Model: e.Model, Prompt: ingest.PromptHash(e.Prompt), Segment: c.live.segmentOf(e),
		Time: e.Time, Probability: r.Probability, Backfill: r.Backfill,
	}
}

// segmentOf returns the event's value of the segment that the watch distinguishes.
func (w *liveWatch) segmentOf(e *ingest.Event) string {
	if w.conf.Sample.Segment == "" {
		return ""
	}
	return e.Segment[w.conf.Sample.Segment]
}

// settlement is the result of one job.
type settlement struct {
	key    watchKey
	result store.EventResult
	trace  string        // the event's trace, for a collector
	answer string        // the vendor's id of the answer, for a collector
	left   bool          // only other processes can evaluate the event
	kept   chan struct{} // closed when the result is stored; nil if nobody waits
}

// told reports to the worker, once, that the result is stored or given up.
func (s *settlement) told() {
	if s.kept != nil {
		close(s.kept)
		s.kept = nil
	}
}

// settler stores the results of jobs in batches: one transaction and one update of each rollup
// for many events. While the store accepts none, workers wait.
type settler struct {
	m       *monitoring
	results chan settlement
}

// settleMost is the largest number of results in a batch.
const settleMost = 256

// settle stores results until all workers have ended.
func (x *settler) settle(ended <-chan struct{}) {
	for {
		select {
		case one := <-x.results:
			x.gather(one, ended)
		case <-ended:
			for len(x.results) > 0 {
				x.gather(<-x.results, ended)
			}
			return
		}
	}
}

// gather stores a result together with the results that wait behind it.
func (x *settler) gather(one settlement, ended <-chan struct{}) {
	list := map[watchKey][]settlement{one.key: {one}}
	for n := 1; n < settleMost; n++ {
		select {
		case next := <-x.results:
			list[next.key] = append(list[next.key], next)
			continue
		default:
		}
		break
	}
	for key, some := range list {
		x.store(key, some, ended)
	}
}

// store stores the results of a watch. It retries while the store is full, because the results
// are paid for. After all workers have ended, it tries only once more.
func (x *settler) store(key watchKey, list []settlement, ended <-chan struct{}) {
	defer func() {
		for i := range list {
			list[i].told()
		}
	}()
	in := x.m.s.o.Store.In(key.project)
	for last := false; ; {
		done := make([]store.EventResult, len(list))
		for i := range list {
			done[i] = list[i].result
		}
		_, err := in.SettleEvents(context.Background(), key.name, done)
		code := proviso.CodeOf(err)
		switch {
		case err == nil:
			x.m.settled(key, list)
			return
		case code == proviso.NotFound: // the watch was removed meanwhile
			return
		case (code == proviso.Invalid || code == proviso.Limit) && len(list) > 1:
			for i := range list { // one of them cannot be stored
				x.store(key, list[i:i+1], ended)
			}
			return
		case (code == proviso.Invalid || code == proviso.Limit) && len(done[0].Verdicts) > 0:
			list[0].result.Verdicts, list[0].result.Error, list[0].result.Again = nil, firstLine(err.Error()), time.Time{}
			continue
		}
		x.m.s.o.Log.Error("monitor", "doing", "keep verdicts", "project", key.project, "error", err)
		if last {
			return // the events are evaluated again after their lease
		}
		select {
		case <-time.After(time.Second):
		case <-ended:
			last = true
		}
	}
}

// settled counts the stored results, and forwards them.
func (m *monitoring) settled(key watchKey, list []settlement) {
	now := m.now()
	for i := range list {
		r := &list[i].result
		end := "done"
		switch {
		case !r.Again.IsZero():
			end = "again"
		case r.Error != "":
			end = "failed"
		}
		m.s.metrics.jobs.WithLabelValues(string(key.project), end).Inc()
		for k := range r.Verdicts {
			v := &r.Verdicts[k]
			m.s.metrics.verdicts.WithLabelValues(string(key.project), v.Status.String()).Inc()
			if !v.Backfill && k == 0 {
				m.s.metrics.delay.WithLabelValues(string(key.project)).Observe(max(0, now.Sub(v.Time).Seconds()))
			}
			if m.s.o.Verdicts != nil {
				m.s.o.Verdicts.AddMonitored(&otlp.Monitored{
					Assertion: v.Assertion, Status: v.Status, Score: v.Score, Reason: v.Reason, Agent: v.Agent, AgentVersion: v.Version, Watch: key.name, Judge: v.Judge,
					Event: v.Event, Conversation: v.Conversation, TraceID: list[i].trace, ResponseID: list[i].answer, At: now,
				})
			}
		}
	}
}
