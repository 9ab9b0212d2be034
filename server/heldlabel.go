package server

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// heldForLabel returns a streamed evaluation of a project with its output and its events so
// far, nil if no server holds it.
func (s *Server) heldForLabel(ctx context.Context, project store.Project, id string) (*heldEvaluation, error) {
	e, err := s.heldFor(ctx, project, id)
	if e == nil || err != nil || e.server == "" {
		return e, err
	}
	if err := s.readOutput(ctx, e); err != nil {
		return nil, err
	}
	followed, leave, err := s.mirror(ctx, e)
	if err != nil {
		return nil, err
	}
	leave()
	followed.mu.Lock()
	defer followed.mu.Unlock()
	e.events = followed.events
	return e, nil
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
	if slices.Contains(names, l.Assertion) { // it has no verdict yet
		return out, nil
	}
	return out, label.NoAssertion(l.Assertion, "the evaluation", names)
}
