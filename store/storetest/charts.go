package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// alarmOf is an open alarm.
func alarmOf(id string) store.Alarm {
	return store.Alarm{ID: id, Kind: "agent", Assertion: "tone", State: store.AlarmOpen, Opened: start, Body: []byte(`{"id":"` + id + `"}`)}
}

var chartTests = []test{
	{name: "series", run: func(b *bench) {
		b.watch("w", "{}")
		hour := start.Truncate(time.Hour).Add(-24 * time.Hour)
		for i, v := range []struct {
			assertion, version, segment string
			hours                       int
			status                      proviso.Status
			probability                 float64
		}{
			{"a", "v1", "de", 0, proviso.Pass, 1}, {"a", "v1", "de", 0, proviso.Fail, 0.5}, {"a", "v2", "fr", 0, proviso.Fail, 0.25}, {"a", "v1", "de", 1, proviso.Errored, 1},
			{"a", "v1", "de", 5, proviso.Skip, 1}, {"b", "v1", "", 0, proviso.Pass, 1}, {"b", "v1", "", 23, proviso.Fail, 1},
		} {
			event := fmt.Sprint("e", i)
			b.fill("w", event)
			l := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1})
			o := verdictOn(event, v.assertion, v.status)
			o.Version, o.Segment, o.Probability, o.Time = v.version, v.segment, v.probability, hour.Add(time.Duration(v.hours)*time.Hour+10*time.Minute)
			b.settle("w", l[0], o)
		}
		for _, c := range []struct {
			f    store.SeriesFilter
			want string
		}{
			{store.SeriesFilter{Assertion: "a", Step: time.Hour}, "a 0h 1/2/0/0 7 6 21; a 1h 0/0/1/0 0 0 0; a 5h 0/0/0/1 0 0 0; "},
			{store.SeriesFilter{Assertion: "a", Step: time.Hour, By: store.ByVersion}, "a v1 judge:a 0h 1/1/0/0 3 2 5; a v2 judge:a 0h 0/1/0/0 4 4 16; a v1 judge:a 1h 0/0/1/0 0 0 0; a v1 judge:a 5h 0/0/0/1 0 0 0; "},
			{store.SeriesFilter{Step: 24 * time.Hour, By: store.BySegment}, "a de -3h 1/1/1/1 3 2 5; a fr -3h 0/1/0/0 4 4 16; "},
			{store.SeriesFilter{Assertion: "a", Step: 10 * time.Minute}, "a 10m 1/2/0/0 7 6 21; a 1h10m 0/0/1/0 0 0 0; a 5h10m 0/0/0/1 0 0 0; "},
			{store.SeriesFilter{Step: 30 * time.Minute, By: store.BySegment}, "a de 0h 1/1/0/0 3 2 5; a fr 0h 0/1/0/0 4 4 16; a de 1h 0/0/1/0 0 0 0; a de 5h 0/0/0/1 0 0 0; b 0h 1/0/0/0 1 0 1; b 23h 0/1/0/0 1 1 1; "},
			{store.SeriesFilter{Assertion: "none", Step: time.Hour}, ""},
		} {
			c.f.Watch, c.f.From, c.f.To = "w", hour, start
			got := ""
			for _, k := range must(b.Series(b.Context(), c.f))(b) {
				got += k.Assertion
				for _, text := range []string{k.Version, k.Judge, k.Segment} {
					if text != "" {
						got += " " + text
					}
				}
				got += fmt.Sprintf(" %s %d/%d/%d/%d %v %v %v; ", shortTime(k.Start.Sub(hour)), k.Pass, k.Fail, k.Errors, k.Skipped, k.Weight, k.Failing, k.Squares)
			}
			b.equal(fmt.Sprintf("%+v", c.f), got, c.want)
		}
		for _, f := range []store.SeriesFilter{
			{From: start, To: start, Step: time.Hour}, {From: hour, To: start, Step: 90 * time.Minute}, {From: hour, To: start, Step: time.Second},
			{From: start.Add(-72 * time.Hour), To: start, Step: time.Minute}, {From: hour, To: start, Step: time.Hour, By: "judge"},
		} {
			f.Watch = "w"
			b.wants(proviso.Invalid, errorOf(b.Series(b.Context(), f)))
		}
		b.wants(proviso.Limit, errorOf(b.Series(b.Context(), store.SeriesFilter{Watch: "w", From: start.Add(-200_000 * time.Hour), To: start, Step: time.Hour})))
	}},
	{name: "state", reopens: true, run: func(b *bench) {
		b.watch("w", "{}")
		b.equal("none", must(b.Charts(b.Context(), "w"))(b), store.ChartState{})
		b.wants(proviso.Conflict, b.SaveCharts(b.Context(), "w", store.ChartSave{From: 5, Cursor: 6, State: []byte("x")}))
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{Cursor: 7, State: []byte("one")}))
		b.wants(proviso.Conflict, b.SaveCharts(b.Context(), "w", store.ChartSave{From: 0, Cursor: 8, State: []byte("two"), Alarms: []store.Alarm{alarmOf("alarm_1")}}))
		b.equal("alarms", len(must(b.ListAlarms(b.Context(), store.AlarmFilter{}, store.Page{}))(b).Items), 0)
		b.reopen()
		got := must(b.Charts(b.Context(), "w"))(b)
		b.equal("state", words(got.Cursor, string(got.State), got.Saved == start), "7 one true")
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{From: 7, Cursor: 7, State: []byte("same cursor")}))
	}},
	{name: "alarms", run: func(b *bench) {
		b.watch("w", "{}")
		b.watch("x", "{}")
		a := alarmOf("alarm_1")
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("1"), Alarms: []store.Alarm{a}}))
		b.ok(b.SaveCharts(b.Context(), "x", store.ChartSave{State: []byte("1"), Alarms: []store.Alarm{{ID: "alarm_2", Kind: "silent", State: store.AlarmOpen, Opened: start, Body: []byte("{}")}}}))
		b.clock.add(time.Minute)
		acked := must(b.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ana"}))(b)
		b.equal("acked", words(acked.State, acked.Ack.By, acked.AckedAt.Sub(start)), "acked ana 1m0s")
		b.equal("again", must(b.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ben"}))(b).Ack.By, "ana")
		noted := must(b.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ben", Note: "the vendor knows"}))(b)
		b.equal("with a note", words(noted.State, noted.Ack), "acked {ben the vendor knows}")
		b.equal("again without one", must(b.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ana"}))(b).Ack, noted.Ack)
		for _, wrong := range []store.Ack{{}, {By: "ana", Note: "\x1b[2J"}, {By: "ana", Note: strings.Repeat("x", store.MaxAckNote+1)}} {
			if _, err := b.AckAlarm(b.Context(), "alarm_1", wrong); err == nil {
				b.Errorf("%.40q was taken", wrong)
			}
		}
		long := store.Ack{By: "ben", Note: strings.Repeat("ü", store.MaxAckNote)}
		b.equal("a long note", must(b.AckAlarm(b.Context(), "alarm_1", long))(b).Ack, long)
		must(b.AckAlarm(b.Context(), "alarm_1", noted.Ack))(b)
		a.Body = []byte(`{"n":2}`)
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("2"), Alarms: []store.Alarm{a}}))
		got := must(b.Alarm(b.Context(), "alarm_1"))(b)
		b.equal("updated", words(got.State, string(got.Body), got.Watch), `acked {"n":2} w`)
		a.State, a.Closed = store.AlarmClosed, b.clock.Now()
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("3"), Alarms: []store.Alarm{a}}))
		closed := must(b.Alarm(b.Context(), "alarm_1"))(b)
		b.equal("closed", []any{closed.State, closed.Ack.Note}, []any{store.AlarmClosed, "the vendor knows"})
		b.wants(proviso.Conflict, errorOf(b.AckAlarm(b.Context(), "alarm_1", store.Ack{By: "ana"})))
		b.wants(proviso.NotFound, errorOf(b.AckAlarm(b.Context(), "alarm_9", store.Ack{By: "ana"})))
		for _, c := range []struct {
			f    store.AlarmFilter
			want int
		}{
			{store.AlarmFilter{}, 2}, {store.AlarmFilter{Watch: "x"}, 1}, {store.AlarmFilter{State: []store.AlarmState{store.AlarmOpen, store.AlarmAcked}}, 1}, {store.AlarmFilter{Kind: "agent"}, 1},
			{store.AlarmFilter{Assertion: "tone"}, 1}, {store.AlarmFilter{Since: b.clock.Now().Add(time.Second)}, 1}, {store.AlarmFilter{Until: start}, 0},
		} {
			b.equal(fmt.Sprintf("%+v", c.f), len(all(b, 1, pagesOf(b.ListAlarms, c.f))), c.want)
		}
		bad := alarmOf("alarm_3")
		bad.State = "loud"
		b.wants(proviso.Invalid, b.SaveCharts(b.Context(), "x", store.ChartSave{State: []byte("2"), Alarms: []store.Alarm{bad}}))
	}},
	{name: "outbox", reopens: true, run: func(b *bench) {
		b.watch("w", "{}")
		told := func(target, event string, due time.Time) store.NewNotice {
			return store.NewNotice{Alarm: "alarm_1", Target: target, Event: event, Body: []byte("{}"), Due: due}
		}
		save := func(n ...store.NewNotice) {
			b.Helper()
			b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("1"), Alarms: []store.Alarm{alarmOf("alarm_1")}, Notices: n}))
		}
		save(told("slack:a", "opened", time.Time{}), told("slack:b", "opened", start.Add(time.Hour)))
		save(told("slack:a", "opened", time.Time{})) // the same event is not sent again
		one := must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)
		b.equal("due", words(len(one), one[0].Target, one[0].Event, one[0].Alarm, string(one[0].Body), one[0].Attempts), "1 slack:a opened alarm_1 {} 1")
		b.equal("leased", len(must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)), 0)
		b.reopen()
		b.clock.add(time.Minute)
		again := must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)
		b.equal("after its lease", words(len(again), again[0].Attempts), "1 2")
		b.wants(proviso.NotFound, b.SettleNotice(b.Context(), store.NoticeResult{ID: one[0].ID, Token: one[0].Token}))
		b.ok(b.SettleNotice(b.Context(), store.NoticeResult{ID: again[0].ID, Token: again[0].Token, Error: "no answer", Again: b.clock.Now().Add(time.Minute)}))
		b.equal("not yet", len(must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)), 0)
		b.clock.add(time.Minute)
		third := must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)
		b.ok(b.SettleNotice(b.Context(), store.NoticeResult{ID: third[0].ID, Token: third[0].Token, Remote: "17"}))
		b.clock.add(time.Hour)
		late := must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)
		b.equal("later", words(len(late), late[0].Target), "1 slack:b")
		b.ok(b.SettleNotice(b.Context(), store.NoticeResult{ID: late[0].ID, Token: late[0].Token, Error: "gone"}))
		b.clock.add(time.Hour)
		b.equal("nothing is left", len(must(b.LeaseNotices(b.Context(), time.Minute, 10))(b)), 0)
		list := all(b, 1, pagesOf(b.ListNotices, "alarm_1"))
		b.equal("list", words(len(list), list[1].Remote, list[1].Sent.IsZero(), list[0].Error, list[0].Dropped.IsZero()), "2 17 false gone false")
	}},
	{name: "anchors", run: func(b *bench) {
		b.watch("w", "{}")
		for i := range 3 {
			b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("1"),
				Anchors: &store.AnchorRound{At: start.Add(time.Duration(i) * time.Hour), Judge: "j", Set: "s", Cost: 0.5, Results: fmt.Append(nil, "[", i, "]")}}))
		}
		got := must(b.Anchors(b.Context(), "w", 2))(b)
		b.equal("rounds", words(len(got), string(got[0].Results), got[0].At.Sub(start), got[1].Judge, got[1].Set, got[1].Cost), "2 [2] 2h0m0s j s 0.5")
		b.equal("spent", must(b.WatchHealth(b.Context(), "w", start))(b).Spend.Spent, 1.5)
	}},
	{name: "pruning", run: func(b *bench) {
		b.watch("w", "{}")
		b.fill("w", "e1")
		b.settle("w", b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 1})[0], verdictOn("e1", "a", proviso.Pass))
		closed := alarmOf("alarm_1")
		closed.State, closed.Closed = store.AlarmClosed, start
		b.ok(b.SaveCharts(b.Context(), "w", store.ChartSave{State: []byte("1"), Alarms: []store.Alarm{closed, alarmOf("alarm_2")}}))
		series := func() int {
			return len(must(b.Series(b.Context(), store.SeriesFilter{Watch: "w", From: start.Add(-2 * time.Hour), To: start, Step: time.Hour}))(b))
		}
		r := store.Retention{Now: start.Add(100 * 24 * time.Hour), Verdicts: 90 * 24 * time.Hour, Rollups: 400 * 24 * time.Hour}
		b.equal("pruned", must(b.Prune(b.Context(), r))(b).Verdicts, 1)
		b.equal("left", words(len(must(b.Observations(b.Context(), "w", 0, 10))(b)), series()), "0 1")
		r.Now = start.Add(401 * 24 * time.Hour)
		must(b.Prune(b.Context(), r))(b)
		alarms := must(b.ListAlarms(b.Context(), store.AlarmFilter{}, store.Page{}))(b).Items
		b.equal("left later", words(series(), len(alarms), alarms[0].ID), "0 1 alarm_2")
	}},
}

// shortTime writes a duration without units that are zero.
func shortTime(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
}
