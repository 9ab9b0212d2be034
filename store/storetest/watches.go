package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// watch stores a watch.
func (b *bench) watch(name, content string) store.Watch {
	b.Helper()
	w, _, err := b.PutWatch(b.Context(), store.NewWatch{Name: name, Content: []byte(content), CreatedBy: "key_1"})
	b.ok(err)
	return w
}

// fill enqueues events for a watch.
func (b *bench) fill(watch string, events ...string) {
	b.Helper()
	var jobs []store.Backfill
	for _, e := range events {
		jobs = append(jobs, store.Backfill{Event: e, Probability: 0.5})
	}
	b.equal("enqueued", must(b.EnqueueEvents(b.Context(), watch, jobs))(b), len(events))
}

// leaseEvents leases jobs for a minute.
func (b *bench) leaseEvents(r store.LeaseEvents) []store.EventLease {
	b.Helper()
	if r.Lease == 0 {
		r.Lease = time.Minute
	}
	return must(b.LeaseEvents(b.Context(), r))(b)
}

// verdictOn returns a verdict on an event.
func verdictOn(event, assertion string, status proviso.Status) store.WatchVerdict {
	return store.WatchVerdict{Event: event, Conversation: "c-" + event, Agent: "support", Assertion: assertion, Set: "s1", Version: "v1", Model: "m", Prompt: "p", Judge: "judge:a", Segment: "de",
		Time: start.Add(-time.Hour), Probability: 0.5, Status: status, Reason: "because", Cost: 0.25}
}

// settle ends a lease with a verdict.
func (b *bench) settle(watch string, l store.EventLease, verdicts ...store.WatchVerdict) int {
	b.Helper()
	return must(b.SettleEvents(b.Context(), watch, []store.EventResult{{EventLease: l, Verdicts: verdicts, Cost: 0.25}}))(b)
}

// words joins values with spaces.
func words(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

func eventsOf(leases []store.EventLease) string {
	var names []string
	for _, l := range leases {
		names = append(names, l.Event)
	}
	return strings.Join(names, " ")
}

var watchTests = []test{
	{name: "versions", reopens: true, run: func(b *bench) {
		one := b.watch("tone", `{"a":1}`)
		b.equal("first", words(one.Number, one.Name, string(one.Content), one.CreatedBy, one.Salt != "", one.Created == start), `1 tone {"a":1} key_1 true true`)
		b.clock.add(time.Minute)
		again, created, err := b.PutWatch(b.Context(), store.NewWatch{Name: "tone", Content: []byte(`{"a":1}`)})
		b.ok(err)
		b.equal("the same again", words(again.Number, created, again.Updated == start), "1 false true")
		two := b.watch("tone", `{"a":2}`)
		b.equal("second", words(two.Number, two.Salt == one.Salt, two.Hash == one.Hash, two.Updated.Sub(start)), "2 true false 1m0s")
		b.reopen()
		b.equal("current", must(b.Watch(b.Context(), "tone"))(b), two)
		versions := must(b.WatchVersions(b.Context(), "tone", store.Page{}))(b)
		b.equal("versions", words(len(versions.Items), versions.Items[0].Number, versions.Items[1].Hash == one.Hash), "2 2 true")
		b.wants(proviso.NotFound, errorOf(b.Watch(b.Context(), "other")))
		b.wants(proviso.NotFound, errorOf(b.WatchVersions(b.Context(), "other", store.Page{})))
	}},
	{name: "names", run: func(b *bench) {
		for _, name := range names {
			b.equal("name", b.watch(name, "{}").Name, name)
		}
		listed := all(b, 5, b.ListWatches)
		b.equal("listed", len(listed), len(names))
		for _, name := range notNames {
			b.wants(proviso.Invalid, errorOf(b.PutWatch(b.Context(), store.NewWatch{Name: name, Content: []byte("{}")})))
		}
	}},
	{name: "removal", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1", "e2")
		l := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1, Reserve: 1, Budget: 2})
		b.settle("w", l[0], verdictOn("e1", "a", proviso.Fail))
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{Cursor: 1, State: []byte("s"), Alarms: []store.Alarm{alarmOf("alarm_1")}, Notices: []store.NewNotice{{Alarm: "alarm_1", Target: "t", Event: "opened", Body: []byte("{}")}}}))
		b.ok(b.DeleteWatch(b.Context(), "w"))
		b.wants(proviso.NotFound, b.DeleteWatch(b.Context(), "w"))
		b.wants(proviso.NotFound, errorOf(b.SettleEvents(b.Context(), "w", nil)))
		b.equal("alarms", len(must(b.ListAlarms(b.Context(), store.AlarmFilter{}, store.Page{}))(b).Items), 0)
		b.equal("notices", len(must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)), 0)
		b.watch("w", "{}")
		b.equal("a new watch has", words(len(b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 10})), len(must(b.Observations(b.Context(), "w", 0, 10))(b))), "0 0")
		b.equal("what it spent that day", must(b.WatchHealth(b.Context(), "w", start))(b).Spend.Spent, 0.25)
	}},
	{name: "projects", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1")
		other := b.In("other")
		b.wants(proviso.NotFound, errorOf(other.Watch(b.Context(), "w")))
		b.ok(errorOf(other.PutWatch(b.Context(), store.NewWatch{Name: "w", Content: []byte("{}")})))
		b.equal("jobs of the other", len(must(other.LeaseEvents(b.Context(), store.LeaseEvents{Watch: "w", Limit: 5, Lease: time.Minute}))(b)), 0)
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("s"), Alarms: []store.Alarm{alarmOf("alarm_1")}}))
		b.wants(proviso.NotFound, errorOf(other.Alarm(b.Context(), "alarm_1")))
		b.wants(proviso.NotFound, errorOf(other.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ana"})))
		b.wants(proviso.Conflict, other.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("s"), Alarms: []store.Alarm{alarmOf("alarm_1")}}))
	}},
}

