package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// tenant is a project with something of each kind.
type tenant struct {
	store.ProjectStore
	name string
	doc  store.Document
	run  store.Run
	eval store.Evaluation
	said store.Label

	lease *store.Lease
	own   string // name of a queue that other tenants do not have

	pushed store.Run

	job   store.EventLease // of the watch named own
	alarm string
}

// tenant fills a project. Names are the same in each project, contents differ.
func (b *bench) tenant(name store.Project) tenant {
	b.Helper()
	t := tenant{ProjectStore: b.In(name), name: string(name)}
	var err error
	t.doc, _, err = t.PutDocument(b.Context(), suiteOf("s", "of "+t.name))
	b.ok(err)
	b.ok(errorOf(t.PutDocument(b.Context(), suiteOf("same", "the same content"))))
	b.ok(errorOf(t.PutDocument(b.Context(), suiteOf(onlyOf(t), "only here"))))
	t.run = must(t.CreateRun(b.Context(), store.NewRun{Suite: "s", Version: t.doc.Hash, CreatedBy: "key_1", Rows: len(name)}))(b)
	must(t.AddResults(b.Context(), t.run.ID, rowsOf(len(name), t.name)))(b)
	got, _, err := t.ImportRun(b.Context(), imported(store.NewID(store.RunID, start), "key_1", 2), sending(rowsOf(2, t.name), nil))
	b.ok(err)
	t.pushed = got
	t.eval = must(t.AddEvaluation(b.Context(), store.NewEvaluation{CreatedBy: "key_1", Agent: "agent", Request: []byte(name)}))(b)
	n := said("ana", 0, "a", label.Pass)
	n.Run, n.Note, n.Judge, n.Judged = t.run.ID, t.name, t.name, "pass"
	q := queueOf(2, 1)
	q.Run = t.run.ID
	b.ok(errorOf(t.PutLabelQueue(b.Context(), q)))
	other := queueOf(1, 1)
	t.own = fmt.Sprintf("q%x", t.name)
	other.Name, other.Run = t.own, t.run.ID
	b.ok(errorOf(t.PutLabelQueue(b.Context(), other)))
	t.lease = must(t.LeaseLabel(b.Context(), store.LeaseRequest{Queue: other.Name, By: "ben", For: time.Minute}))(b)
	t.said = must(t.AddLabel(b.Context(), n))(b)
	b.watchIn(&t)
	b.trafficIn(t)
	must(t.AddSpans(b.Context(), "key_1", []store.SpanPart{partOf("t", "of "+t.name)}, forAnHour))(b)
	b.ok(t.AwaitTrace(b.Context(), "key_1", "u", time.Hour))
	b.ok(t.DropTrace(b.Context(), "key_1", "u"))
	for range len(name) {
		must(t.AddLook(b.Context(), "run_1", "a"))(b)
	}
	return t
}

// trafficIn adds events and a thumb to a project.
func (b *bench) trafficIn(t tenant) {
	b.Helper()
	events := []store.NewEvent{eventOf("e1"), eventOf("e2"), eventOf(t.own)}
	for i := range events {
		events[i].Output, events[i].Prompt = t.name, "prompt of "+t.name
	}
	events[2].Conversation, events[2].Agent = t.own, t.own
	must(t.AddEvents(b.Context(), events))(b)
	must(t.AddFeedback(b.Context(), thumb("e1", "eve", 1)))(b)
}

// watchIn adds a watch with something of each kind to a project.
func (b *bench) watchIn(t *tenant) {
	b.Helper()
	for _, name := range []string{"w", t.own} {
		b.ok(errorOf(t.PutWatch(b.Context(), store.NewWatch{Name: name, Content: []byte(`{"of":"` + t.name + `"}`)})))
	}
	must(t.EnqueueEvents(b.Context(), t.own, []store.Backfill{{Event: "e1", Probability: 1}, {Event: "e2", Probability: 1}}))(b)
	leases := must(t.LeaseEvents(b.Context(), store.LeaseEvents{Watch: t.own, Limit: 2, Lease: time.Hour}))(b)
	must(t.SettleEvents(b.Context(), t.own, []store.EventResult{{EventLease: leases[0], Verdicts: []store.WatchVerdict{verdictOn("e1", "a", proviso.Fail)}}}))(b)
	t.job, t.alarm = leases[1], "alarm_"+t.own
	b.ok(t.SaveCharts(b.Context(), t.own, store.ChartSave{State: []byte(t.name), Alarms: []store.Alarm{alarmOf(t.alarm)},
		Notices: []store.NewNotice{{Alarm: t.alarm, Target: "slack:a", Event: "opened", Body: []byte("{}")}}}))
}

