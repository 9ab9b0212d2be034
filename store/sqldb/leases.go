package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// LeaseLabel implements [store.LabelQueues].
func (d project) LeaseLabel(ctx context.Context, r store.LeaseRequest) (lease *store.Lease, err error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	err = d.change(ctx, "lease an item in", func(t *tx) (err error) {
		x := leasing{tx: t, d: d, r: &r}
		if x.queue, x.seq, err = readQueue(t.queryRow(selectQueue, string(d.name), r.Queue)); err != nil {
			return noQueue(err, r.Queue)
		}
		lease, err = x.lease()
		return err
	})
	return lease, err
}

// leasing is one request for a lease.
type leasing struct {
	*tx
	d     project
	r     *store.LeaseRequest
	queue store.LabelQueue
	seq   int64
}

func (x *leasing) lease() (*store.Lease, error) {
	now := x.d.now()
	if _, err := x.exec("DELETE FROM label_lease WHERE queue = ? AND expires <= ?", x.seq, micros(now)); err != nil {
		return nil, err
	}
	l := &store.Lease{Expires: now.Add(x.r.For)}
	id, position, err := x.held()
	if err == nil && id == "" {
		id = store.NewID(store.LeaseID, now)
		if position, err = x.next(); err == nil {
			err = x.makeRoom()
		}
	}
	if err != nil {
		return nil, ignoreNone(err)
	}
	if _, err := x.exec("INSERT INTO label_lease (id, queue, position, person, expires) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET expires = excluded.expires",
		id, x.seq, position, x.r.By, micros(l.Expires)); err != nil {
		return nil, err
	}
	l.ID = id
	if err := x.queryRow("SELECT row, event, assertion, stratum, rank, population, why FROM label_item WHERE queue = ? AND position = ?", x.seq, position).
		Scan(&l.Item.Index, &l.Item.Event, &l.Item.Assertion, &l.Item.Stratum, &l.Item.Rank, &l.Item.Population, &l.Item.Why); err != nil {
		return nil, err
	}
	l.Item.Event = strings.TrimPrefix(l.Item.Event, eventMark)
	l.Left, l.Mine, err = x.left()
	return l, err
}

// makeRoom ends the oldest leases of a person who has the maximum, so that nobody can block a
// queue.
func (x *leasing) makeRoom() error {
	_, err := x.exec("DELETE FROM label_lease WHERE queue = ?1 AND person = ?2 AND id NOT IN (SELECT id FROM label_lease WHERE queue = ?1 AND person = ?2 ORDER BY id DESC LIMIT ?3)",
		x.seq, x.r.By, store.MaxLeases-1)
	return err
}

// held returns the lease with the requested id, or one that the person already has.
func (x *leasing) held() (id string, position int, err error) {
	switch {
	case x.r.Lease != "":
		err = x.queryRow("SELECT id, position FROM label_lease WHERE id = ? AND queue = ? AND person = ?", x.r.Lease, x.seq, x.r.By).Scan(&id, &position)
		if errors.Is(err, sql.ErrNoRows) {
			return "", 0, proviso.Errorf(proviso.NotFound, "the lease %s has ended; a label without it is kept anyway", short(x.r.Lease))
		}
	case x.r.Resume:
		err = ignoreNone(x.queryRow("SELECT id, position FROM label_lease WHERE queue = ? AND person = ? ORDER BY position LIMIT 1", x.seq, x.r.By).Scan(&id, &position))
	}
	return id, position, err
}

// unlabelled is the condition for items that the person has not labelled.
const unlabelled = `NOT EXISTS (SELECT 1 FROM label l WHERE l.project = ?2 AND l.run = ?3 AND l.evaluation = i.event AND l.row = i.row AND l.assertion = i.assertion AND l.person = ?4 AND l.current = 1)`

// labelable is the condition for items whose texts still exist: an event's texts are removed
// earlier than a queue.
const labelable = `(i.event = '' OR EXISTS (SELECT 1 FROM event e JOIN event_content c ON c.event = e.seq WHERE e.project = ?2 AND e.id = substr(i.event, length('` + eventMark + `') + 1)))`

// next finds the next item for a person; sql.ErrNoRows if there is none.
func (x *leasing) next() (position int, err error) {
	from := 0
	if x.queue.People > 1 {
		if from, err = x.reached(); err != nil {
			return 0, err
		}
	}
	off, err := x.off()
	if err != nil {
		return 0, err
	}
	err = x.queryRow(`SELECT position FROM label_item i INDEXED BY label_item_open WHERE queue = ?1 AND open = 1 AND position >= ?5 AND `+unlabelled+` AND `+labelable+`
		AND strpos(?7, ',' || position || ',') = 0
		AND people + (SELECT count(*) FROM label_lease s WHERE s.queue = ?1 AND s.position = i.position) < ?6
		AND NOT EXISTS (SELECT 1 FROM label_lease s WHERE s.queue = ?1 AND s.position = i.position AND s.person = ?4)
		ORDER BY position LIMIT 1`, x.seq, string(x.d.name), x.queue.Run, x.r.By, from, x.queue.People, off).Scan(&position)
	return position, err
}

// off returns the positions of the items to skip, separated and surrounded by commas.
func (x *leasing) off() (string, error) {
	list := ","
	for _, s := range x.r.Skip {
		var position int
		switch err := x.queryRow("SELECT position FROM label_item WHERE queue = ? AND row = ? AND assertion = ? AND event = ?", x.seq, s.Index, s.Assertion, evaluated(&label.Subject{Event: s.Event})).Scan(&position); {
		case errors.Is(err, sql.ErrNoRows): // the queue was replaced
		case err != nil:
			return "", err
		default:
			list += strconv.Itoa(position) + ","
		}
	}
	return list, nil
}

// reached returns the position of the first open item that the person has not labelled. It
// stores the position, so that earlier items are not searched again.
func (x *leasing) reached() (from int, err error) {
	if err := ignoreNone(x.queryRow("SELECT reached FROM label_worker WHERE queue = ? AND person = ?", x.seq, x.r.By).Scan(&from)); err != nil {
		return 0, err
	}
	now := from
	err = x.queryRow(`SELECT position FROM label_item i INDEXED BY label_item_open WHERE queue = ?1 AND open = 1 AND position >= ?5 AND `+unlabelled+` ORDER BY position LIMIT 1`,
		x.seq, string(x.d.name), x.queue.Run, x.r.By, from).Scan(&now)
	if err == nil && now > from {
		_, err = x.exec("INSERT INTO label_worker (queue, person, reached) VALUES (?, ?, ?) ON CONFLICT (queue, person) DO UPDATE SET reached = excluded.reached", x.seq, x.r.By, now)
	}
	return now, err
}

// left counts the items that the person may still label, and those that they labelled.
func (x *leasing) left() (left, mine int, err error) {
	var open int
	err = x.queryRow("SELECT labelled, still_open FROM label_worker WHERE queue = ? AND person = ?", x.seq, x.r.By).Scan(&mine, &open)
	return x.queue.Size - x.queue.Done - open, mine, ignoreNone(err)
}

// ReturnLabel implements [store.LabelQueues].
func (d project) ReturnLabel(ctx context.Context, queue, lease, by string) error {
	return d.change(ctx, "return an item to", func(t *tx) error {
		return t.changeOne(notFound("lease", lease), `DELETE FROM label_lease WHERE id = ? AND person = ? AND queue = (SELECT seq FROM label_queue WHERE project = ? AND name = ? AND ready = 1) AND expires > ?`,
			lease, by, string(d.name), queue, micros(d.now()))
	})
}