var eventJobTests = []test{
	{name: "lease and settle", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1", "e2", "e3")
		b.equal("again", must(b.EnqueueEvents(b.Context(), "w", []store.Backfill{{Event: "e1", Probability: 1}}))(b), 0)
		first := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 2})
		b.equal("leased", eventsOf(first), "e1 e2")
		b.equal("a lease", words(first[0].Probability, first[0].Attempt, first[0].Backfill, first[0].Enqueued == start), "0.5 1 true true")
		b.equal("the rest", eventsOf(b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 2})), "e3")
		b.equal("added", b.settle("w", first[0], verdictOn("e1", "a", proviso.Pass), verdictOn("e1", "b", proviso.Fail)), 2)
		b.equal("added again", b.settle("w", first[0], verdictOn("e1", "a", proviso.Pass), verdictOn("e1", "b", proviso.Fail)), 0)
		h := must(b.WatchHealth(b.Context(), "w", start))(b)
		b.equal("health", words(h.Pending, h.Leased, h.LastVerdict == start, h.Oldest == start, h.Spend.Calls), "2 2 true true 1")
		list := must(b.ListVerdicts(b.Context(), store.VerdictFilter{Watch: "w"}, store.Page{}))(b).Items
		b.equal("verdicts", len(list), 2)
		v := list[1]
		b.equal("a verdict", words(v.Event, v.Conversation, v.Agent, v.Assertion, v.Set, v.Version, v.Model, v.Prompt, v.Judge, v.Segment, v.Time == start.Add(-time.Hour), v.At == start, v.Probability, v.Status, v.Reason, v.Cost),
			"e1 c-e1 support a s1 v1 m p judge:a de true true 0.5 pass because 0.25")
		evaluated := []store.Backfill{{Event: "e1", Probability: 1}, {Event: "e9", Probability: 1}}
		b.equal("what has no verdict on an assertion", must(b.EnqueueEvents(b.Context(), "w", evaluated, "x", "a"))(b), 1)
		b.equal("what has none on another one", must(b.EnqueueEvents(b.Context(), "w", evaluated, "x"))(b), 1)
		b.wants(proviso.NotFound, errorOf(b.LeaseEvents(b.Context(), store.LeaseEvents{Watch: "other", Limit: 1, Lease: time.Minute})))
		b.wants(proviso.NotFound, errorOf(b.EnqueueEvents(b.Context(), "other", nil)))
		b.wants(proviso.Invalid, errorOf(b.EnqueueEvents(b.Context(), "w", []store.Backfill{{Event: "x"}})))
	}},
	{name: "expired leases", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1")
		r := store.LeaseEvents{Watch: "w", Limit: 5, Reserve: 1, Budget: 10}
		late := b.leaseEvents(r)
		b.equal("nothing", len(b.leaseEvents(r)), 0)
		b.clock.add(2 * time.Minute)
		second := b.leaseEvents(r)
		b.equal("again", words(eventsOf(second), second[0].Attempt), "e1 2")
		h := must(b.WatchHealth(b.Context(), "w", b.clock.Now()))(b)
		b.equal("spend", fmt.Sprintf("%v %v %v %d", h.Spend.Reserved, h.Spend.Spent, h.Spend.Uncertain, h.Spend.Lost), "1 0 1 1")
		b.equal("late verdicts are added", b.settle("w", late[0], verdictOn("e1", "a", proviso.Pass)), 1)
		b.equal("and not twice", b.settle("w", second[0], verdictOn("e1", "a", proviso.Fail)), 0)
		h = must(b.WatchHealth(b.Context(), "w", b.clock.Now()))(b)
		b.equal("in the end", fmt.Sprintf("%d %v %v %v %d", h.Pending, h.Spend.Reserved, h.Spend.Spent, h.Spend.Uncertain, h.Spend.Calls), "0 0 0.5 0.75 1")
	}},
	{name: "a deadly event", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1")
		for range store.MaxAttempts {
			b.equal("leased", len(b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1})), 1)
			b.clock.add(2 * time.Minute)
		}
		b.equal("given up", len(b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1})), 0)
		h := must(b.WatchHealth(b.Context(), "w", b.clock.Now()))(b)
		b.equal("health", words(h.Pending, h.Error), "0 the process ended 5 times while evaluating an event")
	}},
	{name: "tried again and released", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1", "e2")
		r := store.LeaseEvents{Watch: "w", Limit: 5, Reserve: 1, Budget: 10}
		l := b.leaseEvents(r)
		b.ok(errorOf(b.SettleEvents(b.Context(), "w", []store.EventResult{{EventLease: l[0], Error: "no answer", Again: start.Add(time.Minute), Cost: 0.5}})))
		b.ok(b.ReleaseEvents(b.Context(), "w", l[1:]))
		b.ok(b.ReleaseEvents(b.Context(), "w", l[1:]))
		h := must(b.WatchHealth(b.Context(), "w", start))(b)
		b.equal("health", fmt.Sprintf("%d %d %s %v %v", h.Pending, h.Leased, h.Error, h.Spend.Reserved, h.Spend.Spent), "2 0 no answer 0 0.5")
		r.Lease = time.Hour
		now := b.leaseEvents(r)
		b.equal("at once", words(eventsOf(now), now[0].Attempt), "e2 1")
		b.clock.add(time.Minute)
		later := b.leaseEvents(r)
		b.equal("later", words(eventsOf(later), later[0].Attempt), "e1 2")
	}},
	{name: "budget", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1", "e2", "e3", "e4", "e5")
		r := store.LeaseEvents{Watch: "w", Limit: 5, Reserve: 0.25, Budget: 0.6}
		l := b.leaseEvents(r)
		b.equal("what the budget allows", eventsOf(l), "e1 e2")
		b.equal("no more", len(b.leaseEvents(r)), 0)
		for _, l := range l {
			b.settle("w", l, verdictOn(l.Event, "a", proviso.Pass))
		}
		b.equal("nor after they are paid", len(b.leaseEvents(r)), 0)
		b.clock.add(24 * time.Hour)
		b.equal("the next day", eventsOf(b.leaseEvents(r)), "e3 e4")
	}},
	{name: "all at once", run: func(b *bench) {
		b.watch("w", "{}")
		var events []string
		for i := range 300 {
			events = append(events, fmt.Sprint("e", i))
		}
		b.fill("w", events...)
		atOnce(8, func(int) {
			for {
				l, err := b.LeaseEvents(b.Context(), store.LeaseEvents{Watch: "w", Limit: 7, Lease: time.Minute, Reserve: 0.01, Budget: 100})
				if err != nil || len(l) == 0 {
					if err != nil {
						b.Error(err)
					}
					return
				}
				var done []store.EventResult
				for _, l := range l {
					done = append(done, store.EventResult{EventLease: l, Verdicts: []store.WatchVerdict{verdictOn(l.Event, "a", proviso.Pass)}, Cost: 0.01})
				}
				if n, err := b.SettleEvents(b.Context(), "w", done); err != nil || n != len(done) {
					b.Errorf("%d verdicts of %d, %v", n, len(done), err)
				}
			}
		})
		h := must(b.WatchHealth(b.Context(), "w", start))(b)
		b.equal("in the end", fmt.Sprintf("%d %d %.2f %.6f", h.Pending, h.Spend.Calls, h.Spend.Spent, h.Spend.Reserved), "0 300 3.00 0.000000")
		seen := must(b.Observations(b.Context(), "w", 0, 1000))(b)
		b.equal("observations", words(len(seen), slices.IsSortedFunc(seen, func(x, y store.WatchVerdict) int { return int(x.Sequence - y.Sequence) })), "300 true")
		buckets := must(b.Series(b.Context(), store.SeriesFilter{Watch: "w", From: start.Add(-2 * time.Hour), To: start, Step: time.Hour}))(b)
		b.equal("rollup", words(len(buckets), buckets[0].Pass, buckets[0].Weight), "1 300 600")
	}},
	{name: "filters", run: func(b *bench) {
		b.watch("w", "{}")
		b.watch("x", "{}")
		b.fill("w", "e1", "e2")
		for _, l := range b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 5}) {
			v := verdictOn(l.Event, "a", proviso.Pass)
			f := verdictOn(l.Event, "b", proviso.Fail)
			f.Version, f.Segment, f.Time = "v2", "fr", start
			b.settle("w", l, v, f)
		}
		for _, c := range []struct {
			f    store.VerdictFilter
			want int
		}{
			{store.VerdictFilter{}, 4}, {store.VerdictFilter{Watch: "x"}, 0}, {store.VerdictFilter{Events: []string{"e2", "e9"}}, 2}, {store.VerdictFilter{Assertion: "b"}, 2},
			{store.VerdictFilter{Version: "v2", Segment: "fr", Judge: "judge:a"}, 2}, {store.VerdictFilter{Version: "none"}, 0},
			{store.VerdictFilter{Status: []proviso.Status{proviso.Fail}}, 2}, {store.VerdictFilter{Since: start}, 2}, {store.VerdictFilter{Until: start}, 2},
		} {
			list := all(b, 3, pagesOf(b.ListVerdicts, c.f))
			b.equal(fmt.Sprintf("%+v", c.f), len(list), c.want)
		}
		b.wants(proviso.NotFound, errorOf(b.ListVerdicts(b.Context(), store.VerdictFilter{Watch: "none"}, store.Page{})))
	}},
	{name: "bad verdicts", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1")
		l := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1})[0]
		for _, change := range []func(*store.WatchVerdict){
			func(v *store.WatchVerdict) { v.Probability = 0 }, func(v *store.WatchVerdict) { v.Probability = 1.5 }, func(v *store.WatchVerdict) { v.Event = "" },
			func(v *store.WatchVerdict) { v.Assertion = "\x1b" }, func(v *store.WatchVerdict) { v.Time = time.Time{} }, func(v *store.WatchVerdict) { v.Cost = -1 },
			func(v *store.WatchVerdict) { v.Status = 9 },
		} {
			v := verdictOn("e1", "a", proviso.Pass)
			change(&v)
			b.wants(proviso.Invalid, errorOf(b.SettleEvents(b.Context(), "w", []store.EventResult{{EventLease: l, Verdicts: []store.WatchVerdict{v}}})))
		}
		b.equal("nothing is kept", words(must(b.WatchHealth(b.Context(), "w", start))(b).Pending, len(must(b.Observations(b.Context(), "w", 0, 10))(b))), "1 0")
	}},
}
