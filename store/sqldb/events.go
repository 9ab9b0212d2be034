package sqldb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const (
	eventColumns = `e.seq, e.id, a.name, coalesce(p.hash, ''), e.time, e.received, e.failed, e.conversation, e.trace, e.version, e.model, e.person, e.segment,
	e.tokens_in, e.tokens_out, e.cached, e.total, e.requests, e.cost, e.latency, `
	ofEvents = ` FROM event e JOIN traffic_agent a ON a.id = e.agent LEFT JOIN traffic_prompt p ON p.id = e.prompt LEFT JOIN event_content c ON c.event = e.seq`

	withContent    = "SELECT " + eventColumns + "c.body IS NOT NULL, c.body" + ofEvents
	withoutContent = "SELECT " + eventColumns + "c.event IS NOT NULL, NULL" + ofEvents
)

// Events are searched in steps of filterStep. After searchFor, the search returns the page as
// it is, with a cursor for the rest.
const (
	filterStep = 20_000
	textStep   = 2_000 // step size when texts are searched
	searchFor  = time.Second
)

// readEvent reads a row of withContent or withoutContent.
func (d project) readEvent(row scanner) (e store.Event, seq int64, err error) {
	var segment string
	var body []byte
	err = row.Scan(&seq, &e.ID, &e.Agent, &e.Prompt, at(&e.Time), at(&e.Received), &e.Failed, &e.Conversation, &e.TraceID, &e.Version, &e.Model, &e.User, &segment,
		&e.Usage.Prompt, &e.Usage.Completion, &e.Usage.Cached, &e.Usage.Total, &e.Usage.Requests, &e.Cost, micro(&e.Latency), &e.Kept, &body)
	if err != nil {
		return e, 0, err
	}
	if segment != "" {
		if err := json.Unmarshal([]byte(segment), &e.Segment); err != nil {
			return e, 0, err
		}
	}
	if body != nil {
		err = d.contents.unpackEvent(d.name, &e.Event, body)
	}
	return e, seq, err
}

// Event implements [store.Traffic].
func (d project) Event(ctx context.Context, id string) (store.Event, error) {
	e, _, err := d.readEvent(d.queryRow(ctx, withContent+" WHERE e.project = ? AND e.id = ?", string(d.name), id))
	if err == nil {
		err = d.addThumbs(ctx, &e)
	}
	return e, d.failed("read", noRow(err, "event", id))
}

// addThumbs counts the thumbs on an event.
func (d project) addThumbs(ctx context.Context, e *store.Event) error {
	return d.queryRow(ctx, `SELECT count(*) FILTER (WHERE value > 0), count(*) FILTER (WHERE value < 0) FROM (SELECT value FROM feedback WHERE project = ?1 AND event = ?2 AND trace = ''
		UNION ALL SELECT value FROM feedback WHERE project = ?1 AND event = '' AND trace = ?3 AND trace <> '') thumb`, string(d.name), e.ID, e.TraceID).Scan(&e.Up, &e.Down)
}

