package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// eventOf returns an event a minute before the start, with its texts.
func eventOf(id string) store.NewEvent {
	return store.NewEvent{KeepContent: true, Event: ingest.Event{ID: id, Agent: "support", Time: start.Add(-time.Minute), Input: "question of " + id, Output: "answer of " + id,
		Version: "v1", Model: "m", Prompt: "Be kind.", User: "eve", Segment: map[string]string{"lang": "de"}}}
}

// thumb returns a thumb on an event.
func thumb(event, user string, value int) ingest.Feedback {
	return ingest.Feedback{Event: event, User: user, Value: value, Comment: "because of " + event, Time: start}
}

// add adds events.
func (b *bench) add(events ...store.NewEvent) store.AddedEvents {
	b.Helper()
	return must(b.AddEvents(b.Context(), events))(b)
}

// eventIDs returns the ids of the events that a filter selects, in order.
func (b *bench) eventIDs(f store.EventFilter) string {
	b.Helper()
	return strings.Join(b.eventIDsBy(f, 3), " ")
}

func (b *bench) eventIDsBy(f store.EventFilter, size int) []string {
	b.Helper()
	var ids []string
	for p := (store.Page{Limit: size}); ; {
		l := must(b.ListEvents(b.Context(), f, p))(b)
		for _, e := range l.Items {
			ids = append(ids, e.ID)
		}
		if l.Next == "" {
			return ids
		}
		p.After = l.Next
	}
}