// onlyOf returns a document name that no other project has.
func onlyOf(t tenant) string { return "only " + t.doc.Hash }

// seen returns everything that a project shows, as a text.
func (b *bench) seen(t tenant) string {
	b.Helper()
	var list []any
	for _, f := range []store.DocumentFilter{{}, {Kind: store.SuiteKind}, {Name: "s"}, {Kind: store.SuiteKind, Name: "same"}} {
		list = append(list, all(b, 1, pagesOf(t.ListDocuments, f)))
	}
	list = append(list, must(t.Document(b.Context(), store.SuiteKind, "s", ""))(b))
	for _, f := range []store.RunFilter{{}, {Suite: "s"}, {CreatedBy: "key_1"}} {
		list = append(list, all(b, 1, pagesOf(t.ListRuns, f)))
	}
	for _, f := range []store.EvaluationFilter{{}, {Agent: "agent"}, {CreatedBy: "key_1"}} {
		list = append(list, all(b, 1, pagesOf(t.ListEvaluations, f)))
	}
	for _, f := range []store.LabelFilter{{}, {By: "ana"}} {
		list = append(list, all(b, 1, pagesOf(t.ListLabels, f)), must(t.CountLabels(b.Context(), f))(b))
	}
	list = append(list, all(b, 1, pagesOf(t.ListLabelItems, t.own)), all(b, 1, t.ListLabelQueues), all(b, 1, t.ListWatches), must(t.CountLooks(b.Context(), t.run.ID, "a"))(b), must(t.CountLooks(b.Context(), "run_1", "a"))(b))
	list = append(list, all(b, 1, pagesOf(t.ListVerdicts, store.VerdictFilter{Events: []string{"e1"}})), all(b, 1, pagesOf(t.ListAlarms, store.AlarmFilter{})))
	list = append(list, all(b, 1, pagesOf(t.ListNotices, "")), must(t.WatchHealth(b.Context(), t.own, start))(b), must(t.Charts(b.Context(), t.own))(b))
	list = append(list, all(b, 1, pagesOf(t.ListEvents, store.EventFilter{Contents: true})), all(b, 1, pagesOf(t.ListEvents, store.EventFilter{Agent: "support", User: "eve"})), must(t.Event(b.Context(), "e1"))(b))
	list = append(list, all(b, 1, pagesOf(t.ListFeedback, store.FeedbackFilter{})), all(b, 1, t.ListAgents), all(b, 1, pagesOf(t.ListPrompts, "support")))
	list = append(list, must(t.CountTraffic(b.Context(), store.TrafficFilter{From: start.Add(-time.Hour), To: start, Step: time.Hour}))(b))
	list = append(list, must(t.Trace(b.Context(), "key_1", "t", 0))(b))
	list = append(list, must(t.FinishedRows(b.Context(), t.run.ID))(b), must(t.CountAssertions(b.Context(), t.run.ID))(b), must(t.Tally(b.Context(), t.run.ID))(b))
	return fmt.Sprintf("%+v", list)
}

