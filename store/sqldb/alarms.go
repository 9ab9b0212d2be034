package sqldb

import (
	"context"
	"database/sql"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/store"
)

const alarmColumns = `SELECT a.seq, a.id, w.name, a.kind, a.assertion, a.state, a.opened, a.closed, a.updated, a.acked_by, a.ack_note, a.acked_at, a.body FROM watch_alarm a JOIN watch w ON w.seq = a.watch`

// readAlarm reads a row of alarmColumns.
func readAlarm(row scanner) (a store.Alarm, seq int64, err error) {
	err = row.Scan(&seq, &a.ID, &a.Watch, &a.Kind, &a.Assertion, &a.State, at(&a.Opened), at(&a.Closed), at(&a.Updated), &a.Ack.By, &a.Ack.Note, at(&a.AckedAt), (*[]byte)(&a.Body))
	return a, seq, err
}

// putAlarm adds or updates an alarm. An acknowledged alarm stays so until it is closed.
func (t *tx) putAlarm(d project, watch int64, a *store.Alarm, now time.Time) error {
	return t.changeOne(proviso.Errorf(proviso.Conflict, "the alarm %s belongs to another watch", short(a.ID)), `INSERT INTO watch_alarm (id, project, watch, kind, assertion, state, opened, closed, updated, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = CASE WHEN watch_alarm.state = 'acked' AND excluded.state = 'open' THEN 'acked' ELSE excluded.state END, closed = excluded.closed, updated = excluded.updated, body = excluded.body
		WHERE watch_alarm.watch = excluded.watch`,
		a.ID, string(d.name), watch, a.Kind, a.Assertion, string(a.State), micros(a.Opened), micros(a.Closed), micros(now), []byte(a.Body))
}

// ListAlarms implements [store.Alarms].
func (d project) ListAlarms(ctx context.Context, f store.AlarmFilter, p store.Page) (store.List[store.Alarm], error) {
	c := d.conditions("a.project")
	c.add("w.removed = 0")
	if f.Watch != "" {
		seq, err := d.watchNumber(ctx, f.Watch)
		if err != nil {
			return store.List[store.Alarm]{}, err
		}
		c.add("a.watch = ?", seq)
	}
	c.equal("a.kind", f.Kind)
	c.equal("a.assertion", f.Assertion)
	in(&c, "a.state", texts(f.State))
	if !f.Since.IsZero() {
		c.add("(a.closed IS NULL OR a.closed >= ?)", micros(f.Since))
	}
	c.between("a.opened", time.Time{}, f.Until)
	return page(ctx, d.reader, "alarms", p, alarmColumns, "a.seq DESC", &c, readAlarm, func(a *store.Alarm) int { return len(a.Body) })
}

// Alarm implements [store.Alarms].
func (d project) Alarm(ctx context.Context, id string) (store.Alarm, error) {
	return d.oneAlarm(id, d.queryRow(ctx, alarmColumns+ofAlarm, id, string(d.name)))
}

const ofAlarm = " WHERE a.id = ? AND a.project = ? AND w.removed = 0"

func (d project) oneAlarm(id string, row scanner) (store.Alarm, error) {
	a, _, err := readAlarm(row)
	return a, d.failed("read", noRow(err, "alarm", id))
}

// AckAlarm implements [store.Alarms].
func (d project) AckAlarm(ctx context.Context, id string, a store.Ack) (alarm store.Alarm, err error) {
	if err := a.Check(); err != nil {
		return alarm, err
	}
	err = d.change(ctx, "acknowledge an alarm in", func(t *tx) error {
		if _, err := t.exec("UPDATE watch_alarm SET state = 'acked', acked_by = ?, ack_note = ?, acked_at = ? WHERE id = ? AND project = ? AND (state = 'open' OR state = 'acked' AND ? <> '')", a.By, a.Note, micros(d.now()), id, string(d.name), a.Note); err != nil {
			return err
		}
		var err error
		alarm, err = d.oneAlarm(id, t.queryRow(alarmColumns+ofAlarm, id, string(d.name)))
		if err == nil && alarm.State == store.AlarmClosed {
			err = proviso.Errorf(proviso.Conflict, "the alarm %s is closed", short(id))
		}
		return err
	})
	return alarm, err
}

