package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// The assertions of a watch, found by jumping from one to the next in the index, or the one
// that is asked for.
const (
	watchedAssertions = `WITH RECURSIVE watched (id) AS (
		SELECT min(assertion) FROM watch_hour WHERE watch = ?1
		UNION ALL SELECT (SELECT min(assertion) FROM watch_hour WHERE watch = ?1 AND assertion > watched.id) FROM watched WHERE watched.id IS NOT NULL) `
	watchedAssertion = `WITH watched (id) AS (SELECT id FROM watch_term WHERE text = ?5) `
	rolledTotals     = "sum(h.pass), sum(h.fail), sum(h.errors), sum(h.skipped), sum(h.sw), sum(h.swf), sum(h.sww), sum(h.cost)"
)

// Series implements [store.EventJobs].
func (d project) Series(ctx context.Context, f store.SeriesFilter) ([]store.Bucket, error) {
	if err := f.Check(d.now()); err != nil {
		return nil, err
	}
	seq, err := d.watchNumber(ctx, f.Watch)
	if err != nil {
		return nil, err
	}
	query, args := watchedAssertions, []any{seq}
	if f.Assertion != "" {
		query = watchedAssertion
	}
	if f.Step >= time.Hour {
		query += hourSeries(f.By)
		args = append(args, int64(f.Step/time.Hour), f.From.Unix()/(60*60), (f.To.Unix()+60*60-1)/(60*60))
	} else {
		query += verdictSeries(f.By)
		args = append(args, f.Step.Microseconds(), micros(f.From), micros(f.To))
	}
	if f.Assertion != "" {
		args = append(args, f.Assertion)
	}
	rows, err := d.query(ctx, query, args...)
	list, err := collect(d.DB, rows, err, func(row scanner) (b coded, err error) {
		var start int64
		err = row.Scan(&b.assertion, &start, &b.version, &b.judge, &b.segment, &b.Pass, &b.Fail, &b.Errors, &b.Skipped, &b.Weight, &b.Failing, &b.Squares, &b.Cost)
		if b.Start = time.UnixMicro(start).UTC(); f.Step >= time.Hour {
			b.Start = time.Unix(start*60*60, 0).UTC()
		}
		return b, err
	})
	if err != nil {
		return nil, err
	}
	return d.decoded(ctx, list)
}

// hourSeries adds up rollups: parameters are the watch, the hours of a step, and the range.
func hourSeries(by store.SeriesBy) string {
	table, columns, group := "watch_hour", "0, 0, 0", ""
	switch by {
	case store.ByVersion:
		columns, group = "h.version, h.judge, 0", ", h.version, h.judge"
	case store.BySegment:
		table, columns, group = "watch_hour_segment", "0, 0, h.segment", ", h.segment"
	}
	return "SELECT h.assertion, h.hour / ?2 * ?2, " + columns + ", " + rolledTotals + " FROM watched CROSS JOIN " + table +
		" h ON h.watch = ?1 AND h.assertion = watched.id AND h.hour >= ?3 AND h.hour < ?4 GROUP BY h.assertion, h.hour / ?2 * ?2" + group + " ORDER BY h.assertion, h.hour / ?2 * ?2" + group
}

// verdictSeries adds up verdicts: parameters are the watch, the microseconds of a step, and
// the range.
func verdictSeries(by store.SeriesBy) string {
	columns, group := "0, 0, 0", ""
	switch by {
	case store.ByVersion:
		columns, group = "h.version, h.judge, 0", ", h.version, h.judge"
	case store.BySegment:
		columns, group = "0, 0, h.segment", ", h.segment"
	}
	return `SELECT h.assertion, h.time / ?2 * ?2, ` + columns + `, count(*) FILTER (WHERE h.status = 1), count(*) FILTER (WHERE h.status = 2), count(*) FILTER (WHERE h.status = 0), count(*) FILTER (WHERE h.status = 3),
		sum(CASE WHEN h.status IN (1, 2) THEN 1 / h.probability ELSE 0.0 END), sum(CASE WHEN h.status = 2 THEN 1 / h.probability ELSE 0.0 END), sum(CASE WHEN h.status IN (1, 2) THEN 1 / (h.probability * h.probability) ELSE 0.0 END), sum(h.cost)
		FROM watched CROSS JOIN watch_verdict h ON h.watch = ?1 AND h.assertion = watched.id AND h.time >= ?3 AND h.time < ?4
		GROUP BY h.assertion, h.time / ?2 * ?2` + group + " ORDER BY h.assertion, h.time / ?2 * ?2" + group
}

// coded is a bucket whose texts are ids of terms.
type coded struct {
	store.Bucket
	assertion, version, judge, segment int64
}

// decoded returns buckets with their texts.
func (d project) decoded(ctx context.Context, list []coded) ([]store.Bucket, error) {
	terms := map[int64]string{0: ""}
	buckets := make([]store.Bucket, 0, len(list))
	for _, b := range list {
		for _, of := range [...]struct {
			id int64
			to *string
		}{{b.assertion, &b.Assertion}, {b.version, &b.Version}, {b.judge, &b.Judge}, {b.segment, &b.Segment}} {
			text, known := terms[of.id]
			if !known {
				if err := d.queryRow(ctx, "SELECT text FROM watch_term WHERE id = ?", of.id).Scan(&text); err != nil {
					return nil, d.failed("read", err)
				}
				terms[of.id] = text
			}
			*of.to = text
		}
		buckets = append(buckets, b.Bucket)
	}
	return buckets, nil
}
