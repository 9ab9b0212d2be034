package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// maxMadeEvents limits the events from which one request makes cases or items.
const maxMadeEvents = 1000

// eventsAsked returns the requested events with their texts, newest first. A request names
// their ids, or a filter as in the query of GET /v1/events.
func (s *Server) eventsAsked(c *call, ids []string, filter string, most int) ([]store.Event, error) {
	if !seesAll(c.key) {
		return nil, problem(codeForbidden, "events are for keys with the scope read")
	}
	if ids != nil {
		return eventsByID(c, ids)
	}
	f, err := s.filterOf(c, filter)
	if err != nil {
		return nil, err
	}
	f.Contents, f.Kept = true, true
	var list []store.Event
	for e, err := range all(c.r.Context(), c.kept.ListEvents, f) {
		if err != nil {
			return nil, err
		}
		if list = append(list, *e); len(list) > most {
			return nil, pointed("/filter", proviso.Limit, fmt.Sprintf("more than %d events: narrow the filter, such as with since", most))
		}
	}
	if len(list) == 0 {
		return nil, pointed("/filter", proviso.NotFound, "there are no events of this filter whose texts are kept")
	}
	return list, nil
}

// filterOf parses a filter as the query of GET /v1/events.
func (s *Server) filterOf(c *call, text string) (f store.EventFilter, err error) {
	q, err := url.ParseQuery(text)
	if err != nil {
		return f, pointed("/filter", proviso.Invalid, "the filter is not a query string, such as agent=support&status=fail")
	}
	var names []string
	for _, p := range trafficFilters {
		names = append(names, p.Name)
	}
	for key := range q {
		if !slices.Contains(names, key) {
			return f, pointed("/filter", proviso.Invalid, "the filter has an unknown parameter "+strconv.Quote(shortened(key)), names...)
		}
	}
	if f, err = s.trafficFilter(&query{Values: q}); err != nil {
		return f, pointed("/filter", proviso.Invalid, "the filter: "+err.Error())
	}
	if err := c.isWatch(f.Watch); err != nil && !isNotFound(err) {
		return f, err
	} else if err != nil {
		return f, pointed("/filter", proviso.Invalid, "the filter: "+err.Error())
	}
	return f, nil
}

// eventsByID returns events by their ids.
func eventsByID(c *call, ids []string) ([]store.Event, error) {
	if len(ids) > maxMadeEvents {
		return nil, pointed("/events", proviso.Limit, fmt.Sprintf("there are %d events, and at most %d are taken at once", len(ids), maxMadeEvents))
	}
	var list []store.Event
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		e, err := c.kept.Event(c.r.Context(), id)
		switch at := "/events/" + strconv.Itoa(i); {
		case err != nil && isNotFound(err):
			return nil, invalid([]Mistake{{Pointer: at, Code: proviso.NotFound, Message: "there is no event " + strconv.Quote(shortened(id))}}, 0)
		case err != nil:
			return nil, err
		case !e.Kept:
			return nil, invalid([]Mistake{{Pointer: at, Code: proviso.Unsupported, Message: "the texts of the event " + strconv.Quote(shortened(id)) + " are not kept"}}, 0)
		}
		list = append(list, e)
	}
	return list, nil
}

// casesOfEvents makes cases from production events.
func (s *Server) casesOfEvents(c *call, in *NewCases) ([]*value.Object, error) {
	list, err := s.eventsAsked(c, in.Events, in.Filter, maxMadeEvents)
	if err != nil {
		return nil, err
	}
	made := make([]*value.Object, 0, len(list))
	for i := range list {
		made = append(made, caseOfEvent(&list[i]))
	}
	return made, nil
}

// caseOfEvent makes a case from an event: its texts become variables, and its origin becomes
// metadata. The same event always makes the same case.
func caseOfEvent(e *store.Event) *value.Object {
	vars := value.ObjectOf("input", e.Input)
	if e.Context != "" {
		vars.Set("context", e.Context)
	}
	if e.Output != "" {
		vars.Set("output", e.Output)
	}
	from := value.ObjectOf("event", e.ID, "agent", e.Agent)
	for _, more := range [...]struct{ key, text string }{{"conversation", e.Conversation}, {"version", e.Version}, {"model", e.Model}, {"prompt", e.Prompt}} {
		if more.text != "" {
			from.Set(more.key, more.text)
		}
	}
	if len(e.Segment) > 0 {
		from.Set("segment", value.Of(e.Segment))
	}
	return value.ObjectOf("id", "event-"+e.ID, "vars", vars, "metadata", from)
}