// found adds the filter conditions that an index answers.
func (d project) found(c *conditions, f *store.EventFilter) {
	if f.Agent != "" {
		c.add("e.agent = (SELECT id FROM traffic_agent WHERE project = ? AND name = ?)", string(d.name), f.Agent)
	}
	in(c, "e.id", f.IDs)
	for _, of := range [...]struct{ column, value string }{{"e.conversation", f.Conversation}, {"e.trace", f.TraceID}, {"e.person", f.User}} {
		if of.value != "" {
			c.add(of.column+" = ? AND "+of.column+" <> ''", of.value) // partial indexes
		}
	}
	c.between("e.time", f.Since, f.Until)
	if f.OfVerdicts() {
		v := conditions{}
		v.add("w.project = ? AND w.removed = 0", string(d.name))
		v.equal("w.name", f.Watch)
		if f.Assertion != "" {
			v.add("v.assertion = (SELECT id FROM watch_term WHERE text = ?)", f.Assertion)
		}
		in(&v, "v.status", numbers(f.Status))
		v.between("v.time", f.Since, f.Until)
		c.add("e.id IN (SELECT v.event FROM watch w JOIN watch_verdict v ON v.watch = w.seq"+v.where()+")", v.args...)
	}
	if f.Feedback != 0 {
		c.add(`e.seq IN (SELECT o.seq FROM feedback f JOIN event o ON o.project = f.project AND o.id = f.event WHERE f.project = ? AND f.value = ? AND f.event <> ''
			UNION SELECT o.seq FROM feedback f JOIN event o ON o.project = f.project AND o.trace = f.trace AND o.trace <> '' WHERE f.project = ? AND f.value = ? AND f.event = '')`,
			string(d.name), f.Feedback, string(d.name), f.Feedback)
	}
}

// scanned adds the filter conditions that need every event to be read, and reports whether
// there are any.
func scanned(c *conditions, f *store.EventFilter) bool {
	before := len(c.text)
	c.equal("e.version", f.Version)
	c.equal("e.model", f.Model)
	c.equal("p.hash", f.Prompt)
	for _, name := range slices.Sorted(maps.Keys(f.Segment)) {
		c.add("e.segment <> '' AND has_member(e.segment, ?, ?)", name, f.Segment[name])
	}
	if f.Failed != nil {
		c.add("e.failed = ?", *f.Failed)
	}
	if f.Kept || f.Text != "" {
		c.add("c.event IS NOT NULL")
	}
	return len(c.text) > before
}

// eventPlace is a position in the order of events by time.
type eventPlace struct{ time, seq int64 }

func (p eventPlace) cursor() string {
	return store.Cursor("events", fmt.Sprintf("%d %d", p.time, p.seq))
}

// eventPlaceOf decodes the cursor of a page.
func eventPlaceOf(p store.Page) (place eventPlace, ok bool, err error) {
	text, ok, err := p.Position("events")
	if !ok || err != nil {
		return place, false, err
	}
	if n, err := fmt.Sscanf(text, "%d %d", &place.time, &place.seq); n != 2 || err != nil {
		return place, false, proviso.Errorf(proviso.Invalid, "the cursor does not come from this list")
	}
	return place, true, nil
}

// ListEvents implements [store.Traffic].
func (d project) ListEvents(ctx context.Context, f store.EventFilter, p store.Page) (l store.List[store.Event], err error) {
	after, ok, err := eventPlaceOf(p)
	if err != nil {
		return l, err
	}
	s := eventSearch{d: d, f: &f, size: p.Size(), text: strings.ToLower(f.Text)}
	started := time.Now()
	for {
		next, more, err := s.step(ctx, after, ok)
		if err != nil {
			return store.List[store.Event]{}, d.failed("read", err)
		}
		if !more {
			break
		}
		after, ok = next, true
		if s.full() || time.Since(started) > searchFor {
			s.found.Next = next.cursor()
			break
		}
	}
	for i := range s.found.Items {
		if err := d.addThumbs(ctx, &s.found.Items[i]); err != nil {
			return store.List[store.Event]{}, d.failed("read", err)
		}
	}
	return s.found, nil
}

// eventSearch reads one page of events.
type eventSearch struct {
	d     project
	f     *store.EventFilter
	size  int
	text  string // in lower case
	bytes int
	found store.List[store.Event]
}

func (s *eventSearch) full() bool {
	return len(s.found.Items) >= s.size || s.bytes > store.MaxPageBytes
}

