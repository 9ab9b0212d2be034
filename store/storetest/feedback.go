package storetest

import (
	"fmt"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// thumbs lists thumbs in a short form.
func (b *bench) thumbs(f store.FeedbackFilter) string {
	b.Helper()
	var list []any
	for _, f := range all(b, 2, pagesOf(b.ListFeedback, f)) {
		list = append(list, fmt.Sprintf("%s(%s)/%s:%d", f.Event, f.Agent, f.User, f.Value))
	}
	return words(list...)
}

var feedbackTests = []test{
	{name: "add", reopens: true, run: func(b *bench) {
		n := eventOf("e1")
		n.TraceID = "t1"
		b.add(n)
		for i, f := range []ingest.Feedback{thumb("e1", "ana", 1), thumb("e1", "ben", 1), thumb("later", "ana", -1), {TraceID: "t1", Value: -1, Time: start}} {
			b.equal("replaced", must(b.AddFeedback(b.Context(), f))(b), false)
			b.clock.add(time.Duration(i) * time.Second)
		}
		b.equal("replaced", must(b.AddFeedback(b.Context(), thumb("e1", "ana", -1)))(b), true)
		b.reopen()
		b.equal("listed", b.thumbs(store.FeedbackFilter{}), "e1(support)/ana:-1 e1(support)/:-1 later()/ana:-1 e1(support)/ben:1")
		b.equal("of the event", b.thumbs(store.FeedbackFilter{Events: []string{"e1"}}), "e1(support)/ana:-1 e1(support)/:-1 e1(support)/ben:1")
		b.equal("of the agent", b.thumbs(store.FeedbackFilter{Agent: "support", Until: start}), "")
		e := must(b.Event(b.Context(), "e1"))(b)
		b.equal("thumbs", words(e.Up, e.Down), "1 2")
		first := must(b.ListFeedback(b.Context(), store.FeedbackFilter{}, store.Page{Limit: 1}))(b).Items[0]
		b.equal("comment", words(first.Comment, first.Time == start, first.Received == start.Add(6*time.Second)), "because of e1 true true")
		b.add(eventOf("later"))
		b.equal("of what came later", b.thumbs(store.FeedbackFilter{Events: []string{"later"}}), "later(support)/ana:-1")
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, f := range []ingest.Feedback{{Value: 1, Time: start}, {Event: "e", TraceID: "t", Value: 1, Time: start}, {Event: "e", Value: 2, Time: start}, {Event: "e", Value: 1}, {Event: "e\n", Value: 1, Time: start}} {
			b.wants(proviso.Invalid, errorOf(b.AddFeedback(b.Context(), f)))
		}
	}},
	{name: "forget", run: func(b *bench) {
		b.watch("w", "{}")
		var events []store.NewEvent
		for i := range 450 {
			n := eventOf(fmt.Sprint("e", i))
			n.Conversation = "c"
			if i%3 == 0 {
				n.User = "ben"
			}
			n.Jobs = []store.EventJob{{Watch: "w", Probability: 1}}
			events = append(events, n)
		}
		b.add(events...)
		leases := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 2})
		b.settle("w", leases[0], verdictOn("e0", "tone", proviso.Fail))
		b.settle("w", leases[1], verdictOn("e1", "tone", proviso.Fail))
		must(b.AddFeedback(b.Context(), thumb("e1", "ana", 1)))(b)
		must(b.AddFeedback(b.Context(), thumb("e0", "eve", 1)))(b)
		must(b.AddFeedback(b.Context(), thumb("e0", "ana", 1)))(b)
		other := b.In("other")
		must(other.AddEvents(b.Context(), []store.NewEvent{eventOf("e1")}))(b)

		got := must(b.ForgetUser(b.Context(), "eve"))(b)
		b.equal("forgotten", got, store.Forgotten{Events: 300, Feedback: 2, Verdicts: 1})
		b.equal("forgotten again", must(b.ForgetUser(b.Context(), "eve"))(b), store.Forgotten{})
		b.equal("left", len(b.eventIDsBy(store.EventFilter{}, 100)), 150)
		b.wants(proviso.NotFound, errorOf(b.Event(b.Context(), "e1")))
		b.equal("thumbs", b.thumbs(store.FeedbackFilter{}), "e0(support)/ana:1")
		for _, v := range must(b.ListVerdicts(b.Context(), store.VerdictFilter{Watch: "w"}, store.Page{}))(b).Items {
			b.equal("verdict on "+v.Event, words(v.Status, v.Reason), map[string]string{"e0": "fail because", "e1": "fail "}[v.Event])
		}
		b.equal("jobs", must(b.WatchHealth(b.Context(), "w", start))(b).Pending, 149)
		b.equal("counted", must(b.CountTraffic(b.Context(), store.TrafficFilter{From: start.Add(-time.Hour), To: start, Step: time.Hour}))(b)[0].Events, 450)
		must(other.Event(b.Context(), "e1"))(b)
		b.wants(proviso.Invalid, errorOf(b.ForgetUser(b.Context(), "")))
	}},
}

const day = 24 * time.Hour

