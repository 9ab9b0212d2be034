package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// ofSpans returns what [contents.pack] binds a part of a trace to.
func ofSpans(p store.Project, key, trace string) string {
	return "spans\x00" + string(p) + "\x00" + key + "\x00" + trace
}

// partsAtOnce is how many parts of a trace one query reads.
const partsAtOnce = 100

// evictedAtOnce is how many traces one step evicts.
const evictedAtOnce = 8

// AddSpans implements [store.Traces].
func (d project) AddSpans(ctx context.Context, key string, parts []store.SpanPart, l store.TraceLimits) ([]string, error) {
	if err := errors.Join(d.name.Check(), d.textsAccepted()); err != nil {
		return nil, err
	}
	contents := make([][]byte, len(parts))
	for i := range parts {
		err := parts[i].Check()
		if err == nil {
			contents[i], err = d.contents.pack(ofSpans(d.name, key, parts[i].Trace), parts[i].Content, dayOf(d.now()))
		}
		if err != nil {
			return nil, err
		}
	}
	refused := make([]string, len(parts))
	err := d.change(ctx, "keep spans in", func(t *tx) error {
		t.texts = len(parts) > 0
		r := traceRoom{tx: t, project: string(d.name), key: key, limits: l, now: d.now()}
		if err := r.read(); err != nil {
			return err
		}
		for i := range parts {
			var err error
			if refused[i], err = r.add(&parts[i], contents[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return refused, err
}

// traceRoom tracks the space for the traces of a key while spans are added.
type traceRoom struct {
	*tx
	project, key string
	limits       store.TraceLimits
	now          time.Time

	own, others int64 // bytes of this key, and of all others of the project
}

// read reads how much is stored.
func (r *traceRoom) read() error {
	return r.queryRow("SELECT coalesce(CAST(sum(CASE WHEN key_id = ?2 THEN bytes ELSE 0 END) AS BIGINT), 0), coalesce(CAST(sum(CASE WHEN key_id = ?2 THEN 0 ELSE bytes END) AS BIGINT), 0) FROM trace_room WHERE project = ?1",
		r.project, r.key).Scan(&r.own, &r.others)
}

// growTraces changes the byte count of a key's traces.
func (t *tx) growTraces(project, key string, by int64) error {
	_, err := t.exec("INSERT INTO trace_room (project, key_id, bytes) VALUES (?, ?, ?) ON CONFLICT (project, key_id) DO UPDATE SET bytes = trace_room.bytes + excluded.bytes", project, key, by)
	return err
}

// add stores a part, or returns why there is no space for it.
func (r *traceRoom) add(p *store.SpanPart, content []byte) (refused string, err error) {
	var trace int64
	spans, size := 0, int64(len(content)+store.TraceOverhead)
	expires := micros(r.now.Add(r.limits.Life))
	err = r.queryRow("UPDATE trace SET expires = greatest(trace.expires, ?) WHERE project = ? AND key_id = ? AND id = ? RETURNING seq, spans", expires, r.project, r.key, p.Trace).Scan(&trace, &spans)
	if ignoreNone(err) != nil {
		return "", err
	}
	if most := r.limits.OneTrace; most > 0 && spans+p.Spans > most {
		refused = fmt.Sprintf("the trace %s would have %d spans, more than %d", p.Trace, spans+p.Spans, most)
	} else if refused, err = r.make(size, trace); err != nil {
		return "", err
	}
	switch {
	case refused != "":
		_, err = r.exec("UPDATE trace SET refused = trace.refused + ? WHERE seq = ?", p.Spans, trace)
		return refused, err
	case trace == 0:
		if trace, err = r.inserted("INSERT INTO trace (project, key_id, id, spans, bytes, refused, awaited, expires) VALUES (?, ?, ?, ?, ?, 0, 0, ?) RETURNING seq",
			r.project, r.key, p.Trace, p.Spans, size, expires); err != nil {
			return "", err
		}
	default:
		if _, err := r.exec("UPDATE trace SET spans = trace.spans + ?, bytes = trace.bytes + ? WHERE seq = ?", p.Spans, size, trace); err != nil {
			return "", err
		}
	}
	if _, err := r.exec("INSERT INTO trace_part (trace, project, content) VALUES (?, ?, ?)", trace, r.project, content); err != nil {
		return "", err
	}
	r.own += size
	return "", r.growTraces(r.project, r.key, size)
}

// make evicts traces until size bytes fit, or returns why it cannot. It never evicts the trace
// keep.
func (r *traceRoom) make(size, keep int64) (refused string, err error) {
	for {
		ofKey := r.limits.KeyBytes > 0 && r.own+size > r.limits.KeyBytes
		ofAll := r.limits.Bytes > 0 && r.own+r.others+size > r.limits.Bytes
		if !ofKey && !ofAll {
			return "", nil
		}
		freed, err := r.free(ofKey, keep)
		switch {
		case err != nil:
			return "", err
		case freed > 0:
		case ofKey:
			return fmt.Sprintf("the spans of the key that somebody waits for take %d MiB already", r.own>>20), nil
		default:
			return fmt.Sprintf("the spans of the project that somebody waits for take %d MiB already", (r.own+r.others)>>20), nil
		}
	}
}

// free evicts some traces: of this key, or else of the key with the most bytes that has traces
// to evict.
func (r *traceRoom) free(ofKey bool, keep int64) (freed int64, err error) {
	if ofKey {
		return r.evict(r.key, keep)
	}
	keys, err := collect(r.db, one[string])(r.query("SELECT key_id FROM trace_room WHERE project = ? AND bytes > 0 ORDER BY bytes DESC, key_id", r.project))
	for _, key := range keys {
		if err == nil && freed == 0 {
			freed, err = r.evict(key, keep)
		}
	}
	return freed, err
}

// evict removes the oldest traces of a key that nobody waits for, and returns their bytes.
func (r *traceRoom) evict(key string, keep int64) (freed int64, err error) {
	list, err := collect(r.db, one[int64])(r.query(`DELETE FROM trace WHERE seq IN (SELECT seq FROM trace WHERE project = ? AND key_id = ? AND awaited < ? AND bytes > 0 AND seq <> ? ORDER BY seq LIMIT ?) RETURNING bytes`,
		r.project, key, micros(r.now), keep, evictedAtOnce))
	if err != nil {
		return 0, err
	}
	for _, n := range list {
		freed += n
	}
	if key == r.key {
		r.own -= freed
	} else {
		r.others -= freed
	}
	return freed, r.growTraces(r.project, key, -freed)
}

// AwaitTrace implements [store.Traces].
func (d project) AwaitTrace(ctx context.Context, key, trace string, life time.Duration) error {
	if err := errors.Join(d.name.Check(), (&store.SpanPart{Trace: trace, Spans: 1}).Check()); err != nil {
		return err
	}
	return d.change(ctx, "wait for a trace in", func(t *tx) error {
		until := micros(d.now().Add(life))
		_, err := t.exec(`INSERT INTO trace (project, key_id, id, spans, bytes, refused, awaited, expires) VALUES (?1, ?2, ?3, 0, 0, 0, ?4, ?4)
			ON CONFLICT (project, key_id, id) DO UPDATE SET awaited = greatest(trace.awaited, excluded.awaited), expires = greatest(trace.expires, excluded.expires)`,
			string(d.name), key, trace, until)
		return err
	})
}

// Trace implements [store.Traces].
func (d project) Trace(ctx context.Context, key, trace string, after int64) (out store.Trace, err error) {
	now := d.now()
	out.Next = after
	rows, err := d.query(ctx, `SELECT t.refused, t.awaited, p.seq, p.content FROM trace t LEFT JOIN trace_part p ON p.trace = t.seq AND p.seq > ?
		WHERE t.project = ? AND t.key_id = ? AND t.id = ? AND t.expires > ? ORDER BY p.seq LIMIT ?`, after, string(d.name), key, trace, micros(now), partsAtOnce)
	if err != nil {
		return out, d.failed("read", err)
	}
	defer rows.Close()
	for size := 0; rows.Next(); {
		var awaited, seq sql.NullInt64
		var content []byte
		if err := rows.Scan(&out.Refused, &awaited, &seq, &content); err != nil {
			return out, d.failed("read", err)
		}
		out.Awaited = fromMicros(awaited).After(now)
		if !seq.Valid {
			break
		}
		text, err := d.contents.unpack(ofSpans(d.name, key, trace), content)
		if err != nil {
			return out, d.failed("read", err)
		}
		out.Parts, out.Next = append(out.Parts, text), seq.Int64
		if size += len(text); size >= store.MaxPageBytes || len(out.Parts) == partsAtOnce {
			out.More = true
			break
		}
	}
	return out, d.failed("read", rows.Err())
}

// DropTrace implements [store.Traces].
func (d project) DropTrace(ctx context.Context, key, trace string) error {
	return d.change(ctx, "remove a trace from", func(t *tx) error {
		var bytes int64
		err := t.queryRow("DELETE FROM trace WHERE project = ? AND key_id = ? AND id = ? RETURNING bytes", string(d.name), key, trace).Scan(&bytes)
		if err != nil || bytes == 0 {
			return ignoreNone(err)
		}
		return t.growTraces(string(d.name), key, -bytes)
	})
}

// pruneTraces removes expired traces, and the counts of keys without traces.
func (d *DB) pruneTraces(ctx context.Context, now time.Time) error {
	type gone struct {
		project, key string
		bytes        int64
	}
	for {
		n := 0
		err := d.change(ctx, "remove what is old from", func(t *tx) error {
			list, err := collect(d, func(row scanner) (g gone, err error) { return g, row.Scan(&g.project, &g.key, &g.bytes) })(t.query("DELETE FROM trace WHERE expires <= ?1 AND seq IN (SELECT seq FROM trace WHERE expires <= ?1 LIMIT ?2) RETURNING project, key_id, bytes", micros(now), pruneStep))
			if err != nil {
				return err
			}
			n = len(list)
			for _, g := range list {
				if g.bytes == 0 {
					continue
				}
				if err := t.growTraces(g.project, g.key, -g.bytes); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n < pruneStep {
			break
		}
	}
	_, err := d.removeAll(ctx, "DELETE FROM trace_room WHERE bytes = 0 AND (project, key_id) IN (SELECT project, key_id FROM trace_room WHERE bytes = ? LIMIT ?)", 0)
	return err
}

// traceRules are the consistency rules for the byte counts of traces.
func traceRules() []rule {
	return []rule{{says: "traces of the key %s: %d bytes by its count, %d there", query: `SELECT key_id, CAST(sum(n) AS BIGINT), CAST(sum(m) AS BIGINT) FROM
		(SELECT project, key_id, bytes AS n, 0 AS m FROM trace_room UNION ALL SELECT project, key_id, 0, bytes FROM trace) counted
		GROUP BY project, key_id HAVING sum(n) <> sum(m) ORDER BY key_id`}}
}