// refusals returns the errors of all project methods that take the name of an item, each called
// with an item of another project.
func refusals(ctx context.Context, from store.ProjectStore, of tenant) map[string]error {
	return map[string]error{
		"Document":         errorOf(from.Document(ctx, store.SuiteKind, "s", of.doc.Hash)),
		"DeleteDocument":   from.DeleteDocument(ctx, store.SuiteKind, onlyOf(of)),
		"Run":              errorOf(from.Run(ctx, of.run.ID)),
		"RunFile":          errorOf(from.RunFile(ctx, of.pushed.ID)),
		"PlanRun":          errorOf(from.PlanRun(ctx, of.run.ID, store.RunPlan{Rows: 99})),
		"CancelRun":        errorOf(from.CancelRun(ctx, of.run.ID)),
		"DeleteRun":        from.DeleteRun(ctx, of.run.ID),
		"AddResults":       errorOf(from.AddResults(ctx, of.run.ID, rowsOf(99, "x"))),
		"Result":           errorOf(from.Result(ctx, of.run.ID, 0)),
		"FinishedRows":     errorOf(from.FinishedRows(ctx, of.run.ID)),
		"ListResults":      errorOf(from.ListResults(ctx, of.run.ID, store.ResultFilter{}, store.Page{})),
		"CountAssertions":  errorOf(from.CountAssertions(ctx, of.run.ID)),
		"Tally":            errorOf(from.Tally(ctx, of.run.ID)),
		"Evaluation":       errorOf(from.Evaluation(ctx, of.eval.ID)),
		"Label":            errorOf(from.Label(ctx, of.said.ID)),
		"LabelQueue":       errorOf(from.LabelQueue(ctx, of.own)),
		"ListLabelItems":   errorOf(from.ListLabelItems(ctx, of.own, store.Page{})),
		"DeleteLabelQueue": from.DeleteLabelQueue(ctx, of.own),
		"ReturnLabel":      from.ReturnLabel(ctx, of.own, of.lease.ID, "ben"),
		"LeaseLabel":       errorOf(from.LeaseLabel(ctx, store.LeaseRequest{Queue: of.own, By: "ben", For: time.Minute})),
		"DeleteLabel":      from.DeleteLabel(ctx, of.said.ID, ""),
		"Event":            errorOf(from.Event(ctx, of.own)),
		"ListPrompts":      errorOf(from.ListPrompts(ctx, of.own, store.Page{})),
		"Conversation":     errorOf(from.Conversation(ctx, of.own, store.Page{})),
		"Watch":            errorOf(from.Watch(ctx, of.own)),
		"WatchVersions":    errorOf(from.WatchVersions(ctx, of.own, store.Page{})),
		"DeleteWatch":      from.DeleteWatch(ctx, of.own),
		"WatchHealth":      errorOf(from.WatchHealth(ctx, of.own, start)),
		"EnqueueEvents":    errorOf(from.EnqueueEvents(ctx, of.own, []store.Backfill{{Event: "x", Probability: 1}})),
		"LeaseEvents":      errorOf(from.LeaseEvents(ctx, store.LeaseEvents{Watch: of.own, Limit: 1, Lease: time.Minute})),
		"SettleEvents":     errorOf(from.SettleEvents(ctx, of.own, []store.EventResult{{EventLease: of.job}})),
		"ReleaseEvents":    from.ReleaseEvents(ctx, of.own, []store.EventLease{of.job}),
		"Series":           errorOf(from.Series(ctx, store.SeriesFilter{Watch: of.own, From: start, To: start.Add(time.Hour), Step: time.Hour})),
		"Observations":     errorOf(from.Observations(ctx, of.own, 0, 1)),
		"Charts":           errorOf(from.Charts(ctx, of.own)),
		"SaveCharts":       from.SaveCharts(ctx, of.own, store.ChartSave{State: []byte("x")}),
		"Anchors":          errorOf(from.Anchors(ctx, of.own, 1)),
		"Alarm":            errorOf(from.Alarm(ctx, of.alarm)),
		"AckAlarm":         errorOf(from.AckAlarm(ctx, of.alarm, store.Ack{By: "ana"})),
		"SettleNotice":     from.SettleNotice(ctx, store.NoticeResult{ID: "notice_x", Token: 1}),
	}
}

// shown are the project methods that [bench.tenant] and [bench.seen] call.
var shown = []string{"PutDocument", "ListDocuments", "CreateRun", "ImportRun", "ListRuns", "AddEvaluation", "ListEvaluations", "AddLabel", "ListLabels", "CountLabels", "PutLabelQueue", "ListLabelQueues", "AddLook", "CountLooks",
	"AddSpans", "AwaitTrace", "Trace", "DropTrace",
	"AddEvents", "ListEvents", "AddFeedback", "ListFeedback", "ListAgents", "CountTraffic", "ForgetUser",
	"PutWatch", "ListWatches", "ListVerdicts", "ListAlarms", "LeaseNotices", "ListNotices"}

