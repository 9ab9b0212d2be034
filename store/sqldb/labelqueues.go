package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// itemStep is the number of items stored per transaction, so that others do not wait long.
const itemStep = 2000

const (
	queueColumns = "seq, name, run, blind, people, created_by, created, size, done"
	selectQueue  = "SELECT " + queueColumns + " FROM label_queue WHERE project = ? AND name = ? AND ready = 1"
)

// readQueue reads a row of queueColumns.
func readQueue(row scanner) (q store.LabelQueue, seq int64, err error) {
	err = row.Scan(&seq, &q.Name, &q.Run, &q.Blind, &q.People, &q.CreatedBy, at(&q.Created), &q.Size, &q.Done)
	return q, seq, err
}

// PutLabelQueue implements [store.LabelQueues].
func (d project) PutLabelQueue(ctx context.Context, n store.NewLabelQueue) (queue store.LabelQueue, created bool, err error) {
	if err := errors.Join(d.name.Check(), n.Check()); err != nil {
		return queue, false, err
	}
	var seq int64
	if err := d.change(ctx, "keep a queue in", func(t *tx) error {
		seq, err = t.inserted("INSERT INTO label_queue (project, name, run, blind, people, created_by, created, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
			string(d.name), n.Name, n.Run, n.Blind, max(n.People, 1), n.CreatedBy, micros(d.now()), len(n.Items))
		return err
	}); err != nil {
		return queue, false, err
	}
	for from := 0; from < len(n.Items) && err == nil; from += itemStep {
		err = d.addItems(ctx, seq, from, n.Items[from:min(len(n.Items), from+itemStep)])
	}
	old := int64(0)
	if err == nil {
		queue, old, err = d.readyQueue(ctx, seq, n.Name)
	}
	gone := old
	if err != nil {
		gone = seq // remove the part that was stored
	}
	if gone != 0 {
		err = errors.Join(err, d.removeQueue(context.WithoutCancel(ctx), gone))
	}
	return queue, old == 0, err
}

// addItems stores some items of a queue, starting at a position.
func (d project) addItems(ctx context.Context, seq int64, from int, items []label.Item) error {
	return d.change(ctx, "keep a queue in", func(t *tx) error {
		for i, item := range items {
			if _, err := t.exec("INSERT INTO label_item (queue, position, row, event, assertion, stratum, rank, population, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				seq, from+i, item.Index, evaluated(&label.Subject{Event: item.Event}), item.Assertion, item.Stratum, item.Rank, item.Population, item.Why); err != nil {
				return err
			}
		}
		return nil
	})
}