var oldTrafficTests = []test{
	{name: "classes", run: func(b *bench) {
		b.watch("w", "{}")
		r := store.Retention{Contents: 7 * day, Failures: 30 * day, Verdicts: 90 * day, Rollups: 400 * day}
		for i := range 700 {
			n := eventOf(fmt.Sprint("e", i))
			if i == 650 {
				n.Error = "x"
			}
			b.add(n)
		}
		b.fill("w", "e7", "e8")
		leases := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 2})
		b.settle("w", leases[0], verdictOn("e7", "tone", proviso.Fail))
		b.settle("w", leases[1], verdictOn("e8", "tone", proviso.Pass))
		must(b.AddFeedback(b.Context(), thumb("e7", "eve", -1)))(b)
		b.equal("at first", must(b.Prune(b.Context(), r))(b), store.Pruned{})
		b.clock.add(8 * day)
		b.add(eventOf("young"))
		b.equal("after 8 days", must(b.Prune(b.Context(), r))(b), store.Pruned{Contents: 698})
		b.equal("again", must(b.Prune(b.Context(), r))(b), store.Pruned{})
		b.equal("kept", b.eventIDs(store.EventFilter{Kept: true, Since: start.Add(-day)}), "young e650 e7")
		e := must(b.Event(b.Context(), "e8"))(b)
		b.equal("without its texts", words(e.Kept, e.Output, e.User), "false  eve")
		b.equal("comment", must(b.ListFeedback(b.Context(), store.FeedbackFilter{}, store.Page{}))(b).Items[0].Comment, "")
		b.clock.add(23 * day)
		b.equal("after 31 days", must(b.Prune(b.Context(), r))(b), store.Pruned{Contents: 3})
		b.clock.add(60 * day)
		b.equal("after 91 days", must(b.Prune(b.Context(), r))(b), store.Pruned{Events: 700, Verdicts: 2})
		b.equal("left", b.eventIDs(store.EventFilter{})+b.thumbs(store.FeedbackFilter{}), "young")
		counts := func() int {
			return len(must(b.CountTraffic(b.Context(), store.TrafficFilter{From: start.Add(-day), To: start.Add(day), Step: time.Hour}))(b))
		}
		b.equal("counts", counts(), 1)
		b.clock.add(310 * day)
		b.equal("after 401 days", must(b.Prune(b.Context(), r))(b), store.Pruned{Events: 1})
		b.equal("counts", words(counts(), len(all(b, 1, pagesOf(b.ListPrompts, "support")))), "0 1")
		b.clock.add(8 * day)
		must(b.Prune(b.Context(), r))(b)
		b.equal("prompts", len(all(b, 1, pagesOf(b.ListPrompts, "support"))), 0)
	}},
}

// eventQueueTests test label queues of events.
var eventQueueTests = []test{
	{name: "labels", run: func(b *bench) {
		b.add(eventOf("e0"), eventOf("e1"), eventOf("e2"))
		q := store.NewLabelQueue{Name: "q", Blind: true, CreatedBy: "key_1"}
		for i := range 3 {
			q.Items = append(q.Items, label.Item{Event: fmt.Sprint("e", i), Assertion: "tone", Stratum: label.Random, Population: 3})
		}
		on := func(by, event, lease string) error {
			n := store.NewLabel{CreatedBy: "key_1", Lease: lease, Label: label.Label{By: by, Verdict: label.Fail, Queue: "q", Subject: label.Subject{Event: event, Assertion: "tone"}}}
			return errorOf(b.AddLabel(b.Context(), n))
		}
		b.ok(on("ben", "e1", "")) // before the queue exists
		got, _, err := b.PutLabelQueue(b.Context(), q)
		b.ok(err)
		b.equal("queue", words(got.Run == "", got.Size, got.Done), "true 3 1")
		take := func(by string) *store.Lease {
			return must(b.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: by, For: time.Minute}))(b)
		}
		l := take("ana")
		b.equal("first", words(l.Item.Event, l.Item.Index, l.Item.Assertion, l.Left, l.Mine), "e0 0 tone 2 0")
		b.wants(proviso.Conflict, on("ana", "e2", l.ID))
		b.ok(on("ana", "e0", l.ID))
		said := must(b.ListLabels(b.Context(), store.LabelFilter{Event: "e0"}, store.Page{}))(b).Items
		b.equal("label", words(len(said), said[0].Event, said[0].Stratum, said[0].Population), "1 e0 random 3")
		b.equal("done", must(b.LabelQueue(b.Context(), "q"))(b).Done, 2)
		l = take("ana")
		b.equal("second", words(l.Item.Event, l.Left, l.Mine), "e2 1 1")
		b.clock.add(8 * day)
		must(b.Prune(b.Context(), store.Retention{Contents: 7 * day}))(b)
		b.equal("without texts", take("ana") == nil, true)
		must(b.LabelQueue(b.Context(), "q"))(b)
		b.clock.add(90 * day)
		must(b.Prune(b.Context(), store.Retention{Verdicts: 90 * day}))(b)
		b.wants(proviso.NotFound, errorOf(b.LabelQueue(b.Context(), "q")))
		b.equal("labels stay", len(must(b.ListLabels(b.Context(), store.LabelFilter{Events: true}, store.Page{}))(b).Items), 2)
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, q := range []store.NewLabelQueue{
			{Name: "q", Items: []label.Item{{Index: 1}}}, {Name: "q", Run: "run_1", Items: []label.Item{{Event: "e"}}}, {Name: "q", Items: []label.Item{{Event: "e", Index: 1}}},
		} {
			b.wants(proviso.Invalid, errorOf(b.PutLabelQueue(b.Context(), q)))
		}
	}},
}
