package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
)

// rule is a consistency rule between two parts of the data.
type rule struct {
	// says is the message for a row of the query. It formats the row's subject and two numbers.
	says  string
	query string
	args  []any
}

// mostOfRule is how many violations of a rule are listed.
const mostOfRule = 10

// Check reads the whole database and returns the inconsistencies in its data, one line each;
// nil means none. It lists at most ten of each kind. It changes nothing and reads a snapshot,
// so others may write meanwhile. The error means that the database cannot be read.
func (d *DB) Check(ctx context.Context) (problems []string, err error) {
	t, err := d.reading.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, d.failed("read", err)
	}
	defer t.Rollback() // read-only
	if d.engine.Scoped() {
		if err := d.engine.EnterTx(ctx, t, AllProjects); err != nil {
			return nil, d.failed("read", err)
		}
	}
	for _, r := range rules() {
		list, err := collect(d, func(row scanner) (text string, err error) {
			var about string
			var has, should int64
			err = row.Scan(&about, &has, &should)
			return fmt.Sprintf(r.says, about, has, should), err
		})(anyRows(t.QueryContext(ctx, d.engine.Query(r.query), d.engine.Args(slices.Clone(r.args))...)))
		if err != nil {
			return problems, err
		}
		if n := len(list); n > mostOfRule {
			list = append(list[:mostOfRule], fmt.Sprintf("and %d more of this kind", n-mostOfRule))
		}
		problems = append(problems, list...)
	}
	return problems, nil
}

// rules returns the consistency rules, in the order of the tables.
func rules() []rule {
	pass, fail := string(label.Pass), string(label.Fail)
	list := []rule{
		{says: "run %s: %d rows in its totals, %d stored", query: `SELECT r.id, r.passed + r.failed + r.errors + r.skipped, coalesce(c.n, 0) FROM run r LEFT JOIN (SELECT run, count(*) AS n FROM result GROUP BY run) c ON c.run = r.seq
			WHERE r.passed + r.failed + r.errors + r.skipped <> coalesce(c.n, 0) AND r.project <> ? ORDER BY r.seq`, args: []any{string(arriving)}},
		{says: "run %s: %d rows passed or failed by its totals, %d by its rows", query: `SELECT r.id, r.passed + r.failed, c.passed + c.failed FROM run r JOIN
			(SELECT run, count(*) FILTER (WHERE status = ?1) AS passed, count(*) FILTER (WHERE status = ?2) AS failed FROM result GROUP BY run) c ON c.run = r.seq
			WHERE (r.passed <> c.passed OR r.failed <> c.failed) AND r.project <> ?3 ORDER BY r.seq`, args: []any{int(proviso.Pass), int(proviso.Fail), string(arriving)}},
		{says: "run %s: %d verdicts on rows that it does not have (expected %d)", query: `SELECT r.id, count(*), 0 FROM verdict v JOIN run r ON r.seq = v.run
			WHERE NOT EXISTS (SELECT 1 FROM result x WHERE x.run = v.run AND x.row = v.row) GROUP BY r.id ORDER BY r.id`},
		{says: "document %s: %d versions are the current one, expected %d", query: `SELECT d.kind || ' ' || d.name || ' of the project ' || d.project, count(c.document), 1 FROM document d
			LEFT JOIN current c ON c.document = d.seq AND c.project = d.project AND c.kind = d.kind AND c.name = d.name GROUP BY d.project, d.kind, d.name HAVING count(c.document) <> 1 ORDER BY 1`},
		{says: "labels of the run %s: %d verdicts of a judge counted, %d there", query: `SELECT run, CAST(sum(n) AS BIGINT), CAST(sum(m) AS BIGINT) FROM
			(SELECT project, run, assertion, judge, verdict, judged, n, 0 AS m FROM label_judged UNION ALL
			SELECT project, run, assertion, judge, verdict, judged, 0, 1 FROM label WHERE current = 1 AND run <> '' AND verdict IN (?1, ?2) AND judged IN (?1, ?2)) counted
			GROUP BY project, run, assertion, judge, verdict, judged HAVING sum(n) <> sum(m) ORDER BY run`, args: []any{pass, fail}},
		{says: "labels of the run %s: %d pairs of people counted, %d there", query: `SELECT run, CAST(sum(n) AS BIGINT), CAST(sum(m) AS BIGINT) FROM
			(SELECT project, run, a, b, first, second, n, 0 AS m FROM label_pair UNION ALL
			SELECT x.project, x.run, x.person, y.person, x.verdict, y.verdict, 0, 1 FROM label x JOIN label y ON y.project = x.project AND y.run = x.run AND y.evaluation = x.evaluation AND y.row = x.row AND y.assertion = x.assertion AND y.person > x.person
				WHERE x.current = 1 AND y.current = 1 AND x.run <> '' AND x.verdict IN (?1, ?2) AND y.verdict IN (?1, ?2)) counted
			GROUP BY project, run, a, b, first, second HAVING sum(n) <> sum(m) ORDER BY run`, args: []any{pass, fail}},
		{says: "label queue %s: %d items, %d there", query: `SELECT q.name, q.size, coalesce(c.n, 0) FROM label_queue q LEFT JOIN (SELECT queue, count(*) AS n FROM label_item GROUP BY queue) c ON c.queue = q.seq
			WHERE q.ready = 1 AND q.size <> coalesce(c.n, 0) ORDER BY q.seq`},
		{says: "label queue %s: %d items are done by its count, %d by its items", query: `SELECT q.name, q.done, coalesce(c.n, 0) FROM label_queue q LEFT JOIN (SELECT queue, count(*) AS n FROM label_item WHERE open = 0 GROUP BY queue) c ON c.queue = q.seq
			WHERE q.ready = 1 AND q.done <> coalesce(c.n, 0) ORDER BY q.seq`},
	}
	return slices.Concat(list, trafficRules(), traceRules())
}