var projectTests = []test{
	{name: "all methods", run: func(b *bench) {
		methods := refusals(b.Context(), b, b.tenant("a"))
		for m := range reflect.TypeFor[store.ProjectStore]().Methods() {
			if methods[m.Name] == nil && !slices.Contains(shown, m.Name) {
				b.Errorf("nothing here tries %s from another project", m.Name)
			}
		}
	}},
	{name: "keep to themselves", run: func(b *bench) {
		tenants := []tenant{b.tenant(store.DefaultProject), b.tenant("a"), b.tenant("A.b-c_9")}
		var before []string
		for _, t := range tenants {
			before = append(before, b.seen(t))
		}
		for i, t := range tenants {
			for j, other := range tenants {
				if i == j {
					b.equal("number of a name that others have, too", other.doc.Number, 1)
					continue
				}
				for name, err := range refusals(b.Context(), t, other) {
					b.wants(proviso.NotFound, err)
					if strings.Contains(err.Error(), other.name) && len(other.name) > 1 {
						b.Errorf("%s of %s tells of %s: %v", name, t.name, other.name, err)
					}
				}
			}
		}
		for i, t := range tenants {
			b.equal("what "+t.name+" has afterwards", b.seen(t), before[i])
		}
	}},
	{name: "in a run", run: func(b *bench) {
		t := b.tenant("a")
		job := make(chan store.Job, 1)
		b.ok(b.Start(b.Context(), func(_ context.Context, j store.Job) error {
			job <- j
			return nil
		}))
		b.equal("project", next(b, job).Run.Project, store.Project("a"))
		b.until("it is done", func() bool { return must(t.Run(b.Context(), t.run.ID))(b).Status == store.Done })
	}},
	{name: "of keys", run: func(b *bench) {
		b.equal("projects without keys", must(b.Projects(b.Context()))(b), []store.Project{"default"})
		for _, of := range []store.Project{"b", "a", "", "b"} {
			k, secret, err := b.CreateKey(b.Context(), store.NewKey{Name: "k", Project: of, Scopes: []store.Scope{store.Read}})
			b.ok(err)
			want := of
			if of == "" {
				want = store.DefaultProject
			}
			b.equal("project", []store.Project{k.Project, must(b.Authenticate(b.Context(), secret))(b).Project}, []store.Project{want, want})
		}
		b.equal("projects", must(b.Projects(b.Context()))(b), []store.Project{"a", "b", "default"})
		for _, of := range []store.Project{"a b", "ä", ".a", "a/b", "a\n", store.Project(strings.Repeat("a", 101))} {
			b.wants(proviso.Invalid, errorOf(b.CreateKey(b.Context(), store.NewKey{Name: "k", Project: of, Scopes: []store.Scope{store.Read}})))
		}
	}},
	{name: "without a name", run: func(b *bench) {
		t := b.tenant("a")
		none := b.In("")
		b.wants(proviso.Invalid, errorOf(none.PutDocument(b.Context(), suiteOf("s", "x"))))
		b.wants(proviso.Invalid, errorOf(none.CreateRun(b.Context(), store.NewRun{})))
		b.wants(proviso.Invalid, errorOf(none.AddEvaluation(b.Context(), store.NewEvaluation{})))
		b.wants(proviso.Invalid, errorOf(none.AddEvents(b.Context(), []store.NewEvent{eventOf("e")})))
		b.wants(proviso.Invalid, errorOf(none.AddFeedback(b.Context(), thumb("e", "u", 1))))
		b.wants(proviso.Invalid, errorOf(none.AddLabel(b.Context(), said("ana", 0, "a", label.Pass))))
		for _, err := range refusals(b.Context(), none, t) {
			b.wants(proviso.NotFound, err)
		}
		b.equal("runs", len(all(b, 1, pagesOf(none.ListRuns, store.RunFilter{}))), 0)
	}},
}
