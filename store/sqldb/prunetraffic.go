package sqldb

import (
	"context"
	"database/sql"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// pruneTraffic removes expired contents, events and counts.
func (d *DB) pruneTraffic(ctx context.Context, now time.Time, r store.Retention, p *store.Pruned) error {
	if r.Contents > 0 {
		old := now.Add(-r.Contents)
		n, err := d.pruneOrdinary(ctx, old)
		p.Contents += n
		if err != nil {
			return err
		}
		if err := d.pruneComments(ctx, old); err != nil {
			return err
		}
	}
	if r.Failures > 0 {
		last, err := d.lastBefore(ctx, "event", now.Add(-r.Failures))
		if err != nil {
			return err
		}
		n, err := d.remove(ctx, "event <= ?", last, "event_content")
		p.Contents += n
		if err != nil {
			return err
		}
	}
	if r.Verdicts > 0 {
		if err := d.pruneEvents(ctx, now.Add(-r.Verdicts), p); err != nil {
			return err
		}
	}
	if r.Rollups <= 0 {
		return nil
	}
	old := now.Add(-r.Rollups)
	if _, err := d.removeAll(ctx, `DELETE FROM traffic_hour WHERE (agent, hour, dimension, value) IN
		(SELECT h.agent, h.hour, h.dimension, h.value FROM traffic_agent a CROSS JOIN traffic_hour h ON h.agent = a.id WHERE h.hour < ? LIMIT ?)`, old.Unix()/(60*60)); err != nil {
		return err
	}
	if r.Verdicts <= 0 || r.Verdicts > r.Rollups { // events with old prompts still exist
		return nil
	}
	_, err := d.remove(ctx, "last < ?", micros(old), "traffic_prompt")
	return err
}

// lastBefore returns the last row of a table that was received before a time, 0 if there is
// none. It is a binary search: rows are in the order of receipt, so no index is needed.
func (d *DB) lastBefore(ctx context.Context, table string, before time.Time) (int64, error) {
	var low, high int64 // low was received before the time, high was not
	var most sql.NullInt64
	if err := d.queryRow(ctx, "SELECT max(seq) FROM "+table).Scan(&most); err != nil {
		return 0, d.failed("read", err)
	}
	high = most.Int64 + 1
	for high-low > 1 {
		middle := low + (high-low)/2
		var seq int64
		received := before // if there is no such row
		if err := ignoreNone(d.queryRow(ctx, "SELECT seq, received FROM "+table+" WHERE seq >= ? ORDER BY seq LIMIT 1", middle).Scan(&seq, at(&received))); err != nil {
			return 0, d.failed("read", err)
		}
		if received.UnixMicro() < before.UnixMicro() {
			low = seq
		} else {
			high = middle
		}
	}
	return low, nil
}

// pruneOrdinary removes the texts of events received before a time. Those with a failing
// verdict are marked instead.
func (d *DB) pruneOrdinary(ctx context.Context, before time.Time) (removed int, err error) {
	last, err := d.lastBefore(ctx, "event", before)
	if err != nil {
		return 0, err
	}
	type content struct {
		event int64
		fails bool
	}
	for {
		n := 0
		err := d.change(ctx, "remove what is old from", func(t *tx) error {
			old, err := collect(d, func(row scanner) (c content, err error) { return c, row.Scan(&c.event, &c.fails) })(t.query(`SELECT c.event, EXISTS (SELECT 1 FROM watch w JOIN watch_verdict v ON v.watch = w.seq AND v.event = e.id WHERE w.project = e.project AND v.status = ?)
				FROM event_content c JOIN event e ON e.seq = c.event WHERE c.failure = 0 AND c.event <= ? ORDER BY c.event LIMIT ?`, int(proviso.Fail), last, pruneStep))
			n = len(old)
			for _, c := range old {
				if err == nil && c.fails {
					_, err = t.exec("UPDATE event_content SET failure = 1 WHERE event = ?", c.event)
				}
			}
			if err != nil || n == 0 {
				return err
			}
			gone, err := t.changed("DELETE FROM event_content WHERE failure = 0 AND event >= ? AND event <= ?", old[0].event, old[n-1].event) // all rows in this range are in old
			removed += gone
			return err
		})
		if err != nil || n < pruneStep {
			return removed, err
		}
	}
}

// pruneComments removes the comments of thumbs received before a time.
func (d *DB) pruneComments(ctx context.Context, before time.Time) error {
	last, err := d.lastBefore(ctx, "feedback", before)
	if err != nil {
		return err
	}
	_, err = d.removeAll(ctx, "UPDATE feedback SET comment = NULL WHERE seq IN (SELECT seq FROM feedback WHERE seq <= ? AND comment IS NOT NULL LIMIT ?)", last)
	return err
}

// pruneEvents removes events and thumbs received before a time.
func (d *DB) pruneEvents(ctx context.Context, before time.Time, p *store.Pruned) error {
	last, err := d.lastBefore(ctx, "event", before)
	if err != nil {
		return err
	}
	if p.Events, err = d.remove(ctx, "seq <= ? ORDER BY seq", last, "event"); err != nil {
		return err
	}
	if last, err = d.lastBefore(ctx, "feedback", before); err != nil {
		return err
	}
	_, err = d.remove(ctx, "seq <= ? ORDER BY seq", last, "feedback")
	return err
}