// latestVerdicts is how many verdicts are compared with their rollups.
const latestVerdicts = 100_000

func trafficRules() []rule {
	// A rollup outlives its verdicts, so it may count more verdicts than exist, but not fewer.
	// A missing rollup may have been pruned, unless an older one exists.
	rolled := func(table, columns, same, only string) string {
		return `SELECT w.name, coalesce(h.pass + h.fail + h.errors + h.skipped, 0), v.n FROM
			(SELECT watch, assertion, hour, ` + columns + `, count(*) AS n FROM (SELECT watch, assertion, time / 3600000000 AS hour, version, judge, segment FROM watch_verdict ORDER BY seq DESC LIMIT ?) latest
				GROUP BY watch, assertion, hour, ` + columns + `) v
			JOIN watch w ON w.seq = v.watch AND w.removed = 0 ` + only + ` LEFT JOIN ` + table + ` h ON h.watch = v.watch AND h.assertion = v.assertion AND h.hour = v.hour AND ` + same + `
			WHERE v.n > coalesce(h.pass + h.fail + h.errors + h.skipped, 0) AND (h.watch IS NOT NULL OR v.hour > (SELECT min(o.hour) FROM ` + table + ` o WHERE o.watch = v.watch)) ORDER BY w.name`
	}
	return []rule{
		{says: "events of the agent number %s: %d that nothing is known of (expected %d)", query: `SELECT CAST(e.agent AS TEXT), count(*), 0 FROM event e LEFT JOIN traffic_agent a ON a.id = e.agent WHERE a.id IS NULL GROUP BY e.agent`},
		{says: "counts by hour of the agent number %s: %d that nothing is known of (expected %d)", query: `SELECT CAST(h.agent AS TEXT), count(*), 0 FROM traffic_hour h LEFT JOIN traffic_agent a ON a.id = h.agent WHERE a.id IS NULL GROUP BY h.agent`},
		{says: "watch %s: its version %d is missing (%d)", query: `SELECT w.name, w.number, 0 FROM watch w LEFT JOIN watch_version v ON v.watch = w.seq AND v.number = w.number WHERE v.watch IS NULL AND w.removed = 0 ORDER BY w.name`},
		{says: "watch %s: %d jobs wait by its count, %d are there", query: `SELECT w.name, w.pending, coalesce(j.n, 0) FROM watch w LEFT JOIN (SELECT watch, count(*) AS n FROM watch_job GROUP BY watch) j ON j.watch = w.seq
			WHERE w.pending <> coalesce(j.n, 0) ORDER BY w.name`},
		{says: "watch %s: %d verdicts on assertions, or of judges or versions, that have no name (expected %d)", query: `SELECT w.name, count(*), 0 FROM watch_verdict v JOIN watch w ON w.seq = v.watch LEFT JOIN watch_term a ON a.id = v.assertion LEFT JOIN watch_term j ON j.id = v.judge LEFT JOIN watch_term x ON x.id = v.version
			WHERE a.id IS NULL OR j.id IS NULL OR x.id IS NULL GROUP BY w.name ORDER BY w.name`},
		{says: "watch %s: %d verdicts in the counts of an hour by version and judge, at least %d there", args: []any{latestVerdicts},
			query: rolled("watch_hour", "version, judge", "h.version = v.version AND h.judge = v.judge", "")},
		{says: "watch %s: %d verdicts in the counts of an hour by segment, at least %d there", args: []any{latestVerdicts},
			query: rolled("watch_hour_segment", "segment", "h.segment = v.segment", "JOIN watch_term g ON g.id = v.segment AND g.text <> ''")},
	}
}
