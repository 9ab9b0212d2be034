package sqldb

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// maxDimensions limits the dimensions of an agent's traffic in an hour, since clients choose
// the names in segment.
const maxDimensions = 24

// trafficOf is the key of a row of traffic_hour.
type trafficOf struct {
	agent, hour      int64
	dimension, value string
}

// trafficSum is the sum of events.
type trafficSum struct {
	events, failed, tokens, latency int64
	cost                            float64
}

// count adds an event to the sums of its hour.
func (x *addingEvents) count(agent int64, e *eventRow) {
	of := trafficOf{agent: agent, hour: e.Time.Unix() / (60 * 60)}
	add := func(by store.TrafficBy, value string) {
		of.dimension, of.value = string(by), value
		s := x.hours[of]
		if s == nil {
			s = &trafficSum{}
			x.hours[of] = s
		}
		s.events++
		if e.Error != "" {
			s.failed++
		}
		s.tokens += e.Usage.Total
		s.latency += e.Latency.Microseconds()
		s.cost += e.Cost
	}
	add(store.ByAll, "")
	add(store.ByAgentVersion, e.Version)
	add(store.ByModel, e.Model)
	add(store.ByPrompt, e.prompt)
	for name, value := range e.Segment {
		add(store.BySegmentOf(name), value)
	}
}

// addTraffic writes the sums. Values beyond the limit of an hour are summed as others.
func (x *addingEvents) addTraffic() error {
	order := slices.SortedFunc(maps.Keys(x.hours), func(a, b trafficOf) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.hour, b.hour), cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.value, b.value))
	})
	there, err := x.updateTraffic(order)
	for _, of := range order {
		if err == nil && !there[of] {
			err = x.newTraffic(of, x.hours[of])
		}
	}
	return err
}

// updateTraffic adds the sums to existing rows, and returns which rows exist.
func (x *addingEvents) updateTraffic(order []trafficOf) (there map[trafficOf]bool, err error) {
	there = map[trafficOf]bool{}
	rows := make([][]any, len(order))
	for i, of := range order {
		s := x.hours[of]
		rows[i] = []any{of.agent, of.hour, of.dimension, of.value, s.events, s.failed, s.tokens, s.cost, s.latency}
	}
	table, args, ok := x.db.engine.Columns(rows)
	if !ok {
		for i, of := range order {
			s := x.hours[of]
			n, err := x.changed(`UPDATE traffic_hour SET events = events + ?, failed = failed + ?, tokens = tokens + ?, cost = cost + ?, latency = latency + ?
				WHERE agent = ? AND hour = ? AND dimension = ? AND value = ?`, s.events, s.failed, s.tokens, s.cost, s.latency, of.agent, of.hour, of.dimension, of.value)
			if err != nil {
				return nil, err
			}
			there[order[i]] = n > 0
		}
		return there, nil
	}
	list, err := collect(x.db, func(row scanner) (of trafficOf, err error) {
		return of, row.Scan(&of.agent, &of.hour, &of.dimension, &of.value)
	})(x.query(`UPDATE traffic_hour SET events = traffic_hour.events + v.events, failed = traffic_hour.failed + v.failed, tokens = traffic_hour.tokens + v.tokens, cost = traffic_hour.cost + v.cost,
		latency = traffic_hour.latency + v.latency FROM `+table+` AS v (agent, hour, dimension, value, events, failed, tokens, cost, latency)
		WHERE traffic_hour.agent = v.agent AND traffic_hour.hour = v.hour AND traffic_hour.dimension = v.dimension AND traffic_hour.value = v.value
		RETURNING v.agent, v.hour, v.dimension, v.value`, args...))
	for _, of := range list {
		there[of] = true
	}
	return there, err
}

