package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
)

// AddEvents implements [store.Traffic].
func (d project) AddEvents(ctx context.Context, events []store.NewEvent) (added store.AddedEvents, err error) {
	if err := d.name.Check(); err != nil {
		return added, err
	}
	if len(events) > store.MaxEvents {
		return added, proviso.Errorf(proviso.Limit, "%d events at once, more than %d", len(events), store.MaxEvents)
	}
	if err := d.textsAccepted(); err != nil {
		return added, err
	}
	now := d.now()
	rows := make([]eventRow, len(events))
	hashes := map[string]string{} // of prompts, which are repeated among events
	for i := range events {
		if rows[i], err = d.eventRow(&events[i], hashes, now); err != nil {
			return added, err
		}
	}
	texts := slices.ContainsFunc(rows, func(r eventRow) bool { return r.body != nil })
	err = d.change(ctx, "keep events in", func(t *tx) error {
		t.texts = texts
		x := addingEvents{tx: t, d: d, now: now, agents: map[string]*seen{}, prompts: map[promptOf]*seen{}, hours: map[trafficOf]*trafficSum{}}
		if err := x.events(rows); err != nil {
			return err
		}
		added = x.added
		return x.finish()
	})
	return added, err
}

// eventRow is an event with what is computed before the transaction.
type eventRow struct {
	*store.NewEvent
	prompt  string // hash
	segment string // JSON
	body    []byte // nil if the texts are not kept
}

func (d project) eventRow(n *store.NewEvent, hashes map[string]string, now time.Time) (row eventRow, err error) {
	if err := n.Check(); err != nil {
		return row, err
	}
	hash, ok := hashes[n.Prompt]
	if !ok {
		hash = ingest.PromptHash(n.Prompt)
		hashes[n.Prompt] = hash
	}
	row = eventRow{NewEvent: n, prompt: hash}
	if len(n.Segment) > 0 {
		text, err := json.Marshal(n.Segment)
		if err != nil {
			return row, err
		}
		row.segment = string(text)
	}
	if n.KeepContent {
		row.body, err = d.contents.packEvent(d.name, &n.Event, now)
	}
	return row, err
}

// seen is an agent or a prompt in a transaction, with the number of its new events.
type seen struct {
	id     int64
	events int
	has    bool // a prompt's text is stored
}

type promptOf struct {
	agent int64
	hash  string
}

// addingEvents adds events in one transaction. Their counts are summed first, so that each row
// of counts is written once.
type addingEvents struct {
	*tx
	d       project
	now     time.Time
	agents  map[string]*seen
	prompts map[promptOf]*seen
	hours   map[trafficOf]*trafficSum
	added   store.AddedEvents
}

// events adds the events that are new.
func (x *addingEvents) events(list []eventRow) error {
	rows := make([][]any, 0, len(list))
	byID := make(map[string]*addedEvent, len(list))
	for i := range list {
		e := &list[i]
		if byID[e.ID] != nil {
			continue // twice in one request
		}
		of, err := x.of(e)
		if err != nil {
			return err
		}
		byID[e.ID] = of
		u := &e.Usage
		rows = append(rows, []any{string(x.d.name), e.ID, of.agent.id, of.prompt.id, micros(e.Time), micros(x.now), e.Error != "", e.Conversation, e.TraceID, e.Version, e.Model, e.User, e.segment,
			u.Prompt, u.Completion, u.Cached, u.Total, u.Requests, e.Cost, e.Latency.Microseconds()})
	}
	var added []*addedEvent
	err := x.insert("INSERT INTO event (project, id, agent, prompt, time, received, failed, conversation, trace, version, model, person, segment, tokens_in, tokens_out, cached, total, requests, cost, latency)",
		" ON CONFLICT (project, id) DO NOTHING RETURNING seq, id", rows, func(row scanner) error {
			var seq int64
			var id string
			err := row.Scan(&seq, &id)
			if of := byID[id]; of != nil {
				of.seq = seq
				added = append(added, of)
			}
			return err
		})
	x.added.Accepted, x.added.Duplicates = len(added), len(list)-len(added)
	if err != nil {
		return err
	}
	return x.more(added)
}

