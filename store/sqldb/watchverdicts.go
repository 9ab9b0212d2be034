package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// adding adds verdicts to a watch in one transaction. Their rollups are summed first, so that
// each rollup row is written once.
type adding struct {
	*tx
	watch    int64
	now      time.Time
	terms    map[string]int64
	hours    map[hourOf]*rolled
	segments map[hourOf]*rolled
	added    int
	decided  bool   // one of the verdicts is pass or fail
	failed   string // why a verdict could not be decided
}

// hourOf is the key of a rollup row: version and judge, or segment.
type hourOf struct {
	assertion, hour, version, judge, segment int64
}

// rolled is the sum of verdicts.
type rolled struct {
	pass, fail, errors, skipped int
	sw, swf, sww, cost          float64
}

func (r *rolled) add(v *store.WatchVerdict) {
	w := 1 / v.Probability
	switch v.Status {
	case proviso.Pass:
		r.pass++
	case proviso.Fail:
		r.fail++
		r.swf += w
	case proviso.Skip:
		r.skipped++
	default:
		r.errors++
	}
	if v.Status == proviso.Pass || v.Status == proviso.Fail {
		r.sw += w
		r.sww += w * w
	}
	r.cost += v.Cost
}

// term returns the id of a text, adding it if it is new.
func (x *adding) term(text string) (id int64, err error) {
	if id, ok := x.terms[text]; ok {
		return id, nil
	}
	err = x.queryRow("SELECT id FROM watch_term WHERE text = ?", text).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = x.inserted("INSERT INTO watch_term (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET text = excluded.text RETURNING id", text)
	}
	x.terms[text] = id
	return id, err
}

// verdict adds a verdict, unless it exists.
func (x *adding) verdict(v *store.WatchVerdict) error {
	var ids [8]int64
	for i, text := range [...]string{v.Assertion, v.Version, v.Judge, v.Segment, v.Set, v.Agent, v.Model, v.Prompt} {
		var err error
		if ids[i], err = x.term(text); err != nil {
			return err
		}
	}
	reason, err := x.reason(v)
	if err != nil {
		return err
	}
	n, err := x.changed(`INSERT INTO watch_verdict (watch, assertion, time, status, version, judge, segment, set_version, agent, model, prompt, at, probability, backfill, cost, score, event, conversation, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (watch, event, assertion, set_version, judge) DO NOTHING`,
		x.watch, ids[0], micros(v.Time), int(v.Status), ids[1], ids[2], ids[3], ids[4], ids[5], ids[6], ids[7], micros(x.now), v.Probability, v.Backfill, v.Cost, v.Score, v.Event, v.Conversation, reason)
	if err != nil || n == 0 {
		return err
	}
	x.added++
	x.decided = x.decided || v.Status == proviso.Pass || v.Status == proviso.Fail
	if v.Status == proviso.Errored {
		x.failed = v.Reason
	}
	hour := v.Time.Unix() / (60 * 60)
	roll(&x.hours, hourOf{assertion: ids[0], hour: hour, version: ids[1], judge: ids[2]}).add(v)
	if v.Segment != "" {
		roll(&x.segments, hourOf{assertion: ids[0], hour: hour, segment: ids[3]}).add(v)
	}
	return nil
}

// reason returns the stored form of a verdict's reason, which may quote sealed texts.
func (x *adding) reason(v *store.WatchVerdict) ([]byte, error) {
	switch {
	case v.Reason == "":
		return []byte{}, nil
	case x.db.contents.secret == nil:
		x.texts = true
		return append([]byte{plain}, v.Reason...), nil
	}
	return x.db.contents.pack("reason of "+v.Event, []byte(v.Reason), dayOf(x.now))
}

func roll(m *map[hourOf]*rolled, of hourOf) *rolled {
	if *m == nil {
		*m = map[hourOf]*rolled{}
	}
	r := (*m)[of]
	if r == nil {
		r = &rolled{}
		(*m)[of] = r
	}
	return r
}

// roll adds to the rollup row with a key.
func (x *adding) roll(table string, r *rolled, key ...any) error {
	const columns = "pass, fail, errors, skipped, sw, swf, sww, cost"
	var sums []string
	for column := range strings.SplitSeq(columns, ", ") {
		sums = append(sums, column+" = "+table+"."+column+" + excluded."+column)
	}
	values := append(key, r.pass, r.fail, r.errors, r.skipped, r.sw, r.swf, r.sww, r.cost)
	_, err := x.exec("INSERT INTO "+table+" ("+keyOf(table)+", "+columns+")"+valuesOf(1, len(values))+" ON CONFLICT ("+keyOf(table)+") DO UPDATE SET "+strings.Join(sums, ", "), values...)
	return err
}

