package sqldb

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
)

// AddFeedback implements [store.Traffic].
func (d project) AddFeedback(ctx context.Context, f ingest.Feedback) (replaced bool, err error) {
	if err := d.name.Check(); err != nil {
		return false, err
	}
	if err := store.CheckFeedback(&f); err != nil {
		return false, err
	}
	if err := d.textsAccepted(); err != nil {
		return false, err
	}
	now := d.now()
	var comment []byte
	if f.Comment != "" {
		if comment, err = d.contents.pack(ofComment(d.name, &f), []byte(f.Comment), dayOf(now)); err != nil {
			return false, err
		}
	}
	err = d.change(ctx, "keep feedback in", func(t *tx) error {
		t.texts = len(comment) > 0
		n, err := t.changed("DELETE FROM feedback WHERE project = ? AND event = ? AND trace = ? AND person = ?", string(d.name), f.Event, f.TraceID, f.User)
		if err != nil {
			return err
		}
		replaced = n > 0
		_, err = t.exec("INSERT INTO feedback (project, event, trace, person, value, time, received, comment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			string(d.name), f.Event, f.TraceID, f.User, f.Value, micros(f.Time), micros(now), comment)
		return err
	})
	return replaced, err
}

// ofTrace selects the event of the trace that a thumb is on: the latest.
const ofTrace = "(SELECT o.seq FROM event o WHERE o.project = f.project AND o.trace = f.trace AND o.trace <> '' ORDER BY o.seq DESC LIMIT 1)"

// ListFeedback implements [store.Traffic].
func (d project) ListFeedback(ctx context.Context, f store.FeedbackFilter, p store.Page) (store.List[store.Feedback], error) {
	c := d.conditions("f.project")
	if len(f.Events) > 0 {
		ids := conditions{}
		in(&ids, "id", f.Events)
		c.add("(f.event IN (SELECT id FROM event WHERE project = ? AND "+ids.text[0]+") OR f.event = '' AND f.trace IN (SELECT trace FROM event WHERE project = ? AND trace <> '' AND "+ids.text[0]+"))",
			append(append([]any{string(d.name)}, ids.args...), append([]any{string(d.name)}, ids.args...)...)...)
	}
	c.equal("a.name", f.Agent)
	c.between("f.time", f.Since, f.Until)
	const query = `SELECT f.seq, f.event, f.trace, coalesce(e.id, ''), coalesce(a.name, ''), f.person, f.value, f.time, f.received, f.comment FROM feedback f
		LEFT JOIN event e ON e.seq = CASE WHEN f.event <> '' THEN (SELECT o.seq FROM event o WHERE o.project = f.project AND o.id = f.event) ELSE ` + ofTrace + ` END LEFT JOIN traffic_agent a ON a.id = e.agent`
	return page(ctx, d.reader, "feedback", p, query, "f.seq DESC", &c, d.readFeedback, func(f *store.Feedback) int { return len(f.Comment) })
}

// readFeedback reads a row of ListFeedback.
func (d project) readFeedback(row scanner) (f store.Feedback, seq int64, err error) {
	var event string
	var comment []byte
	if err := row.Scan(&seq, &f.Event, &f.TraceID, &event, &f.Agent, &f.User, &f.Value, at(&f.Time), at(&f.Received), &comment); err != nil {
		return f, 0, err
	}
	if comment != nil {
		text, err := d.contents.unpack(ofComment(d.name, &f.Feedback), comment)
		if err != nil {
			return f, 0, err
		}
		f.Comment = string(text)
	}
	if f.Event == "" {
		f.Event = event
	}
	return f, seq, nil
}

// forgetStep is the number of events that ForgetUser removes per transaction.
const forgetStep = 200

// ForgetUser implements [store.Traffic].
func (d project) ForgetUser(ctx context.Context, user string) (all store.Forgotten, err error) {
	if user == "" {
		return all, proviso.Errorf(proviso.Invalid, "the user has no name")
	}
	for {
		var step store.Forgotten
		err := d.change(ctx, "forget a user in", func(t *tx) (err error) {
			step, err = t.forget(d, user)
			return err
		})
		all.Events, all.Feedback, all.Verdicts = all.Events+step.Events, all.Feedback+step.Feedback, all.Verdicts+step.Verdicts
		if err != nil {
			return all, err
		}
		if step.Events < forgetStep {
			break
		}
	}
	return all, d.failed("forget a user in", d.engine.Erased(ctx))
}

// forget removes some events of a user and, if these were the last, the user's thumbs.
func (t *tx) forget(d project, user string) (n store.Forgotten, err error) {
	type event struct {
		seq int64
		id  string
	}
	events, err := collect(d, func(row scanner) (e event, err error) { return e, row.Scan(&e.seq, &e.id) })(
		t.query("SELECT seq, id FROM event WHERE project = ? AND person = ? AND person <> '' LIMIT ?", string(d.name), user, forgetStep))
	if err != nil {
		return n, err
	}
	for _, e := range events {
		if _, err := t.exec("DELETE FROM watch_job WHERE watch IN (SELECT seq FROM watch WHERE project = ?) AND event = ?", string(d.name), e.id); err != nil {
			return n, err
		}
		verdicts, err := t.changed("UPDATE watch_verdict SET reason = '', conversation = '' WHERE watch IN (SELECT seq FROM watch WHERE project = ?) AND event = ?", string(d.name), e.id)
		if err != nil {
			return n, err
		}
		thumbs, err := t.changed("DELETE FROM feedback WHERE project = ? AND event = ?", string(d.name), e.id)
		if err != nil {
			return n, err
		}
		if _, err := t.exec("DELETE FROM event WHERE seq = ?", e.seq); err != nil { // deletes its texts, too
			return n, err
		}
		n.Events, n.Verdicts, n.Feedback = n.Events+1, n.Verdicts+verdicts, n.Feedback+thumbs
	}
	if len(events) == forgetStep {
		return n, nil
	}
	thumbs, err := t.changed("DELETE FROM feedback WHERE project = ? AND person = ? AND person <> ''", string(d.name), user)
	n.Feedback += thumbs
	return n, err
}