// addedEvent is an event of the request with its agent and prompt.
type addedEvent struct {
	*eventRow
	agent, prompt *seen
	seq           int64
}

func (x *addingEvents) of(e *eventRow) (of *addedEvent, err error) {
	of = &addedEvent{eventRow: e, prompt: &seen{}}
	if of.agent, err = x.agent(e.Agent); err == nil && e.prompt != "" {
		of.prompt, err = x.prompt(of.agent.id, e)
	}
	return of, err
}

// more adds the texts and jobs of new events, and counts them.
func (x *addingEvents) more(added []*addedEvent) error {
	var contents [][]any
	for _, of := range added {
		of.agent.events++
		of.prompt.events++
		x.count(of.agent.id, of.eventRow)
		if of.body != nil {
			contents = append(contents, []any{of.seq, of.Error != "", of.body})
		}
	}
	if err := x.insert("INSERT INTO event_content (event, failure, body)", "", contents, nil); err != nil {
		return err
	}
	jobs := eventJobs{tx: x.tx, project: x.d.name, now: x.now}
	for _, of := range added {
		if err := jobs.add(of.ID, of.Jobs); err != nil {
			return err
		}
	}
	return jobs.finish()
}

// agent returns the agent with a name, adding it if it is new.
func (x *addingEvents) agent(name string) (*seen, error) {
	if a := x.agents[name]; a != nil {
		return a, nil
	}
	a := &seen{}
	err := x.queryRow("SELECT id FROM traffic_agent WHERE project = ? AND name = ?", string(x.d.name), name).Scan(&a.id)
	if errors.Is(err, sql.ErrNoRows) {
		a.id, err = x.inserted("INSERT INTO traffic_agent (project, name, first, last, events) VALUES (?, ?, ?, ?, 0) RETURNING id", string(x.d.name), name, micros(x.now), micros(x.now))
	}
	x.agents[name] = a
	return a, err
}

// prompt returns the prompt of an event, adding it if it is new. It also adds the text if only
// the hash was known.
func (x *addingEvents) prompt(agent int64, e *eventRow) (*seen, error) {
	of := promptOf{agent, e.prompt}
	known := e.Prompt != e.prompt // the event has the text
	p := x.prompts[of]
	if p != nil && (p.has || !known) {
		return p, nil
	}
	if p == nil {
		p = &seen{}
		x.prompts[of] = p
	}
	err := x.queryRow("SELECT id, body IS NOT NULL FROM traffic_prompt WHERE agent = ? AND hash = ?", agent, e.prompt).Scan(&p.id, &p.has)
	isNew := errors.Is(err, sql.ErrNoRows)
	if err != nil && !isNew || p.has || !isNew && !known {
		return p, err
	}
	p.has = known
	var body []byte
	if known {
		x.texts = true
		if body, err = x.d.contents.pack(ofPrompt(e.prompt), []byte(e.Prompt), dayOf(x.now)); err != nil {
			return nil, err
		}
	}
	if !isNew {
		_, err = x.exec("UPDATE traffic_prompt SET body = ? WHERE id = ?", body, p.id)
		return p, err
	}
	p.id, err = x.inserted("INSERT INTO traffic_prompt (agent, hash, first, last, events, body) VALUES (?, ?, ?, ?, 0, ?) RETURNING id", agent, e.prompt, micros(x.now), micros(x.now), body)
	return p, err
}

// finish writes the sums of the events.
func (x *addingEvents) finish() error {
	for _, a := range x.agents {
		if _, err := x.exec("UPDATE traffic_agent SET last = greatest(last, ?), events = events + ? WHERE id = ?", micros(x.now), a.events, a.id); err != nil {
			return err
		}
	}
	for _, p := range x.prompts {
		if _, err := x.exec("UPDATE traffic_prompt SET last = greatest(last, ?), events = events + ? WHERE id = ?", micros(x.now), p.events, p.id); err != nil {
			return err
		}
	}
	return x.addTraffic()
}