// step reads the events of one step after a position. If more is true, next is the start of the
// next step.
func (s *eventSearch) step(ctx context.Context, after eventPlace, ok bool) (next eventPlace, more bool, err error) {
	c := s.d.conditions("e.project")
	s.d.found(&c, s.f)
	if ok {
		c.add("(e.time, e.seq) < (?, ?)", after.time, after.seq)
	}
	last, bounded := eventPlace{}, false
	if filters := (conditions{}); scanned(&filters, s.f) {
		if last, bounded, err = s.lastOfStep(ctx, c); err != nil {
			return next, false, err
		}
		c.text, c.args = append(c.text, filters.text...), append(c.args, filters.args...)
		if bounded {
			c.add("(e.time, e.seq) >= (?, ?)", last.time, last.seq)
		}
	}
	query := withoutContent
	if s.f.Contents || s.text != "" {
		query = withContent
	}
	rows, err := s.d.find(ctx, query+c.where()+" ORDER BY e.time DESC, e.seq DESC LIMIT ?", append(c.args, s.limit())...)
	if err != nil {
		return next, false, err
	}
	defer rows.Close()
	for rows.Next() {
		if s.full() {
			return next, true, rows.Err()
		}
		e, seq, err := s.d.readEvent(rows)
		if err != nil {
			return next, false, err
		}
		next = eventPlace{e.Time.UnixMicro(), seq}
		s.add(e)
	}
	if bounded {
		next = last
	}
	return next, bounded, rows.Err()
}

// limit is the maximum number of rows that a step reads, one more than the page needs.
func (s *eventSearch) limit() int {
	if s.text != "" {
		return textStep
	}
	return s.size - len(s.found.Items) + 1
}

// lastOfStep returns the last event of a step; ok is false if the step is not full.
func (s *eventSearch) lastOfStep(ctx context.Context, c conditions) (last eventPlace, ok bool, err error) {
	step := filterStep
	if s.text != "" {
		step = textStep
	}
	err = firstRow(s.d.find(ctx, "SELECT e.time, e.seq FROM event e"+c.where()+" ORDER BY e.time DESC, e.seq DESC LIMIT 1 OFFSET ?", append(slices.Clone(c.args), step-1)...)).Scan(&last.time, &last.seq)
	return last, err == nil, ignoreNone(err)
}

// add adds an event to the page if it has the text.
func (s *eventSearch) add(e store.Event) {
	if s.text != "" && !hasText(&e, s.text) {
		return
	}
	if !s.f.Contents {
		e.Input, e.Output, e.Context, e.Error, e.Metadata = "", "", "", "", nil
	}
	s.bytes += len(e.Input) + len(e.Output) + len(e.Context) + len(e.Error)
	s.found.Items = append(s.found.Items, e)
}

// hasText reports whether a text of the event contains text, which must be in lower case.
func hasText(e *store.Event, text string) bool {
	for _, in := range [...]string{e.Input, e.Output, e.Context, e.Error} {
		if strings.Contains(strings.ToLower(in), text) {
			return true
		}
	}
	return false
}

// Conversation implements [store.Traffic].
func (d project) Conversation(ctx context.Context, conversation string, p store.Page) (store.List[store.Event], error) {
	c := d.conditions("e.project")
	c.add("e.conversation = ? AND e.conversation <> ''", conversation)
	after, ok, err := eventPlaceOf(p)
	if err != nil {
		return store.List[store.Event]{}, err
	}
	if ok {
		c.add("(e.time, e.seq) > (?, ?)", after.time, after.seq)
	}
	l, err := pageAt(ctx, d.reader, "events", p, withContent, "e.time, e.seq", &c, func(row scanner) (e store.Event, position string, size int, err error) {
		e, seq, err := d.readEvent(row)
		return e, fmt.Sprintf("%d %d", e.Time.UnixMicro(), seq), len(e.Input) + len(e.Output) + len(e.Context), err
	})
	if err == nil && len(l.Items) == 0 && !ok {
		err = notFound("conversation", conversation)
	}
	for i := range l.Items {
		if err == nil {
			err = d.failed("read", d.addThumbs(ctx, &l.Items[i]))
		}
	}
	return l, err
}
