package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// anchor is an output that is judged repeatedly, so that a change of its verdicts is a change
// of the judge.
type anchor struct {
	id                     string
	input, output, context string
	metadata               *value.Object
}

// anchorVerdict is an anchor's verdict on one assertion, as rounds store it.
type anchorVerdict struct {
	Anchor    string `json:"anchor"`
	Assertion string `json:"assertion"`
	Status    string `json:"status"`
	Before    string `json:"before"` // the first verdict by this set, to compare with
}

// maxAnchors limits the anchors of a watch.
const maxAnchors = 2000

// readAnchors reads the anchors in the body of a watch.
func readAnchors(d *decoder, at string, v any) []anchor {
	list, ok := v.([]any)
	if !ok || len(list) > maxAnchors {
		d.mistake(at, "anchors are a list of at most %d objects with output, and usually with input", maxAnchors)
		return nil
	}
	var out []anchor
	seen := map[string]bool{}
	for i, item := range list {
		place := document.Join(at, i)
		o, ok := item.(*value.Object)
		if !ok {
			d.wants(place, "an object with output", item)
			continue
		}
		a := anchor{}
		for key, v := range o.All() {
			to := map[string]*string{"id": &a.id, "input": &a.input, "output": &a.output, "context": &a.context}[key]
			switch {
			case to != nil:
				if *to, ok = v.(string); !ok || len(*to) > judge.MaxText {
					d.wants(document.Join(place, key), "text of at most 2 MiB", v)
				}
			case key == "metadata":
				a.metadata, _ = v.(*value.Object)
			default:
				d.unknown(place, key, []string{"id", "input", "output", "context", "metadata"})
			}
		}
		if a.output == "" {
			d.mistake(place, "output is missing")
		}
		if a.id == "" {
			a.id = anchorID(&a)
		}
		if seen[a.id] {
			d.mistake(place, "there is another anchor with this id, or with the same texts")
		}
		seen[a.id] = true
		out = append(out, a)
	}
	return out
}

// anchorID derives an id for an anchor without one: a hash of its texts.
func anchorID(a *anchor) string {
	text, _ := json.Marshal([]string{a.input, a.output, a.context}) // strings always marshal
	return ingest.PromptHash(string(text))[len("sha256:"):][:16]
}

// anchorPause is the wait after a round that ended early.
const anchorPause = 10 * time.Minute

// anchorRound returns a judged round of anchors that the charts do not contain yet, and starts
// the next round if it is due. Judging takes long, and charts do not wait for it.
func (m *monitoring) anchorRound(ctx context.Context, live *liveWatch) (*store.AnchorRound, []monitor.AnchorResult) {
	if len(live.anchors) == 0 {
		return nil, nil
	}
	work := m.workOf(live.key)
	if is := work.now(); is.round != nil || is.judging || m.now().Before(is.tried) {
		return is.round, is.results
	}
	rounds, err := m.s.o.Store.In(live.key.project).Anchors(ctx, live.Name, 1)
	if err != nil {
		m.failed(ctx, "read anchors", live.key.project, err)
		return nil, nil
	}
	set, key, err := m.opened(ctx, live, work)
	if err != nil || set == nil {
		m.failed(ctx, "open the set of anchors", live.key.project, err)
		return nil, nil
	}
	var last *store.AnchorRound
	if len(rounds) > 0 {
		last = &rounds[0]
	}
	if !m.anchorsDue(live, last, set) || !m.mayPay(ctx, live) {
		return nil, nil
	}
	work.judge(true, nil, nil, time.Time{})
	m.loops.Go(func() {
		m.guarded(ctx, func(ctx context.Context) { m.judgeAnchors(ctx, live, set, key, last, work) })
	})
	return nil, nil
}

// anchored drops a round that the charts contain.
func (m *monitoring) anchored(live *liveWatch, round *store.AnchorRound) {
	if round != nil {
		m.workOf(live.key).judge(false, nil, nil, time.Time{})
	}
}

