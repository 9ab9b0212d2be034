package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

const labelColumns = `seq, id, run, evaluation, row, assertion, person, current, verdict, judge, judged, person_name, created_by, created,
	case_id, output_id, queue, stratum, rank, population, evidence, note`

// readLabel reads a row of labelColumns.
func readLabel(row scanner) (l store.Label, seq int64, err error) {
	var evidence string
	err = row.Scan(&seq, &l.ID, &l.Run, &l.Evaluation, &l.Index, &l.Assertion, &l.By, &l.InForce, &l.Verdict, &l.Judge, &l.Judged, &l.Name, &l.CreatedBy, at(&l.Created),
		&l.Case, &l.OutputID, &l.Queue, &l.Stratum, &l.Rank, &l.Population, &evidence, &l.Note)
	if err != nil {
		return l, 0, err
	}
	if event, ok := strings.CutPrefix(l.Evaluation, eventMark); ok {
		l.Evaluation, l.Event = "", event
	}
	if evidence != "" {
		err = json.Unmarshal([]byte(evidence), &l.Evidence)
	}
	return l, seq, err
}

// eventMark is the prefix of the column evaluation for labels on events. No evaluation id
// starts with it.
const eventMark = "event:"

// evaluated returns the column evaluation of a subject.
func evaluated(s *label.Subject) string {
	if s.Event != "" {
		return eventMark + s.Event
	}
	return s.Evaluation
}

// ofSubject is the condition for a person's labels on a subject. Its arguments come from
// subjectOf.
const ofSubject = "project = ? AND run = ? AND evaluation = ? AND row = ? AND assertion = ? AND person = ?"

func (d project) subjectOf(l *label.Label) []any {
	return []any{string(d.name), l.Run, evaluated(&l.Subject), l.Index, l.Assertion, l.By}
}

// AddLabel implements [store.Labels].
func (d project) AddLabel(ctx context.Context, n store.NewLabel) (store.Label, error) {
	if err := errors.Join(d.name.Check(), n.Check(), checkReply(n.Reply)); err != nil {
		return store.Label{}, err
	}
	now := d.now()
	if n.ID == "" {
		n.ID = store.NewID(store.LabelID, now)
	}
	if n.Created.IsZero() {
		n.Created = now
	}
	evidence := ""
	if len(n.Evidence) > 0 {
		text, err := json.Marshal(n.Evidence)
		if err != nil {
			return store.Label{}, err
		}
		evidence = string(text)
	}
	err := d.change(ctx, "keep a label in", func(t *tx) error {
		if err := t.endLease(d, &n); err != nil {
			return err
		}
		replaces, err := t.retireLabel(d, &n.Label)
		if err != nil {
			return err
		}
		if err := t.changeOne(conflict("a label", n.ID), `INSERT INTO label (id, project, run, evaluation, row, assertion, person, current, verdict, judge, judged, person_name, created_by, created,
			case_id, output_id, queue, stratum, rank, population, evidence, note)
			VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			n.ID, string(d.name), n.Run, evaluated(&n.Subject), n.Index, n.Assertion, n.By, string(n.Verdict), n.Judge, n.Judged, n.Name, n.CreatedBy, micros(n.Created),
			n.Case, n.OutputID, n.Queue, n.Stratum, n.Rank, n.Population, evidence, n.Note); err != nil {
			return err
		}
		if !replaces {
			if err := t.countPerson(d, &n.Label, 1); err != nil {
				return err
			}
		}
		if err := t.tallyLabel(d, &n.Label, 1); err != nil {
			return err
		}
		return t.reply(n.Reply)
	})
	if err != nil {
		return store.Label{}, err
	}
	n.Created = fromMicros(micros(n.Created))
	return store.Label{Label: n.Label, CreatedBy: n.CreatedBy, InForce: true}, nil
}

// retireLabel ends the label in force on the subject of n and reports whether there was one.
func (t *tx) retireLabel(d project, n *label.Label) (bool, error) {
	before, _, err := readLabel(t.queryRow("SELECT "+labelColumns+" FROM label WHERE current = 1 AND "+ofSubject, d.subjectOf(n)...))
	if err != nil {
		return false, ignoreNone(err)
	}
	if err := t.tallyLabel(d, &before.Label, -1); err != nil {
		return false, err
	}
	_, err = t.exec("UPDATE label SET current = 0 WHERE id = ?", before.ID)
	return true, err
}

// Label implements [store.Labels].
func (d project) Label(ctx context.Context, id string) (store.Label, error) {
	l, _, err := readLabel(d.queryRow(ctx, "SELECT "+labelColumns+" FROM label WHERE id = ? AND project = ?", id, string(d.name)))
	return l, d.failed("read", noRow(err, "label", id))
}

// labelConditions returns the conditions of a filter.
func (d project) labelConditions(f *store.LabelFilter) conditions {
	c := d.conditions("project")
	// A label has either a run or an evaluation. With a condition on the other column, the
	// database can use the subject's index.
	switch {
	case f.Run != "" && f.Evaluation == "":
		c.add("run = ? AND evaluation = ''", f.Run)
	case f.Evaluation != "" && f.Run == "":
		c.add("run = '' AND evaluation = ? AND row = 0", f.Evaluation)
	case f.Event != "":
		c.add("run = '' AND evaluation = ? AND row = 0", eventMark+f.Event)
	case f.Events:
		c.add("run = '' AND evaluation > ? AND evaluation < ?", eventMark, "event;")
	default:
		c.equal("run", f.Run)
		c.equal("evaluation", f.Evaluation)
	}
	if f.Index != nil {
		c.add("row = ? AND run <> ''", *f.Index)
	}
	if f.Assertion != nil {
		c.add("assertion = ?", *f.Assertion)
	}
	c.equal("person", f.By)
	c.equal("queue", f.Queue)
	if !f.Since.IsZero() {
		c.add("created >= ?", micros(f.Since))
	}
	if !f.History {
		c.add("current = 1")
	}
	return c
}

// ListLabels implements [store.Labels].
func (d project) ListLabels(ctx context.Context, f store.LabelFilter, p store.Page) (store.List[store.Label], error) {
	c := d.labelConditions(&f)
	return page(ctx, d.reader, "labels", p, "SELECT "+labelColumns+" FROM label", "seq DESC", &c, readLabel,
		func(l *store.Label) int { return len(l.Note) + 500 })
}

// DeleteLabel implements [store.Labels].
func (d project) DeleteLabel(ctx context.Context, id, by string) error {
	return d.change(ctx, "remove a label from", func(t *tx) error {
		l, seq, err := readLabel(t.queryRow("SELECT "+labelColumns+" FROM label WHERE id = ? AND project = ?", id, string(d.name)))
		switch {
		case err != nil:
			return noRow(err, "label", id)
		case by != "" && l.By != by:
			return store.NotOwn()
		}
		if _, err := t.exec("DELETE FROM label WHERE seq = ?", seq); err != nil || !l.InForce {
			return err
		}
		if err := t.tallyLabel(d, &l.Label, -1); err != nil {
			return err
		}
		before, seq, err := readLabel(t.queryRow("SELECT "+labelColumns+" FROM label WHERE "+ofSubject+" ORDER BY seq DESC LIMIT 1", d.subjectOf(&l.Label)...))
		if errors.Is(err, sql.ErrNoRows) {
			return t.countPerson(d, &l.Label, -1)
		}
		if err == nil {
			_, err = t.exec("UPDATE label SET current = 1 WHERE seq = ?", seq)
		}
		if err != nil {
			return err
		}
		return t.tallyLabel(d, &before.Label, 1)
	})
}
