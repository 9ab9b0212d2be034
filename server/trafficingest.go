package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// maxPosted limits the events of a request.
const maxPosted = 1000

// Admission of event requests: how many are processed at a time, how long the others wait, and
// when a refused client may retry. At most maxAdmitted wait.
const (
	maxAdmitted  = 256
	admitWait    = time.Second
	admitAgainIn = 2 * time.Second
)

// PostedEvents is the result of sending events.
type PostedEvents struct {
	Accepted  int             `json:"accepted" doc:"How many were stored"`
	Duplicate int             `json:"duplicate" doc:"How many existed already, by their id"`
	Rejected  []RejectedEvent `json:"rejected" doc:"Those that were not stored. The others are"`
}

// RejectedEvent is an event that was not stored.
type RejectedEvent struct {
	Index   int    `json:"index" doc:"Of the event in events, from 0"`
	Pointer string `json:"pointer,omitempty" doc:"Where its first mistake is in the body (RFC 6901)"`
	Code    string `json:"code"`
	Message string `json:"message" doc:"All its mistakes"`
}

// admission admits a limited number of requests. Another limited number waits for a limited
// time. It is safe for concurrent use.
type admission struct {
	slots   *semaphore.Weighted
	waiting atomic.Int64
}

func newAdmission() *admission {
	return &admission{slots: semaphore.NewWeighted(int64(2*runtime.GOMAXPROCS(0) + 2))}
}

// enter waits for a slot, at most admitWait. The caller calls leave.
func (g *admission) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { g.slots.Release(1) }
	if g.slots.TryAcquire(1) {
		return leave, nil
	}
	if g.waiting.Add(1) > maxAdmitted {
		g.waiting.Add(-1)
		return nil, overloaded()
	}
	defer g.waiting.Add(-1)
	ctx, cancel := context.WithTimeoutCause(ctx, admitWait, overloaded())
	defer cancel()
	if g.slots.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	return leave, nil
}

func overloaded() error {
	return problem(codeBusy, "more events arrive than can be stored; nothing of this request was stored").after(admitAgainIn)
}

// postEvents stores events. An invalid event does not affect the others.
func (s *Server) postEvents(c *call) error {
	leave, err := s.admitted.enter(c.r.Context())
	if err != nil {
		return err
	}
	defer leave()
	var out PostedEvents
	var events []store.NewEvent
	if err := c.compute(func() error {
		list, err := postedEvents(c.r.Context(), c.body)
		if err != nil {
			return err
		}
		events, out, err = s.readEvents(c.r.Context(), c.project, list)
		return err
	}); err != nil {
		return err
	}
	if err := s.storeEvents(c.r.Context(), c.project, events, &out); err != nil {
		return err
	}
	return c.json(http.StatusAccepted, out)
}

// postedEvents parses a body with events. The body need not be UTF-8 as a whole: an event that
// is not gets its own mistake.
func postedEvents(ctx context.Context, body []byte) ([]any, error) {
	v, err := value.ParseUniqueReply(ctx, string(body))
	var twice *value.DuplicateKeyError
	if err != nil && !errors.As(err, &twice) {
		if doc, err := parseBody(ctx, body); err != nil || doc == nil {
			return nil, err // with the position
		}
		return nil, err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, invalid([]Mistake{{Code: proviso.Invalid, Message: "the body has to be an object with events, not " + kindOf(v)}}, 0)
	}
	d := decoder{}
	for key := range o.All() {
		if key != "events" {
			d.unknown("", key, []string{"events"})
		}
	}
	list, ok := o.At("events").([]any)
	if !ok {
		d.mistake("/events", "events has to be a list of events")
	}
	if len(d.mistakes) > 0 {
		return nil, invalid(d.mistakes, d.more)
	}
	if len(list) > maxPosted {
		return nil, pointed("/events", proviso.Limit, fmt.Sprintf("there are %d events, and at most %d are taken at once", len(list), maxPosted))
	}
	if twice != nil && !markTwice(list, body) {
		return nil, invalid([]Mistake{{Code: proviso.Invalid, Message: twice.Error()}}, 0)
	}
	return list, nil
}

// markTwice replaces each event that has a duplicate key with the error. It reports whether
// there is one.
func markTwice(list []any, body []byte) (found bool) {
	var parts struct{ Events []json.RawMessage }
	if err := json.Unmarshal(body, &parts); err != nil || len(parts.Events) != len(list) {
		return false
	}
	for i, part := range parts.Events {
		var twice *value.DuplicateKeyError
		if _, _, err := value.ParseUniqueJSON(string(part)); errors.As(err, &twice) {
			list[i], found = twice, true
		}
	}
	return found
}