const noticeColumns = "SELECT seq, id, alarm, target, event, body, due, token, attempts, created, sent, dropped, error, remote FROM watch_notice"

// readNotice reads a row of noticeColumns.
func readNotice(row scanner) (n store.Notice, seq int64, err error) {
	err = row.Scan(&seq, &n.ID, &n.Alarm, &n.Target, &n.Event, (*[]byte)(&n.Body), at(&n.Due), &n.Token, &n.Attempts, at(&n.Created), at(&n.Sent), at(&n.Dropped), &n.Error, &n.Remote)
	return n, seq, err
}

// addNotice adds a notice unless it exists.
func (t *tx) addNotice(d project, watch int64, n *store.NewNotice, now time.Time) error {
	due := n.Due
	if due.IsZero() {
		due = now
	}
	_, err := t.exec("INSERT INTO watch_notice (id, project, watch, alarm, target, event, created, due, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (alarm, target, event) DO NOTHING",
		store.NewID(store.NoticeID, now), string(d.name), watch, n.Alarm, n.Target, n.Event, micros(now), micros(due), []byte(n.Body))
	return err
}

// LeaseNotices implements [store.Outbox].
func (d project) LeaseNotices(ctx context.Context, lease time.Duration, limit int) (notices []store.Notice, err error) {
	if lease <= 0 || limit < 0 {
		return nil, proviso.Errorf(proviso.Invalid, "a lease needs a duration, and a limit of at least 0")
	}
	const due = " WHERE project = ? AND due <= ? AND sent IS NULL AND dropped IS NULL"
	var any bool
	if err := d.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM watch_notice"+due+")", string(d.name), micros(d.now())).Scan(&any); err != nil || !any {
		return nil, d.failed("read", err)
	}
	err = d.change(ctx, "lease notices in", func(t *tx) error {
		now := d.now()
		notices, err = collect(d, func(row scanner) (store.Notice, error) {
			n, _, err := readNotice(row)
			n.Token, n.Attempts = rand.Int64N(math.MaxInt64)+1, n.Attempts+1
			return n, err
		})(t.query(noticeColumns+due+" ORDER BY due, seq LIMIT ?", string(d.name), micros(now), limit))
		for i := range notices {
			n := &notices[i]
			if err == nil {
				_, err = t.exec("UPDATE watch_notice SET token = ?, attempts = ?, due = ? WHERE id = ?", n.Token, n.Attempts, micros(now.Add(lease)), n.ID)
			}
		}
		return err
	})
	return notices, err
}

// SettleNotice implements [store.Outbox].
func (d project) SettleNotice(ctx context.Context, r store.NoticeResult) error {
	return d.change(ctx, "keep a notice in", func(t *tx) error {
		now := micros(d.now())
		var sent, dropped sql.NullInt64
		due := micros(r.Again)
		switch {
		case r.Error == "":
			sent, due = now, now
		case r.Again.IsZero():
			dropped, due = now, now
		}
		why := strings.ToValidUTF8(excerpt.Bytes(r.Error, store.MaxExcerpt), "\uFFFD")
		return t.changeOne(notFound("lease of the notice", r.ID), "UPDATE watch_notice SET token = 0, sent = ?, dropped = ?, due = ?, error = ?, remote = coalesce(nullif(?, ''), remote) WHERE id = ? AND project = ? AND token = ? AND token <> 0",
			sent, dropped, due, why, r.Remote, r.ID, string(d.name), r.Token)
	})
}

// ListNotices implements [store.Outbox].
func (d project) ListNotices(ctx context.Context, alarm string, p store.Page) (store.List[store.Notice], error) {
	c := d.conditions("project")
	c.equal("alarm", alarm)
	return page(ctx, d.reader, "notices", p, noticeColumns, "seq DESC", &c, readNotice, func(n *store.Notice) int { return len(n.Body) })
}
