package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// The assertions of a watch, found by jumping from one to the next in the index, or the one in
// the filter.
const (
	watchedAssertions = `WITH RECURSIVE watched (id) AS (
		SELECT min(assertion) FROM watch_hour WHERE watch = ?1
		UNION ALL SELECT (SELECT min(assertion) FROM watch_hour WHERE watch = ?1 AND assertion > watched.id) FROM watched WHERE watched.id IS NOT NULL) `
	watchedAssertion = `WITH watched (id) AS (SELECT id FROM watch_term WHERE text = ?5) `
	rolledTotals     = "CAST(sum(h.pass) AS BIGINT) << 32 | CAST(sum(h.fail) AS BIGINT), CAST(sum(h.errors) AS BIGINT) << 32 | CAST(sum(h.skipped) AS BIGINT), sum(h.sw), sum(h.swf), sum(h.sww), sum(h.cost)"
	rolledRow        = "h.pass << 32 | h.fail, h.errors << 32 | h.skipped, h.sw, h.swf, h.sww, h.cost"
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
	if f.Assertion != "" {
		args = append(args, f.Assertion)
	}
	var terms []bucketTerms
	var row bucketRow
	row.point()
	list, err := collect(d, func(found scanner) (store.Bucket, error) {
		err := found.Scan(row.into[:]...)
		b, of := row.bucket(f.By, f.Step)
		terms = append(terms, of)
		return b, err
	})(d.query(ctx, query, args...))
	if err != nil {
		return nil, err
	}
	return list, d.named(ctx, list, terms)
}

// bucketRow is a row of a series as the driver returns it. Each of the first four columns packs
// two 32-bit numbers: assertion id and step since 1970; the ids of version and judge, or that
// of the segment; pass and fail; errors and skipped. Weights and cost follow. A dashboard has
// tens of thousands of rows, and each column costs two locks in SQLite; scanning a number into
// another type would convert it through text.
type bucketRow struct {
	got  [8]any
	into [8]any // pointers to got
}

func (r *bucketRow) point() {
	for i := range r.got {
		r.into[i] = &r.got[i]
	}
}

func (r *bucketRow) two(i int) (high, low int64) {
	n, _ := r.got[i].(int64)
	return n >> 32, n & (1<<32 - 1)
}

// real returns a number that may be an integer, such as a sum of zeros.
func (r *bucketRow) real(i int) float64 {
	if f, ok := r.got[i].(float64); ok {
		return f
	}
	n, _ := r.got[i].(int64)
	return float64(n)
}

// bucket returns the row without its texts, and the ids of the texts.
func (r *bucketRow) bucket(by store.SeriesBy, step time.Duration) (b store.Bucket, of bucketTerms) {
	var slot int64
	of.assertion, slot = r.two(0)
	if of.version, of.judge = r.two(1); by == store.BySegment {
		of.segment, of.judge = of.judge, 0
	}
	pass, fail := r.two(2)
	errors, skipped := r.two(3)
	return store.Bucket{Start: time.UnixMicro(slot * step.Microseconds()).UTC(), Pass: int(pass), Fail: int(fail), Errors: int(errors), Skipped: int(skipped),
		Weight: r.real(4), Failing: r.real(5), Squares: r.real(6), Cost: r.real(7)}, of
}

// hourSeries is the query that adds up rollups. Its parameters are the watch, the hours per
// step, and the range. With steps of an hour there is one row per line, so nothing is added up.
func hourSeries(by store.SeriesBy, step time.Duration) string {
	table := "watch_hour"
	if by == store.BySegment {
		table = "watch_hour_segment"
	}
	ids, group := seriesIDs(by)
	from := " FROM watched CROSS JOIN " + table + " h ON h.watch = ?1 AND h.assertion = watched.id AND h.hour >= ?3 AND h.hour < ?4"
	if step == time.Hour && by != "" {
		return "SELECT h.assertion << 32 | h.hour / ?2, " + ids + ", " + rolledRow + from
	}
	return "SELECT h.assertion << 32 | h.hour / ?2 AS start, " + ids + ", " + rolledTotals + from + " GROUP BY start" + group + " ORDER BY start" + group
}

// seriesIDs returns the ids that distinguish lines of an assertion, as one column and as the
// columns to group by.
func seriesIDs(by store.SeriesBy) (column, group string) {
	switch by {
	case store.ByVersion:
		return "h.version << 32 | h.judge", ", h.version, h.judge"
	case store.BySegment:
		return "h.segment", ", h.segment"
	}
	return "0", ""
}

// verdictSeries is the query that adds up verdicts. Its parameters are the watch, the
// microseconds per step, and the range.
func verdictSeries(by store.SeriesBy) string {
	ids, group := seriesIDs(by)
	return `SELECT h.assertion << 32 | h.time / ?2 AS start, ` + ids + `, count(*) FILTER (WHERE h.status = 1) << 32 | count(*) FILTER (WHERE h.status = 2), count(*) FILTER (WHERE h.status = 0) << 32 | count(*) FILTER (WHERE h.status = 3),
		sum(CASE WHEN h.status IN (1, 2) THEN 1 / h.probability ELSE 0.0 END), sum(CASE WHEN h.status = 2 THEN 1 / h.probability ELSE 0.0 END), sum(CASE WHEN h.status IN (1, 2) THEN 1 / (h.probability * h.probability) ELSE 0.0 END), sum(h.cost)
		FROM watched CROSS JOIN watch_verdict h ON h.watch = ?1 AND h.assertion = watched.id AND h.time >= ?3 AND h.time < ?4
		GROUP BY start` + group + " ORDER BY start" + group
}

// bucketTerms are the ids of a bucket's texts.
type bucketTerms struct{ assertion, version, judge, segment int64 }

// named fills in the texts of buckets.
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