// readyQueue makes a complete queue the current one of its name. It returns the number of the
// queue that it replaces, 0 if there was none.
func (d project) readyQueue(ctx context.Context, seq int64, name string) (queue store.LabelQueue, old int64, err error) {
	err = d.change(ctx, "keep a queue in", func(t *tx) error {
		old = 0
		if err := ignoreNone(t.queryRow("SELECT seq FROM label_queue WHERE project = ? AND name = ? AND ready = 1", string(d.name), name).Scan(&old)); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE label_queue SET ready = 0 WHERE seq = ?", old); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE label_queue SET ready = 1 WHERE seq = ?", seq); err != nil {
			return err
		}
		// Count labels that people gave before, or while the items were stored.
		if _, err := t.exec(`UPDATE label_item SET people = n, open = CASE WHEN n < (SELECT people FROM label_queue WHERE seq = ?1) THEN 1 ELSE 0 END
			FROM (SELECT row AS of_row, assertion AS of_assertion, evaluation AS of_event, count(*) AS n FROM label
				WHERE project = ?2 AND run = (SELECT run FROM label_queue WHERE seq = ?1) AND current = 1 GROUP BY 1, 2, 3) labelled
			WHERE queue = ?1 AND row = of_row AND assertion = of_assertion AND event = of_event`, seq, string(d.name)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM label_worker WHERE queue = ?", seq); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO label_worker (queue, person, labelled, still_open)
			SELECT i.queue, l.person, count(*), sum(i.open) FROM label l JOIN label_item i ON i.queue = ?1 AND i.row = l.row AND i.assertion = l.assertion AND i.event = l.evaluation
			WHERE l.project = ?2 AND l.run = (SELECT run FROM label_queue WHERE seq = ?1) AND l.current = 1 GROUP BY 1, 2`, seq, string(d.name)); err != nil {
			return err
		}
		queue, _, err = readQueue(t.queryRow("SELECT "+queueColumns+" FROM label_queue WHERE seq = ?", seq))
		return err
	})
	return queue, old, err
}

// removeQueue removes a queue that is not ready, in steps.
func (d *DB) removeQueue(ctx context.Context, seq int64) error {
	_, err := d.remove(ctx, "queue = ?", seq, "label_item")
	if err == nil {
		_, err = d.remove(ctx, "seq = ?", seq, "label_queue")
	}
	return err
}

// LabelQueue implements [store.LabelQueues].
func (d project) LabelQueue(ctx context.Context, name string) (store.LabelQueue, error) {
	q, _, err := d.queue(ctx, name)
	return q, err
}

func (d project) queue(ctx context.Context, name string) (q store.LabelQueue, seq int64, err error) {
	q, seq, err = readQueue(d.queryRow(ctx, selectQueue, string(d.name), name))
	return q, seq, d.failed("read", noQueue(err, name))
}

// noQueue is [noRow] for queues.
func noQueue(err error, name string) error { return noRow(err, "queue of labels", name) }

// ListLabelQueues implements [store.LabelQueues].
func (d project) ListLabelQueues(ctx context.Context, p store.Page) (store.List[store.LabelQueue], error) {
	c := d.conditions("project")
	c.add("ready = 1")
	return page(ctx, d.reader, "label queues", p, "SELECT "+queueColumns+" FROM label_queue", "name", &c,
		func(row scanner) (store.LabelQueue, string, error) {
			q, _, err := readQueue(row)
			return q, q.Name, err
		}, nil)
}

// ListLabelItems implements [store.LabelQueues].
func (d project) ListLabelItems(ctx context.Context, queue string, p store.Page) (out store.List[store.LabelItem], err error) {
	_, seq, err := d.queue(ctx, queue)
	if err != nil {
		return out, err
	}
	var c conditions
	c.add("queue = ?", seq)
	return page(ctx, d.reader, "label items", p, "SELECT position, row, event, assertion, stratum, rank, population, why, people FROM label_item", "position", &c,
		func(row scanner) (i store.LabelItem, position int64, err error) {
			err = row.Scan(&position, &i.Index, &i.Event, &i.Assertion, &i.Stratum, &i.Rank, &i.Population, &i.Why, &i.People)
			i.Event = strings.TrimPrefix(i.Event, eventMark)
			return i, position, err
		}, func(i *store.LabelItem) int { return len(i.Assertion) + len(i.Why) })
}

// DeleteLabelQueue implements [store.LabelQueues].
func (d project) DeleteLabelQueue(ctx context.Context, name string) error {
	var seq int64
	if err := d.change(ctx, "remove a queue from", func(t *tx) error {
		err := t.queryRow("SELECT seq FROM label_queue WHERE project = ? AND name = ? AND ready = 1", string(d.name), name).Scan(&seq)
		if err == nil {
			_, err = t.exec("UPDATE label_queue SET ready = 0 WHERE seq = ?", seq)
		}
		return noQueue(err, name)
	}); err != nil {
		return err
	}
	return d.removeQueue(context.WithoutCancel(ctx), seq)
}

// countPerson counts one person more or fewer who labelled a subject, in all queues with it.
// Everybody has to check reopened items again.
func (t *tx) countPerson(d project, l *label.Label, add int) error {
	if l.Run == "" && l.Event == "" {
		return nil
	}
	const items = ` WHERE queue IN (SELECT seq FROM label_queue WHERE project = ? AND run = ?) AND row = ? AND assertion = ? AND event = ?`
	of := []any{string(d.name), l.Run, l.Index, l.Assertion, evaluated(&l.Subject)}
	if _, err := t.exec(`INSERT INTO label_worker (queue, person, labelled, still_open) SELECT queue, ?, ?, ? * open FROM label_item`+items+`
		ON CONFLICT (queue, person) DO UPDATE SET labelled = label_worker.labelled + excluded.labelled, still_open = label_worker.still_open + excluded.still_open`, append([]any{l.By, add, add}, of...)...); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE label_item SET people = people + ?1, open = CASE WHEN people + ?1 < (SELECT q.people FROM label_queue q WHERE q.seq = label_item.queue) THEN 1 ELSE 0 END
		WHERE queue IN (SELECT seq FROM label_queue WHERE project = ?2 AND run = ?3) AND row = ?4 AND assertion = ?5 AND event = ?6`, append([]any{add}, of...)...)
	if err != nil || add > 0 {
		return err
	}
	_, err = t.exec(`UPDATE label_worker SET reached = least(reached, item.position)
		FROM (SELECT queue AS of_queue, position FROM label_item`+items+`) item WHERE queue = of_queue`, of...)
	return err
}

// endLease ends the person's leases on the labelled subject, and adds to the label how its
// queue chose the item. A lease on another subject is an error of the client; an ended lease is
// not.
func (t *tx) endLease(d project, n *store.NewLabel) error {
	if n.Run == "" && n.Event == "" {
		return nil
	}
	event := evaluated(&n.Subject)
	if n.Lease != "" {
		var row int
		var assertion, run, of string
		err := t.queryRow(`SELECT i.row, i.assertion, q.run, i.event FROM label_lease l JOIN label_item i ON i.queue = l.queue AND i.position = l.position JOIN label_queue q ON q.seq = l.queue
			WHERE l.id = ? AND l.person = ? AND q.project = ?`, n.Lease, n.By, string(d.name)).Scan(&row, &assertion, &run, &of)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case of != event:
			return proviso.Errorf(proviso.Conflict, "the lease is not on the labelled item")
		case row != n.Index || assertion != n.Assertion || run != n.Run:
			return proviso.Errorf(proviso.Conflict, "the lease is on row %d and assertion %q, not on the labelled item", row, assertion)
		}
	}
	if n.Queue != "" && n.Stratum == "" {
		if err := ignoreNone(t.queryRow(`SELECT stratum, rank, population FROM label_item WHERE queue = (SELECT seq FROM label_queue WHERE project = ? AND name = ? AND run = ? AND ready = 1) AND row = ? AND assertion = ? AND event = ?`,
			string(d.name), n.Queue, n.Run, n.Index, n.Assertion, event).Scan(&n.Stratum, &n.Rank, &n.Population)); err != nil {
			return err
		}
	}
	_, err := t.exec(`DELETE FROM label_lease WHERE person = ?1 AND (queue, position) IN (SELECT queue, position FROM label_item
		WHERE queue IN (SELECT seq FROM label_queue WHERE project = ?2 AND run = ?3) AND row = ?4 AND assertion = ?5 AND event = ?6)`,
		n.By, string(d.name), n.Run, n.Index, n.Assertion, event)
	return err
}
