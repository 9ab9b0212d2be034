package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// readLabel checks a label, and finds its subject.
func (s *Server) readLabel(c *call, in *NewLabel) (*store.NewLabel, error) {
	n := &store.NewLabel{CreatedBy: c.key.ID, Lease: in.Lease, Label: label.Label{Verdict: label.Verdict(in.Label), Note: in.Note, Evidence: placesOf(in.Evidence), Queue: in.Queue,
		Subject: label.Subject{Evaluation: in.Evaluation, Event: in.Event, Run: in.Run, Assertion: in.Assertion}}}
	n.By, n.Name = c.person()
	if in.By != "" {
		if !c.key.Can(store.Admin) {
			return nil, problem(codeForbidden, "only a key with the scope admin writes labels for others")
		}
		n.By, n.Name = in.By, ""
	}
	switch {
	case in.Stratum != "" && in.Event == "":
		return nil, pointed("/stratum", proviso.Invalid, "a queue says how its items were chosen; only an event has no queue")
	case in.Stratum != "" && in.Stratum != label.Random && in.Stratum != label.Informative:
		return nil, pointed("/stratum", proviso.Invalid, "there is no such stratum", label.Random, label.Informative)
	case in.Run != "" && in.Index == nil:
		return nil, pointed("/run", proviso.Invalid, "index is missing: which row of the run it is")
	case in.Run == "" && in.Index != nil:
		return nil, pointed("/index", proviso.Invalid, "run is missing: of which run the row is")
	case in.Run != "":
		n.Index = *in.Index
	}
	n.Stratum = in.Stratum
	if err := n.Check(); err != nil {
		return nil, labelMistake(err)
	}
	about, err := s.subject(c, &n.Label)
	if err != nil {
		return nil, err
	}
	for i, span := range n.Evidence {
		if span.End > about.units {
			return nil, pointed(fmt.Sprintf("/evidence/%d/end", i), proviso.Invalid,
				fmt.Sprintf("the output has %d UTF-16 units, so no part of it ends at %d", about.units, span.End))
		}
	}
	return n, nil
}

// pointed returns an error about one member of a body.
func pointed(pointer, code, message string, valid ...string) error {
	return &proviso.Error{Code: code, Pointer: pointer, Message: message, Valid: valid}
}

// labelMistake adds the member that caused an error of [label.Label.Check].
func labelMistake(err error) error {
	var e *proviso.Error
	if errors.As(err, &e) && len(e.Valid) > 0 { // only an invalid verdict has a few valid values
		return pointed("/label", e.Code, e.Message, e.Valid...)
	}
	return err
}

// labelled describes the output that a label is about.
type labelled struct {
	units int // UTF-16 units of the output
}

// subject finds the output that a label is about, and adds the judge's verdict on it to the
// label.
func (s *Server) subject(c *call, l *label.Label) (labelled, error) {
	switch {
	case l.Evaluation != "":
		return s.evaluationOfLabel(c, l)
	case l.Event != "":
		return eventOfLabel(c, l)
	}
	result, err := c.kept.Result(c.r.Context(), l.Run, l.Index)
	if err != nil {
		return labelled{}, err
	}
	row, err := record.Decode(l.Index, result.JSON)
	if err != nil {
		return labelled{}, err
	}
	if err := l.OfRow(row); err != nil || len(l.Evidence) == 0 {
		return labelled{}, err
	}
	d, err := report.NewDetail(metaOfCells(), result.JSON, 2*len(result.JSON)) // as people saw it
	if err != nil || d.Output == nil {
		return labelled{}, err
	}
	return labelled{units: value.UTF16Len(*d.Output)}, nil
}

// eventOfLabel is subject for an event. The judged verdict is the latest one on the event.
func eventOfLabel(c *call, l *label.Label) (labelled, error) {
	e, err := c.kept.Event(c.r.Context(), l.Event)
	if err != nil {
		return labelled{}, err
	}
	if !e.Kept && len(l.Evidence) > 0 {
		return labelled{}, pointed("/evidence", proviso.Invalid, "the server does not keep the output, so no part of it can be evidence")
	}
	if e.Kept {
		l.OutputID = record.OutputID(e.Output)
	}
	out := labelled{units: value.UTF16Len(e.Output)}
	if l.Assertion == "" {
		return out, nil
	}
	list, err := c.kept.ListVerdicts(c.r.Context(), store.VerdictFilter{Events: []string{l.Event}, Assertion: l.Assertion}, store.Page{Limit: 1})
	for _, v := range list.Items {
		l.Judged, l.Judge = v.Status.String(), v.Judge
	}
	return out, err
}

// evaluationOfLabel is subject for an evaluation. It prefers the stored content to the content
// in memory. Without content, nothing is known of the output and its assertions.
func (s *Server) evaluationOfLabel(c *call, l *label.Label) (labelled, error) {
	e, err := c.kept.Evaluation(c.r.Context(), l.Evaluation)
	held, lost := s.heldForLabel(c.r.Context(), c.project, l.Evaluation)
	if lost != nil {
		return labelled{}, lost
	}
	if held != nil && (err != nil && isNotFound(err) || err == nil && e.Response == nil) {
		out, failed := held.ofLabel(l)
		if err == nil && l.Assertion == "" {
			l.Judged, l.Judge = e.Status.String(), e.Judge
		}
		return out, failed
	}
	if err != nil {
		return labelled{}, err
	}
	var request struct {
		Output string `json:"agent_output"`
	}
	var response judge.Response
	if e.Request == nil || e.Response == nil {
		if len(l.Evidence) > 0 {
			return labelled{}, pointed("/evidence", proviso.Invalid, "the server does not keep the output, so no part of it can be evidence")
		}
		return labelled{}, nil
	}
	if err := errors.Join(json.Unmarshal(e.Request, &request), json.Unmarshal(e.Response, &response)); err != nil {
		return labelled{}, err
	}
	l.OutputID = record.OutputID(request.Output)
	out := labelled{units: value.UTF16Len(request.Output)}
	if l.Assertion == "" {
		l.Judged, l.Judge = e.Status.String(), e.Judge
		return out, nil
	}
	var names []string
	for i := range response.Results {
		r := &response.Results[i]
		if names = append(names, r.ID); r.ID == l.Assertion {
			l.Judged, l.Judge = r.Status, r.Judge
			return out, nil
		}
	}
	return out, label.NoAssertion(l.Assertion, "the evaluation", names)
}

// heldForLabel returns a project's streamed evaluation with its output and its events so far,
// or nil if no server holds it.
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

// ofLabel adds to a label the verdicts of its evaluation so far. The evaluation may still be
// running: people may disagree with a verdict before the last one arrives.
func (e *heldEvaluation) ofLabel(l *label.Label) (labelled, error) {
	l.OutputID = record.OutputID(e.output)
	out := labelled{units: value.UTF16Len(e.output)}
	if l.Assertion == "" {
		return out, nil
	}
	e.mu.Lock()
	events := e.events // append-only
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
