package sqlite

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
		query += hourSeries(f.By, f.Step)
		args = append(args, int64(f.Step/time.Hour), f.From.Unix()/(60*60), (f.To.Unix()+60*60-1)/(60*60))
	} else {
		query += verdictSeries(f.By)
		args = append(args, f.Step.Microseconds(), micros(f.From), micros(f.To))
	}
	args = append(args, f.Assertion)
	rows, err := d.query(ctx, query, args...)
	if err != nil {
		return nil, d.failed("read", err)
	}
	defer rows.Close()
	var list []store.Bucket
	var terms []bucketTerms
	var row bucketRow
	row.point()
	for rows.Next() {
		if err := rows.Scan(row.into[:]...); err != nil {
			return nil, d.failed("read", err)
		}
		b := row.bucket()
		if start := row.whole(1); f.Step >= time.Hour {
			b.Start = time.Unix(start*60*60, 0).UTC()
		} else {
			b.Start = time.UnixMicro(start).UTC()
		}
		list, terms = append(list, b), append(terms, bucketTerms{row.whole(0), row.whole(2), row.whole(3), row.whole(4)})
	}
	if err := rows.Err(); err != nil {
		return nil, d.failed("read", err)
	}
	return list, d.named(ctx, list, terms)
}

// bucketRow is a row of a series as the driver gives it. A dashboard has tens of thousands
// of them, and database/sql converts each number that has another type by its text.
type bucketRow struct {
	got  [13]any
	into [13]any // pointers to got
}

func (r *bucketRow) point() {
	for i := range r.got {
		r.into[i] = &r.got[i]
	}
}

func (r *bucketRow) whole(i int) int64 {
	n, _ := r.got[i].(int64)
	return n
}

// real is a number that may be whole: a sum over no rows.
func (r *bucketRow) real(i int) float64 {
	if f, ok := r.got[i].(float64); ok {
		return f
	}
	return float64(r.whole(i))
}

// bucket is the row without its start and its texts.
func (r *bucketRow) bucket() store.Bucket {
	return store.Bucket{Pass: int(r.whole(5)), Fail: int(r.whole(6)), Errors: int(r.whole(7)), Skipped: int(r.whole(8)),
		Weight: r.real(9), Failing: r.real(10), Squares: r.real(11), Cost: r.real(12)}
}

// hourSeries adds up rollups: parameters are the watch, the hours of a step, and the range.
// A step of an hour has one row for each line, so that nothing is added up.
func hourSeries(by store.SeriesBy, step time.Duration) string {
	table, columns, group := "watch_hour", "0, 0, 0", ""
	switch by {
	case store.ByVersion:
		columns, group = "h.version, h.judge, 0", ", h.version, h.judge"
	case store.BySegment:
		table, columns, group = "watch_hour_segment", "0, 0, h.segment", ", h.segment"
	}
	if step == time.Hour && by != "" {
		return "SELECT h.assertion, h.hour, " + columns + ", h.pass, h.fail, h.errors, h.skipped, h.sw, h.swf, h.sww, h.cost FROM watched CROSS JOIN " + table +
			" h ON h.watch = ?1 AND h.assertion = watched.id AND h.hour >= ?3 AND h.hour < ?4 AND ?2 = 1 AND ?5 IS NOT NULL"
	}
	return "SELECT h.assertion, h.hour / ?2 * ?2 AS start, " + columns + ", " + rolledTotals + " FROM watched CROSS JOIN " + table +
		" h ON h.watch = ?1 AND h.assertion = watched.id AND h.hour >= ?3 AND h.hour < ?4 AND ?5 IS NOT NULL GROUP BY h.assertion, start" + group + " ORDER BY h.assertion, start" + group
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
	return `SELECT h.assertion, h.time / ?2 * ?2 AS start, ` + columns + `, sum(h.status = 1), sum(h.status = 2), sum(h.status = 0), sum(h.status = 3),
		total(iif(h.status IN (1, 2), 1 / h.probability, 0)), total(iif(h.status = 2, 1 / h.probability, 0)), total(iif(h.status IN (1, 2), 1 / (h.probability * h.probability), 0)), sum(h.cost)
		FROM watched CROSS JOIN watch_verdict h ON h.watch = ?1 AND h.assertion = watched.id AND h.time >= ?3 AND h.time < ?4 AND ?5 IS NOT NULL
		GROUP BY h.assertion, start` + group + " ORDER BY h.assertion, start" + group
}

// bucketTerms are the ids of the texts of a bucket.
type bucketTerms struct{ assertion, version, judge, segment int64 }

// named puts the texts into buckets.
func (d project) named(ctx context.Context, list []store.Bucket, ids []bucketTerms) error {
	terms := map[int64]string{0: ""}
	for i := range list {
		b, of := &list[i], &ids[i]
		for _, t := range [...]struct {
			id int64
			to *string
		}{{of.assertion, &b.Assertion}, {of.version, &b.Version}, {of.judge, &b.Judge}, {of.segment, &b.Segment}} {
			text, known := terms[t.id]
			if !known {
				if err := d.queryRow(ctx, "SELECT text FROM watch_term WHERE id = ?", t.id).Scan(&text); err != nil {
					return d.failed("read", err)
				}
				terms[t.id] = text
			}
			*t.to = text
		}
	}
	return nil
}