func (x *addingEvents) newTraffic(of trafficOf, s *trafficSum) error {
	var values, dimensions int
	err := x.queryRow("SELECT count(*) FROM traffic_hour WHERE agent = ? AND hour = ? AND dimension = ?", of.agent, of.hour, of.dimension).Scan(&values)
	if err == nil && values == 0 {
		err = x.queryRow("SELECT count(DISTINCT dimension) FROM traffic_hour WHERE agent = ? AND hour = ?", of.agent, of.hour).Scan(&dimensions)
	}
	if err != nil || dimensions >= maxDimensions {
		return err
	}
	if values >= store.MaxTrafficValues {
		of.value = store.OtherSegment
	}
	_, err = x.exec(`INSERT INTO traffic_hour (agent, hour, dimension, value, events, failed, tokens, cost, latency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (agent, hour, dimension, value) DO UPDATE SET events = traffic_hour.events + excluded.events, failed = traffic_hour.failed + excluded.failed, tokens = traffic_hour.tokens + excluded.tokens,
		cost = traffic_hour.cost + excluded.cost, latency = traffic_hour.latency + excluded.latency`, of.agent, of.hour, of.dimension, of.value, s.events, s.failed, s.tokens, s.cost, s.latency)
	return err
}

// CountTraffic implements [store.Traffic].
func (d project) CountTraffic(ctx context.Context, f store.TrafficFilter) ([]store.TrafficCount, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	from, step := f.From.Unix()/(60*60), int64(f.Step/time.Hour)
	to := (f.To.Unix() + 60*60 - 1) / (60 * 60)
	return collect(d, func(row scanner) (c store.TrafficCount, err error) {
		var bucket int64
		err = row.Scan(&bucket, &c.Agent, &c.Value, &c.Events, &c.Failed, &c.Tokens, &c.Cost, micro(&c.Latency))
		c.Start = time.Unix((from+bucket*step)*60*60, 0).UTC()
		return c, err
	})(d.query(ctx, `SELECT (h.hour - ?1) / ?2, a.name, h.value, sum(h.events), sum(h.failed), sum(h.tokens), sum(h.cost), sum(h.latency)
		FROM traffic_agent a CROSS JOIN traffic_hour h ON h.agent = a.id WHERE a.project = ?3 AND (?4 = '' OR a.name = ?4) AND h.dimension = ?5 AND h.hour >= ?1 AND h.hour < ?6
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, from, step, string(d.name), f.Agent, string(f.By), to))
}

// ListAgents implements [store.Traffic].
func (d project) ListAgents(ctx context.Context, p store.Page) (store.List[store.Agent], error) {
	c := d.conditions("project")
	return page(ctx, d.reader, "agents", p, "SELECT name, first, last, events FROM traffic_agent", "name", &c, func(row scanner) (a store.Agent, name string, err error) {
		err = row.Scan(&a.Name, at(&a.First), at(&a.Last), &a.Events)
		return a, a.Name, err
	}, nil)
}

// ListPrompts implements [store.Traffic].
func (d project) ListPrompts(ctx context.Context, agent string, p store.Page) (store.List[store.AgentPrompt], error) {
	var of int64
	if err := d.queryRow(ctx, "SELECT id FROM traffic_agent WHERE project = ? AND name = ?", string(d.name), agent).Scan(&of); err != nil {
		return store.List[store.AgentPrompt]{}, d.failed("read", noRow(err, "agent", agent))
	}
	c := conditions{}
	c.add("agent = ?", of)
	return page(ctx, d.reader, "prompts", p, "SELECT id, hash, first, last, events, body FROM traffic_prompt", "id DESC", &c, func(row scanner) (p store.AgentPrompt, id int64, err error) {
		var body, text []byte
		if err = row.Scan(&id, &p.Hash, at(&p.First), at(&p.Last), &p.Events, &body); err == nil && body != nil {
			text, err = d.contents.unpack(ofPrompt(p.Hash), body)
		}
		p.Text = string(text)
		return p, id, err
	}, func(p *store.AgentPrompt) int { return len(p.Text) })
}