// judge records the progress of judging anchors.
func (w *watchWork) judge(judging bool, round *store.AnchorRound, results []monitor.AnchorResult, again time.Time) {
	w.change(func(x *watchState) { x.judging, x.round, x.results, x.tried = judging, round, results, again })
}

// anchorsDue reports whether the anchors of a watch must be judged: for the first time, on
// schedule, or because the judge or the set changed.
func (m *monitoring) anchorsDue(live *liveWatch, last *store.AnchorRound, set *watchedSet) bool {
	if last == nil || last.Judge != m.s.o.Judge.Identity() || last.Set != set.hash {
		return true
	}
	every := live.conf.Anchors.Every
	return every > 0 && !m.now().Before(last.At.Add(every))
}

// mayPay reports whether any of the watch's budget is left today.
func (m *monitoring) mayPay(ctx context.Context, live *liveWatch) bool {
	budget := live.conf.Sample.BudgetPerDay
	if budget <= 0 {
		return true
	}
	h, err := m.s.o.Store.In(live.key.project).WatchHealth(ctx, live.Name, m.now())
	return err == nil && h.Spend.Spent+h.Spend.Uncertain+h.Spend.Reserved < budget
}

// judgeAnchors judges all anchors of a watch. A cached answer would hide a change of the judge,
// so each round is a separate sample. A round that ends early, because the judge is
// unavailable, is retried later.
func (m *monitoring) judgeAnchors(ctx context.Context, live *liveWatch, set *watchedSet, key store.Key, last *store.AnchorRound, work *watchWork) {
	began := m.now()
	c := &chunk{live: live, set: set, key: key, repeat: int(began.Unix())}
	before := firstVerdicts(last, set)
	cost := 0.0
	var list []anchorVerdict
	for _, a := range live.anchors {
		if ctx.Err() != nil {
			work.judge(false, nil, nil, time.Time{})
			return
		}
		e := &ingest.Event{ID: a.id, Agent: live.conf.Match.Agent, Input: a.input, Output: a.output, Context: a.context, Metadata: a.metadata}
		resp, account, err := m.decide(ctx, c, e)
		cost += m.s.paid(ctx, live.key.project, account, "watch", live.Name)
		if t, why := account.trouble(); err != nil || t != "" {
			if t != "" {
				work.stuck(t, why, m.now())
			}
			work.judge(false, nil, nil, m.now().Add(anchorPause))
			return
		}
		for _, r := range resp.Results {
			v := anchorVerdict{Anchor: a.id, Assertion: r.ID, Status: r.Status, Before: r.Status}
			if first := before[[2]string{v.Anchor, v.Assertion}]; first != "" {
				v.Before = first
			}
			list = append(list, v)
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		m.failed(ctx, "keep anchors", live.key.project, err)
	}
	identity := m.s.o.Judge.Identity()
	var results []monitor.AnchorResult
	for _, v := range list {
		results = append(results, monitor.AnchorResult{Anchor: v.Anchor, Assertion: v.Assertion, Judge: identity, Before: proviso.StatusNamed(v.Before), Now: proviso.StatusNamed(v.Status)})
	}
	work.judge(false, &store.AnchorRound{At: began, Judge: identity, Set: set.hash, Cost: cost, Results: data}, results, time.Time{})
}

// firstVerdicts returns the verdicts to compare a round with: for each assertion and anchor,
// the first decided verdict by the same set.
func firstVerdicts(last *store.AnchorRound, set *watchedSet) map[[2]string]string {
	first := map[[2]string]string{}
	var list []anchorVerdict
	if last == nil || last.Set != set.hash || json.Unmarshal(last.Results, &list) != nil {
		return first
	}
	for _, v := range list {
		if v.Before != proviso.Errored.String() {
			first[[2]string{v.Anchor, v.Assertion}] = v.Before
		}
	}
	return first
}
