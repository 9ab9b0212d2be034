package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Charts implements [store.Charts].
func (d project) Charts(ctx context.Context, watch string) (s store.ChartState, err error) {
	seq, err := d.watchNumber(ctx, watch)
	if err != nil {
		return s, err
	}
	err = d.queryRow(ctx, "SELECT sequence, saved, state FROM watch_chart WHERE watch = ?", seq).Scan(&s.Cursor, at(&s.Saved), &s.State)
	return s, d.failed("read", ignoreNone(err))
}

// SaveCharts implements [store.Charts].
func (d project) SaveCharts(ctx context.Context, watch string, s store.ChartSave) error {
	if len(s.State) > store.MaxContent {
		return proviso.Errorf(proviso.Limit, "the charts of a watch have %d bytes, more than %d", len(s.State), store.MaxContent)
	}
	for i := range s.Alarms {
		if err := s.Alarms[i].Check(); err != nil {
			return err
		}
	}
	if s.Anchors != nil {
		if err := checkCost(s.Anchors.Cost); err != nil {
			return err
		}
	}
	return d.change(ctx, "keep charts in", func(t *tx) error {
		seq, err := t.watch(d, watch)
		if err != nil {
			return err
		}
		now := d.now()
		if err := t.changeOne(proviso.Errorf(proviso.Conflict, "another process has brought the charts of the watch %s up to date", short(watch)), `INSERT INTO watch_chart (watch, sequence, saved, state) SELECT ?1, ?3, ?4, ?5 WHERE ?2 = 0 OR EXISTS (SELECT 1 FROM watch_chart WHERE watch = ?1)
			ON CONFLICT (watch) DO UPDATE SET sequence = excluded.sequence, saved = excluded.saved, state = excluded.state WHERE watch_chart.sequence = ?2`, seq, s.From, s.Cursor, micros(now), s.State); err != nil {
			return err
		}
		for i := range s.Alarms {
			if err := t.putAlarm(d, seq, &s.Alarms[i], now); err != nil {
				return err
			}
		}
		for i := range s.Notices {
			if err := t.addNotice(d, seq, &s.Notices[i], now); err != nil {
				return err
			}
		}
		if r := s.Anchors; r != nil {
			return t.addAnchors(d, watch, seq, r)
		}
		return nil
	})
}

// addAnchors adds a round of anchors and its cost.
func (t *tx) addAnchors(d project, watch string, seq int64, r *store.AnchorRound) error {
	if _, err := t.exec("INSERT INTO watch_anchor (watch, at, judge, set_version, cost, results) VALUES (?, ?, ?, ?, ?, ?)",
		seq, micros(r.At), r.Judge, r.Set, r.Cost, []byte(r.Results)); err != nil {
		return err
	}
	return t.addSpend(d.name, watch, dayOf(d.now()), spending{spent: r.Cost})
}

// Anchors implements [store.Charts].
func (d project) Anchors(ctx context.Context, watch string, limit int) ([]store.AnchorRound, error) {
	seq, err := d.watchNumber(ctx, watch)
	if err != nil {
		return nil, err
	}
	return collect(d, func(row scanner) (r store.AnchorRound, err error) {
		return r, row.Scan(at(&r.At), &r.Judge, &r.Set, &r.Cost, (*[]byte)(&r.Results))
	})(d.query(ctx, "SELECT at, judge, set_version, cost, results FROM watch_anchor WHERE watch = ? ORDER BY seq DESC LIMIT ?", seq, limit))
}

// pruneWatches removes expired verdicts, rollups, alarms and notices, and the data of removed
// watches.
func (d *DB) pruneWatches(ctx context.Context, now time.Time, r store.Retention) (verdicts int, err error) {
	if err := d.removeWatches(ctx); err != nil {
		return 0, err
	}
	if r.Verdicts > 0 {
		if verdicts, err = d.remove(ctx, "at < ?", micros(now.Add(-r.Verdicts)), "watch_verdict"); err != nil {
			return verdicts, err
		}
	}
	if r.Rollups <= 0 {
		return verdicts, nil
	}
	old := now.Add(-r.Rollups)
	for _, c := range [...]struct {
		condition string
		value     any
		tables    []string
	}{
		{"hour < ?", old.Unix() / (60 * 60), []string{"watch_hour", "watch_hour_segment"}},
		{"day < ?", dayOf(old), []string{"watch_spend"}},
		{"at < ?", micros(old), []string{"watch_anchor"}},
		{"created < ?", micros(old), []string{"watch_notice"}},
		{"closed < ?", micros(old), []string{"watch_alarm"}},
	} {
		if _, err := d.remove(ctx, c.condition, c.value, c.tables...); err != nil {
			return verdicts, err
		}
	}
	return verdicts, nil
}