var trafficTests = []test{
	{name: "add", reopens: true, run: func(b *bench) {
		n := eventOf("e1")
		n.Time, n.Conversation, n.TraceID, n.Context, n.Error = start.Add(-90*time.Minute), "c1", "t1", "context", "timeout"
		n.Metadata = value.ObjectOf("a", []any{1.0, "x"})
		n.Usage, n.Cost, n.Latency = proviso.Usage{Prompt: 1, Completion: 2, Cached: 3, Total: 4, Requests: 5}, 0.25, 1500*time.Microsecond
		bare := store.NewEvent{Event: ingest.Event{ID: "e2", Agent: "a", Time: start, Output: "secret"}}
		b.equal("added", b.add(n, bare, n), store.AddedEvents{Accepted: 2, Duplicates: 1})
		b.equal("added again", b.add(n), store.AddedEvents{Duplicates: 1})
		b.reopen()
		got := must(b.Event(b.Context(), "e1"))(b)
		b.equal("metadata", value.Stringify(got.Metadata), `{"a":[1,"x"]}`)
		want := store.Event{Event: n.Event, Received: start, Failed: true, Kept: true}
		want.Prompt, want.Metadata, got.Metadata = ingest.PromptHash("Be kind."), nil, nil
		b.equal("read back", got, want)
		want = store.Event{Event: bare.Event, Received: start}
		want.Output = ""
		b.equal("without its texts", must(b.Event(b.Context(), "e2"))(b), want)
		b.wants(proviso.NotFound, errorOf(b.Event(b.Context(), "e3")))
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, change := range []func(*store.NewEvent){
			func(n *store.NewEvent) { n.ID = "" }, func(n *store.NewEvent) { n.Agent = "a\nb" }, func(n *store.NewEvent) { n.Time = time.Time{} },
			func(n *store.NewEvent) { n.Cost = -1 }, func(n *store.NewEvent) { n.User = "\x1b" }, func(n *store.NewEvent) { n.Segment = map[string]string{"a": "\xff"} },
			func(n *store.NewEvent) { n.Jobs = []store.EventJob{{Watch: "w"}} },
		} {
			wrong := eventOf("wrong")
			change(&wrong)
			b.wants(proviso.Invalid, errorOf(b.AddEvents(b.Context(), []store.NewEvent{eventOf("right"), wrong})))
		}
		b.wants(proviso.Limit, errorOf(b.AddEvents(b.Context(), make([]store.NewEvent, store.MaxEvents+1))))
		b.equal("events", b.eventIDs(store.EventFilter{}), "")
		b.equal("none", b.add(), store.AddedEvents{})
	}},
	{name: "names", run: func(b *bench) {
		for i, name := range names {
			n := eventOf(name)
			n.Agent, n.Conversation, n.User, n.Version, n.Segment, n.Output = name, name, name, name, map[string]string{name: name}, name
			b.add(n)
			got := must(b.Event(b.Context(), name))(b)
			b.equal("event", words(got.ID, got.Agent, got.Conversation, got.User, got.Segment[name], got.Output), words(name, name, name, name, name, name))
			for _, f := range []store.EventFilter{{Agent: name}, {Conversation: name}, {User: name}, {Version: name}, {Segment: map[string]string{name: name}}, {IDs: []string{name}}} {
				b.equal("found", b.eventIDs(f), name)
			}
			b.equal("agents", len(all(b, 7, b.ListAgents)), i+1)
		}
	}},
	{name: "jobs", run: func(b *bench) {
		b.watch("w", "{}")
		n := eventOf("e1")
		n.Jobs = []store.EventJob{{Watch: "w", Probability: 0.25}, {Watch: "gone", Probability: 1}}
		b.add(n, eventOf("e2"))
		b.add(n) // a duplicate gets no second job
		leases := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 10})
		b.equal("jobs", words(eventsOf(leases), leases[0].Probability), "e1 0.25")
	}},
	{name: "filters", run: func(b *bench) {
		b.watch("w", "{}")
		no, yes := false, true
		for i := range 8 {
			n := eventOf(fmt.Sprint("e", i))
			n.Time = start.Add(time.Duration(i) * time.Second)
			n.Agent = []string{"a", "b"}[i%2]
			n.Conversation, n.TraceID, n.User = fmt.Sprint("c", i/2), fmt.Sprint("t", i/4), fmt.Sprint("u", i/4)
			n.Version, n.Model, n.Segment = fmt.Sprint("v", i/4), fmt.Sprint("m", i%2), map[string]string{"lang": []string{"de", "en"}[i/4], "tier": "1"}
			n.Output, n.Prompt = fmt.Sprintf("Grüße %d %%_", i), fmt.Sprint("p", i/6)
			n.KeepContent = i != 5
			if i == 3 {
				n.Error = "ÜBERLASTET"
			}
			b.add(n)
		}
		b.fill("w", "e1", "e2")
		leases := b.leaseEvents(store.LeaseEvents{Watch: "w", Limit: 2})
		b.settle("w", leases[0], verdictOn("e1", "tone", proviso.Fail), verdictOn("e1", "length", proviso.Pass))
		b.settle("w", leases[1], verdictOn("e2", "tone", proviso.Pass))
		must(b.AddFeedback(b.Context(), thumb("e6", "u", -1)))(b)
		must(b.AddFeedback(b.Context(), ingest.Feedback{TraceID: "t0", Value: 1, Time: start}))(b)
		for _, tt := range []struct {
			filter store.EventFilter
			want   string
		}{
			{store.EventFilter{}, "e7 e6 e5 e4 e3 e2 e1 e0"},
			{store.EventFilter{Agent: "a"}, "e6 e4 e2 e0"},
			{store.EventFilter{Agent: "none"}, ""},
			{store.EventFilter{Conversation: "c1"}, "e3 e2"},
			{store.EventFilter{TraceID: "t0", Agent: "b"}, "e3 e1"},
			{store.EventFilter{User: "u1"}, "e7 e6 e5 e4"},
			{store.EventFilter{Version: "v1", Model: "m0"}, "e6 e4"},
			{store.EventFilter{Prompt: ingest.PromptHash("p1")}, "e7 e6"},
			{store.EventFilter{Segment: map[string]string{"lang": "de", "tier": "1"}}, "e3 e2 e1 e0"},
			{store.EventFilter{Segment: map[string]string{"lang": "de", "tier": "2"}}, ""},
			{store.EventFilter{Text: "grüSSE"}, ""},
			{store.EventFilter{Text: "GRÜßE 4"}, "e4"},
			{store.EventFilter{Text: "überlastet"}, "e3"},
			{store.EventFilter{Text: "%_"}, "e7 e6 e4 e3 e2 e1 e0"},
			{store.EventFilter{Since: start.Add(5 * time.Second)}, "e7 e6 e5"},
			{store.EventFilter{Until: start.Add(2 * time.Second)}, "e1 e0"},
			{store.EventFilter{Failed: &yes}, "e3"},
			{store.EventFilter{Failed: &no, Agent: "b"}, "e7 e5 e1"},
			{store.EventFilter{Kept: true, User: "u1"}, "e7 e6 e4"},
			{store.EventFilter{IDs: []string{"e5", "e1", "none"}}, "e5 e1"},
			{store.EventFilter{Status: []proviso.Status{proviso.Fail}}, "e1"},
			{store.EventFilter{Status: []proviso.Status{proviso.Pass}}, "e2 e1"},
			{store.EventFilter{Assertion: "tone"}, "e2 e1"},
			{store.EventFilter{Watch: "w", Assertion: "tone", Status: []proviso.Status{proviso.Pass, proviso.Errored}}, "e2"},
			{store.EventFilter{Watch: "other"}, ""},
			{store.EventFilter{Feedback: -1}, "e6"},
			{store.EventFilter{Feedback: 1}, "e3 e2 e1 e0"},
			{store.EventFilter{Agent: "' OR 1=1 --"}, ""},
		} {
			b.equal(fmt.Sprintf("%+v", tt.filter), b.eventIDs(tt.filter), tt.want)
		}
		e := must(b.ListEvents(b.Context(), store.EventFilter{IDs: []string{"e6"}}, store.Page{}))(b).Items[0]
		b.equal("in a list", words(e.Output == "", e.Kept, e.Down, e.Up), "true true 1 0")
		e = must(b.ListEvents(b.Context(), store.EventFilter{IDs: []string{"e3"}, Contents: true}, store.Page{}))(b).Items[0]
		b.equal("with its texts", words(e.Output, e.Error, e.Up), "Grüße 3 %_ ÜBERLASTET 1")
		b.wants(proviso.Invalid, errorOf(b.ListEvents(b.Context(), store.EventFilter{}, store.Page{After: store.Cursor("runs", "1")})))
	}},
	{name: "rare events", run: func(b *bench) {
		var events []store.NewEvent
		for i := range 25_000 {
			n := store.NewEvent{Event: ingest.Event{ID: fmt.Sprint("e", i), Agent: "a", Time: start.Add(time.Duration(i%100) * time.Second), Output: "x", Version: "v1"}}
			if i%10_000 == 0 {
				n.Version, n.KeepContent, n.Output = "v2", true, "needle"
			}
			if events = append(events, n); len(events) == 5_000 {
				b.add(events...)
				events = nil
			}
		}
		b.equal("by a column", len(b.eventIDsBy(store.EventFilter{Version: "v2"}, 2)), 3)
		b.equal("by text", len(b.eventIDsBy(store.EventFilter{Text: "Needle"}, 2)), 3)
		b.equal("in pages", len(b.eventIDsBy(store.EventFilter{Since: start.Add(97 * time.Second)}, 100)), 750)
	}},
	{name: "conversations", run: func(b *bench) {
		for i := range 5 {
			n := eventOf(fmt.Sprint("e", 4-i))
			n.Conversation, n.Time = "c", start.Add(-time.Duration(i)*time.Second)
			b.add(n)
		}
		var got []string
		for p := (store.Page{Limit: 2}); ; {
			l := must(b.Conversation(b.Context(), "c", p))(b)
			for _, e := range l.Items {
				got = append(got, e.ID+": "+e.Output)
			}
			if p.After = l.Next; l.Next == "" {
				break
			}
		}
		b.equal("in its order", strings.Join(got, ", "), "e0: answer of e0, e1: answer of e1, e2: answer of e2, e3: answer of e3, e4: answer of e4")
		b.wants(proviso.NotFound, errorOf(b.Conversation(b.Context(), "d", store.Page{})))
		b.wants(proviso.NotFound, errorOf(b.Conversation(b.Context(), "", store.Page{})))
	}},
	{name: "agents and prompts", run: func(b *bench) {
		first := eventOf("e1")
		first.Prompt, first.KeepContent = ingest.PromptHash("Be kind."), false
		b.add(first)
		b.clock.add(time.Minute)
		two, three := eventOf("e2"), eventOf("e3")
		three.Prompt, three.Agent = "", "other"
		b.add(two, two, three)
		b.clock.add(time.Minute)
		four := eventOf("e4")
		four.Prompt = "Be brief."
		b.add(four, first)
		prompts := all(b, 1, pagesOf(b.ListPrompts, "support"))
		b.equal("prompts", fmt.Sprintf("%+v", prompts), fmt.Sprintf("%+v", []store.AgentPrompt{
			{Hash: ingest.PromptHash("Be brief."), Text: "Be brief.", First: start.Add(2 * time.Minute), Last: start.Add(2 * time.Minute), Events: 1},
			{Hash: ingest.PromptHash("Be kind."), Text: "Be kind.", First: start, Last: start.Add(2 * time.Minute), Events: 2},
		}))
		b.equal("of another", len(all(b, 1, pagesOf(b.ListPrompts, "other"))), 0)
		b.wants(proviso.NotFound, errorOf(b.ListPrompts(b.Context(), "none", store.Page{})))
		b.equal("agents", all(b, 1, b.ListAgents), []store.Agent{
			{Name: "other", First: start.Add(time.Minute), Last: start.Add(time.Minute), Events: 1},
			{Name: "support", First: start, Last: start.Add(2 * time.Minute), Events: 3},
		})
	}},
	{name: "counts", run: func(b *bench) {
		hour := start.Truncate(time.Hour)
		for i := range 60 {
			n := eventOf(fmt.Sprint("e", i))
			n.Time, n.KeepContent, n.Cost, n.Latency, n.Usage.Total = hour, false, 0.5, time.Second, 10
			n.Segment = map[string]string{"lang": fmt.Sprint("l", i)}
			switch {
			case i >= 58:
				n.Time = hour.Add(-25 * time.Hour) // late
			case i%2 == 0:
				n.Version, n.Error = "v2", "x"
			}
			b.add(n, n)
		}
		f := store.TrafficFilter{Agent: "support", From: hour.Add(-26 * time.Hour), To: hour.Add(time.Minute), Step: time.Hour}
		b.equal("all", must(b.CountTraffic(b.Context(), f))(b), []store.TrafficCount{
			{Start: hour.Add(-25 * time.Hour), Agent: "support", Events: 2, Tokens: 20, Cost: 1, Latency: 2 * time.Second},
			{Start: hour, Agent: "support", Events: 58, Failed: 29, Tokens: 580, Cost: 29, Latency: 58 * time.Second}})
		f.By, f.Step, f.Agent = store.ByAgentVersion, 27*time.Hour, ""
		b.equal("by version", must(b.CountTraffic(b.Context(), f))(b), []store.TrafficCount{
			{Start: hour.Add(-26 * time.Hour), Agent: "support", Value: "v1", Events: 31, Tokens: 310, Cost: 15.5, Latency: 31 * time.Second},
			{Start: hour.Add(-26 * time.Hour), Agent: "support", Value: "v2", Events: 29, Failed: 29, Tokens: 290, Cost: 14.5, Latency: 29 * time.Second}})
		f.By, f.From, f.Step = store.BySegmentOf("lang"), hour, time.Hour
		langs := must(b.CountTraffic(b.Context(), f))(b)
		b.equal("by segment", len(langs), store.MaxTrafficValues+1)
		sum := 0
		for _, l := range langs {
			if sum += l.Events; l.Value == store.OtherSegment {
				b.equal("others", l.Events, 8)
			}
		}
		b.equal("of the segment", sum, 58)
		f.Agent = "none"
		b.equal("of no agent", len(must(b.CountTraffic(b.Context(), f))(b)), 0)
		f.Step = time.Minute
		b.wants(proviso.Invalid, errorOf(b.CountTraffic(b.Context(), f)))
	}},
	{name: "many names of segments", run: func(b *bench) {
		for i := range 100 {
			n := eventOf(fmt.Sprint("e", i))
			n.Segment = map[string]string{fmt.Sprint("s", i): "x"}
			b.add(n)
		}
		of := 0
		for i := range 100 {
			of += len(must(b.CountTraffic(b.Context(), store.TrafficFilter{By: store.BySegmentOf(fmt.Sprint("s", i)), From: start.Add(-time.Hour), To: start, Step: time.Hour}))(b))
		}
		b.equal("are not all counted", of > 10 && of < 30, true)
	}},
	{name: "all at once", run: func(b *bench) {
		b.watch("w", "{}")
		atOnce(20, func(g int) {
			for i := range 10 {
				n := eventOf(fmt.Sprintf("e%d-%d", g, i))
				n.Jobs = []store.EventJob{{Watch: "w", Probability: 0.5}}
				same := eventOf("same")
				b.works(errorOf(b.AddEvents(b.Context(), []store.NewEvent{n, same})))
			}
		})
		b.equal("events", len(b.eventIDsBy(store.EventFilter{}, 1000)), 201)
		b.equal("jobs", must(b.WatchHealth(b.Context(), "w", start))(b).Pending, 200)
		b.equal("counted", must(b.CountTraffic(b.Context(), store.TrafficFilter{From: start.Add(-time.Hour), To: start, Step: time.Hour}))(b)[0].Events, 201)
	}},
}
