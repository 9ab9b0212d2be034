package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// halfOf compares the verdicts on some outputs.
func halfOf(pairs []align.Pair) TrialHalf {
	c := align.ChangeOf(pairs)
	return TrialHalf{
		Labels: c.Labels, Cases: c.Cases, Pairs: c.Pairs, Before: sideOf(&c.Before), After: sideOf(&c.After), Finding: string(c.Finding()),
		Difference: TrialDifference{estimateOf(c.Difference.Kappa), estimateOf(c.Difference.TPR), estimateOf(c.Difference.TNR)},
	}
}

func sideOf(a *align.Agreement) TrialSide {
	return TrialSide{TruePass: a.TP, FalsePass: a.FP, TrueFail: a.TN, FalseFail: a.FN, Errors: a.Errors, Agreement: a.Agreement,
		Kappa: estimateOf(a.Kappa), TPR: estimateOf(a.TPR), TNR: estimateOf(a.TNR)}
}

func estimateOf(e *stats.Estimate) EstimateJSON {
	if e == nil {
		return EstimateJSON{}
	}
	return EstimateJSON{&e.Value, &e.Low, &e.High}
}

// seenTrial returns the trial that the address names, as it is now.
func (s *Server) seenTrial(c *call) (*seenTrialState, error) {
	id := c.r.PathValue("trial")
	t, err := s.trialState(c.r.Context(), c, id)
	if err == nil && t == nil {
		err = proviso.Errorf(proviso.NotFound, "there is no trial %s; trials are held for an hour after their end, and until the only server stops", quotedShort(id))
	}
	return t, err
}

// getTrial sends a trial.
func (s *Server) getTrial(c *call) error {
	t, err := s.seenTrial(c)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, t.trial)
}

// cancelTrial ends a trial. One that has ended stays as it is.
func (s *Server) cancelTrial(c *call) error {
	t, err := s.seenTrial(c)
	if err != nil {
		return err
	}
	if t.key != c.key.ID && !c.key.Can(store.Admin) {
		return problem(codeForbidden, "only the key that started a trial, and admin, cancel it")
	}
	if held := s.trials.get(t.id); held != nil {
		held.cancel()
	} else if t.server != "" && t.status == trialRunning {
		if err := s.peers.cancel(c.r.Context(), t.server, t.id); err != nil {
			return err
		}
	}
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}

// trialEvents streams the state of a trial.
func (s *Server) trialEvents(c *call) error {
	t, err := s.seenTrial(c)
	if err != nil {
		return err
	}
	last := c.r.Header.Get("Last-Event-ID")
	if t.status != trialRunning && last == t.event() {
		return c.sendResponse(store.Response{Status: http.StatusNoContent}) // tells browsers not to come back
	}
	if s.streams.Add(1) > int64(s.o.MaxStreams) {
		s.streams.Add(-1)
		return problem(codeBusy, fmt.Sprintf("%d event streams are open", s.o.MaxStreams)).after(5 * time.Second)
	}
	defer s.streams.Add(-1)
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx holds answers back otherwise
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		s.streamTrial(c.r.Context(), c, t.id, last)
	}
	return nil
}

// streamTrial sends events until the trial has ended, the client has disconnected, or the
// server stops.
func (s *Server) streamTrial(ctx context.Context, c *call, trial, last string) {
	next, end := s.hub.watch(trial)
	defer end()
	w := &eventWriter{w: c.w, control: http.NewResponseController(c.w)}
	beat := time.NewTicker(s.o.Heartbeat)
	defer beat.Stop()
	if !w.write("retry: 2000\n\n") {
		return
	}
	for {
		changed := next()
		now, err := s.trialState(ctx, c, trial)
		if now == nil || err != nil || !s.stillOpen(c) {
			return // the client comes back
		}
		id, name := now.event(), "progress"
		if now.status != trialRunning {
			name = "end"
		}
		data, err := json.Marshal(now.trial)
		if err != nil || id != last && !w.write(fmt.Sprintf("event: %s\nid: %s\ndata: %s\n\n", name, id, data)) || name == "end" || !s.await(ctx, w, changed, beat.C) {
			return
		}
		last = id
	}
}