// finish writes the rollups, and updates the work state of the watch.
func (x *adding) finish() error {
	for of, r := range x.hours {
		if err := x.roll("watch_hour", r, x.watch, of.assertion, of.hour, of.version, of.judge); err != nil {
			return err
		}
	}
	for of, r := range x.segments {
		if err := x.roll("watch_hour_segment", r, x.watch, of.assertion, of.hour, of.segment); err != nil {
			return err
		}
	}
	if x.decided {
		if _, err := x.exec("UPDATE watch SET last_verdict = ? WHERE seq = ?", micros(x.now), x.watch); err != nil {
			return err
		}
	}
	if x.failed != "" {
		return x.noteEventError(x.watch, x.failed, x.now)
	}
	return nil
}

const verdictColumns = `SELECT v.seq, v.event, v.conversation, ag.text, a.text, sv.text, ve.text, j.text, sg.text, mo.text, pr.text, v.time, v.at, v.probability, v.backfill, v.status, v.score, v.reason, v.cost
	FROM watch_verdict v JOIN watch_term a ON a.id = v.assertion JOIN watch_term ag ON ag.id = v.agent JOIN watch_term sv ON sv.id = v.set_version
	JOIN watch_term ve ON ve.id = v.version JOIN watch_term j ON j.id = v.judge JOIN watch_term sg ON sg.id = v.segment
	JOIN watch_term mo ON mo.id = v.model JOIN watch_term pr ON pr.id = v.prompt`

// readVerdict reads a row of verdictColumns.
func (d *DB) readVerdict(row scanner) (v store.WatchVerdict, err error) {
	var reason any
	err = row.Scan(&v.Sequence, &v.Event, &v.Conversation, &v.Agent, &v.Assertion, &v.Set, &v.Version, &v.Judge, &v.Segment, &v.Model, &v.Prompt, at(&v.Time), at(&v.At), &v.Probability, &v.Backfill, &v.Status, &v.Score, &reason, &v.Cost)
	switch reason := reason.(type) {
	case string: // from an earlier version
		v.Reason = reason
	case []byte:
		if len(reason) == 0 {
			break
		}
		if reason[0] == plain {
			v.Reason = string(reason[1:])
			break
		}
		// Without the key, the reason stays empty.
		if text, failed := d.contents.unpack("reason of "+v.Event, reason); failed == nil {
			v.Reason = string(text)
		} else if d.contents.secret != nil {
			err = errors.Join(err, failed)
		}
	}
	return v, err
}

// ListVerdicts implements [store.EventJobs].
func (d project) ListVerdicts(ctx context.Context, f store.VerdictFilter, p store.Page) (store.List[store.WatchVerdict], error) {
	var c conditions
	if f.Watch != "" {
		seq, err := d.watchNumber(ctx, f.Watch)
		if err != nil {
			return store.List[store.WatchVerdict]{}, err
		}
		c.add("v.watch = ?", seq)
	} else {
		c.add("v.watch IN (SELECT seq FROM watch WHERE project = ? AND removed = 0)", string(d.name))
	}
	for column, text := range map[string]string{"assertion": f.Assertion, "version": f.Version, "judge": f.Judge, "segment": f.Segment} {
		if text != "" {
			c.add("v."+column+" = (SELECT id FROM watch_term WHERE text = ?)", text)
		}
	}
	in(&c, "v.event", f.Events)
	in(&c, "v.status", numbers(f.Status))
	c.between("v.time", f.Since, f.Until)
	return page(ctx, d.reader, "verdicts", p, verdictColumns, "v.seq DESC", &c, func(row scanner) (store.WatchVerdict, int64, error) {
		v, err := d.readVerdict(row)
		return v, v.Sequence, err
	}, func(v *store.WatchVerdict) int { return len(v.Reason) })
}

// Observations implements [store.Charts].
func (d project) Observations(ctx context.Context, watch string, after int64, limit int) ([]store.WatchVerdict, error) {
	seq, err := d.watchNumber(ctx, watch)
	if err != nil {
		return nil, err
	}
	return collect(d, d.readVerdict)(d.query(ctx, verdictColumns+" WHERE v.watch = ? AND v.seq > ? ORDER BY v.seq LIMIT ?", seq, after, limit))
}