// itemsOfEvents makes items from traffic events. Events drawn at random come first; they are a
// random sample only if the filter does not depend on outcomes.
func (s *Server) itemsOfEvents(c *call, in *NewLabelQueue) ([]label.Item, error) {
	if (in.Events == nil) == (in.Filter == "") {
		return nil, pointed("/run", proviso.Invalid, "send exactly one of run, events and filter")
	}
	list, err := s.eventsAsked(c, in.Events, in.Filter, maxMadeEvents)
	if err != nil {
		return nil, err
	}
	draw := drawn(in, len(list))
	if in.Events != nil {
		draw = 0
	} else if f, err := s.filterOf(c, in.Filter); err != nil || f.Assertion != "" || len(f.Status) > 0 || f.Text != "" || f.Feedback != 0 || f.Failed != nil {
		draw = 0
	}
	population := len(list)
	shuffled := slices.Clone(list)
	slices.SortFunc(shuffled, func(a, b store.Event) int { return cmp.Compare(orderOf(c, a.ID), orderOf(c, b.ID)) })
	first := map[string]bool{}
	for i := range shuffled[:draw] {
		first[shuffled[i].ID] = true
	}
	ordered := append(shuffled[:draw:draw], slices.DeleteFunc(list, func(e store.Event) bool { return first[e.ID] })...)
	names := in.Assertions
	if names == nil {
		names = []string{""}
	}
	var items []label.Item
	for i := range ordered {
		for _, name := range names {
			item := label.Item{Event: ordered[i].ID, Assertion: name, Stratum: label.Informative, Rank: i, Population: population, Why: "newest first"}
			if i < draw {
				item.Stratum, item.Why = label.Random, "drawn at random"
			}
			if in.Size > 0 && len(items) == in.Size {
				return items, nil
			}
			items = append(items, item)
		}
	}
	return items, nil
}

// drawn returns how many of n events are drawn at random.
func drawn(in *NewLabelQueue, n int) int {
	switch {
	case in.Random == nil:
		return min(n, defaultRandom)
	case *in.Random < 1:
		return int(*in.Random * float64(n))
	}
	return min(n, int(*in.Random))
}

// orderOf returns an event's sort key in a random order that differs between queues.
func orderOf(c *call, event string) string {
	sum := sha256.Sum256([]byte(c.r.PathValue("queue") + "\x00" + event))
	return string(sum[:])
}

// itemOfEvent does for an event what [itemOf] does for a result.
func itemOfEvent(ctx context.Context, kept store.ProjectStore, q *store.LabelQueue, l *store.Lease) (*LabelItem, error) {
	e, err := kept.Event(ctx, l.Item.Event)
	if err != nil {
		return nil, err
	}
	if !e.Kept {
		return nil, proviso.Errorf(proviso.Conflict, "the texts of the event %s are no longer kept", quotedShort(e.ID))
	}
	out := &LabelItem{Event: e.ID, Assertion: l.Item.Assertion, Case: e.ID, Title: e.Agent, Input: e.Input, Output: cmp.Or(e.Output, e.Error), Question: l.Item.Assertion, Criteria: []string{}, Vars: [][2]string{{"input", e.Input}}}
	if e.Context != "" {
		out.Vars = append(out.Vars, [2]string{"context", e.Context})
	}
	if q.Blind || l.Item.Assertion == "" {
		return out, nil
	}
	list, err := kept.ListVerdicts(ctx, store.VerdictFilter{Events: []string{e.ID}, Assertion: l.Item.Assertion}, store.Page{Limit: 1})
	for _, v := range list.Items {
		out.Judge = &report.DetailAssertion{Name: v.Assertion, Type: proviso.TypeJudge, Status: v.Status.String(), Reason: v.Reason, Judge: v.Judge}
	}
	return out, err
}
