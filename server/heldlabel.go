package server

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// heldFor returns an evaluation of a project that is held, nil if there is none.
func (s *Server) heldFor(project store.Project, id string) *heldEvaluation {
	if e := s.evaluations.get(id, time.Now()); e != nil && e.project == project {
		return e
	}
	return nil
}

// ofLabel adds to a label what its evaluation said so far. The evaluation may go on: people
// disagree with a verdict before the last one is there.
func (e *heldEvaluation) ofLabel(l *label.Label) (labelled, error) {
	l.OutputID = record.OutputID(e.output)
	out := labelled{units: value.UTF16Len(e.output)}
	if l.Assertion == "" {
		return out, nil
	}
	e.mu.Lock()
	events := e.events // only appended to
	e.mu.Unlock()
	var names []string
	for _, event := range events {
		_, data, _ := bytes.Cut(event, []byte("\ndata: "))
		switch {
		case bytes.HasPrefix(event, []byte("event: start\n")):
			var start StreamStart
			if err := json.Unmarshal(data, &start); err != nil {
				return out, err
			}
			for _, a := range start.Assertions {
				names = append(names, a.ID)
			}
		case bytes.HasPrefix(event, []byte("event: verdict\n")):
			var d judge.Decision
			if err := json.Unmarshal(data, &d); err != nil {
				return out, err
			}
			if d.ID == l.Assertion {
				l.Judged, l.Judge = d.Status, d.Judge
				return out, nil
			}
		}
	}
	for _, name := range names {
		if name == l.Assertion { // it has no verdict yet
			return out, nil
		}
	}
	return out, label.NoAssertion(l.Assertion, "the evaluation", names)
}