// readEvents checks and redacts events, and determines which watches sample them.
func (s *Server) readEvents(ctx context.Context, p store.Project, list []any) (events []store.NewEvent, out PostedEvents, err error) {
	out.Rejected = []RejectedEvent{}
	now := s.o.Now().UTC()
	for i, v := range list {
		if twice, ok := v.(*value.DuplicateKeyError); ok {
			out.Rejected = append(out.Rejected, RejectedEvent{Index: i, Pointer: "/events/" + strconv.Itoa(i), Code: proviso.Invalid, Message: twice.Error()})
			continue
		}
		o, ok := v.(*value.Object)
		if !ok {
			out.Rejected = append(out.Rejected, RejectedEvent{Index: i, Pointer: "/events/" + strconv.Itoa(i), Code: proviso.Invalid, Message: "an event has to be an object, not " + kindOf(v)})
			continue
		}
		e, mistakes := ingest.ReadEvent(o, now)
		if len(mistakes) > 0 {
			out.Rejected = append(out.Rejected, rejected(i, mistakes))
			continue
		}
		n, err := s.newEvent(ctx, p, e)
		if err != nil {
			return nil, out, err
		}
		if err := n.Check(); err != nil { // check the result of redaction
			out.Rejected = append(out.Rejected, RejectedEvent{Index: i, Code: problemOf(err).Code, Message: err.Error()})
			continue
		}
		events = append(events, n)
	}
	return events, out, nil
}

// maxRejection limits the message about one event, in bytes.
const maxRejection = 1000

// rejected describes an event with mistakes.
func rejected(i int, mistakes []*proviso.Error) RejectedEvent {
	out := RejectedEvent{Index: i, Pointer: "/events/" + strconv.Itoa(i) + mistakes[0].Pointer, Code: mistakes[0].Code}
	for n, m := range mistakes {
		if n > 0 {
			out.Message += "; "
		}
		if out.Message += m.Message; len(out.Message) > maxRejection {
			break
		}
	}
	out.Message = excerpt.Bytes(out.Message, maxRejection)
	return out
}

// newEvent redacts an event, and decides who evaluates it and whether its texts are kept. Texts
// are kept if a watch sampled the event, if the agent gave no answer, and for a share of the
// events of agents without a watch.
func (s *Server) newEvent(ctx context.Context, p store.Project, e ingest.Event) (n store.NewEvent, err error) {
	s.o.Redactor.Event(&e)
	watched := false
	if s.sampleEvent != nil {
		if n.Jobs, watched, err = s.sampleEvent(ctx, p, &e); err != nil {
			return n, err
		}
	}
	n.Event = e
	n.KeepContent = len(n.Jobs) > 0 || e.Error != "" || !watched && shareOf(e.Group()) < s.o.TrafficShare
	return n, nil
}

// shareOf maps the group of an event to a number from 0 to below 1. The mapping is uniform and
// deterministic.
func shareOf(group string) float64 {
	sum := sha256.Sum256([]byte("traffic share\x00" + group))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// storeEvents stores events, counts them, and notifies the watches.
func (s *Server) storeEvents(ctx context.Context, p store.Project, events []store.NewEvent, out *PostedEvents) error {
	if len(events) > 0 {
		added, err := s.o.Store.In(p).AddEvents(ctx, events)
		if err != nil {
			return err
		}
		out.Accepted, out.Duplicate = added.Accepted, added.Duplicates
		if s.eventsAdded != nil {
			s.eventsAdded(p)
		}
	}
	count := func(result string, n int) { s.metrics.events.WithLabelValues(string(p), result).Add(float64(n)) }
	count("accepted", out.Accepted)
	count("duplicate", out.Duplicate)
	count("rejected", len(out.Rejected))
	return nil
}

func (s *Server) postFeedback(c *call) error {
	doc, o, err := decodeObject(c.r.Context(), c.body)
	if err != nil {
		return err
	}
	f, mistakes := ingest.ReadFeedback(o, s.o.Now().UTC())
	if len(mistakes) > 0 {
		d := decoder{}
		for _, m := range mistakes {
			d.mistakes = append(d.mistakes, Mistake{Pointer: m.Pointer, Code: m.Code, Message: m.Message, Valid: m.Valid})
		}
		return d.problem(doc)
	}
	s.o.Redactor.Feedback(&f)
	leave, err := s.admitted.enter(c.r.Context())
	if err != nil {
		return err
	}
	defer leave()
	replaced, err := c.kept.AddFeedback(c.r.Context(), f)
	if err != nil {
		return err
	}
	return c.json(http.StatusCreated, PostedFeedback{Replaced: replaced})
}

// PostedFeedback is the result of sending a thumb.
type PostedFeedback struct {
	Replaced bool `json:"replaced" doc:"Whether it replaced a thumb of the same user"`
}
