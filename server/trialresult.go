package server

import (
	"fmt"
	"net/http"

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
	return s.followStates(c, c.r.PathValue("trial"), func() (state, error) {
		t, err := s.seenTrial(c)
		if err != nil {
			return state{}, err
		}
		return state{fmt.Sprintf("%s-%d", t.status, t.done), t.status != trialRunning, t.trial}, nil
	})
}
