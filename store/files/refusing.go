package files

import (
	"context"
	"iter"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
)

// refusing implements the store methods that change something, or that concern data that a
// folder of runs does not have.
type refusing struct{}

// none returns an empty list, and an error for an invalid cursor.
func none[T any](list string, p store.Page) (store.List[T], error) {
	_, _, err := p.Position(list)
	return store.List[T]{}, err
}

// missing returns the error for data that a folder of runs does not have.
func missing(what, name string) error {
	return proviso.Errorf(proviso.NotFound, "there is no %s %q: a folder of runs has none", what, name)
}

func refused() error {
	return proviso.Errorf(proviso.Refused, "proviso view changes nothing; use `proviso serve`")
}

// CreateKey implements [store.Keys].
func (refusing) CreateKey(context.Context, store.NewKey) (store.Key, string, error) {
	return store.Key{}, "", refused()
}

// Authenticate implements [store.Keys].
func (refusing) Authenticate(context.Context, string) (store.Key, error) {
	return store.Key{}, proviso.Errorf(proviso.NotFound, "a folder of runs has no keys")
}

// Key implements [store.Keys].
func (refusing) Key(context.Context, string) (store.Key, error) {
	return store.Key{}, proviso.Errorf(proviso.NotFound, "a folder of runs has no keys")
}

// ListKeys implements [store.Keys].
func (refusing) ListKeys(_ context.Context, p store.Page) (store.List[store.Key], error) {
	return none[store.Key]("keys", p)
}

// Projects implements [store.Keys].
func (refusing) Projects(ctx context.Context) ([]store.Project, error) {
	return []store.Project{store.DefaultProject}, ctx.Err()
}

// RevokeKey implements [store.Keys].
func (refusing) RevokeKey(context.Context, string) (store.Key, error) {
	return store.Key{}, refused()
}

// Charge implements [store.Keys].
func (refusing) Charge(context.Context, string, float64) (store.Key, error) {
	return store.Key{}, refused()
}

// TouchKey implements [store.Keys].
func (refusing) TouchKey(context.Context, string, time.Time) error { return refused() }

// Several implements [store.Shared]: `proviso view` is the only server on its folder.
func (refusing) Several() bool { return false }

// PutShared implements [store.Shared].
func (refusing) PutShared(context.Context, ...store.SharedItem) error { return refused() }

// ReplaceShared implements [store.Shared].
func (refusing) ReplaceShared(context.Context, store.SharedItem) (bool, error) {
	return false, refused()
}

// GetShared implements [store.Shared].
func (refusing) GetShared(ctx context.Context, _, _ string) (*store.SharedItem, error) {
	return nil, ctx.Err()
}

// ListShared implements [store.Shared].
func (refusing) ListShared(ctx context.Context, _, _, _ string, _ int) ([]store.SharedItem, error) {
	return nil, ctx.Err()
}

// DeleteShared implements [store.Shared].
func (refusing) DeleteShared(context.Context, string, ...string) error { return refused() }

// DeleteSharedGroup implements [store.Shared].
func (refusing) DeleteSharedGroup(context.Context, string, string) error { return refused() }

// Prune implements [store.Store]: nothing here expires.
func (refusing) Prune(ctx context.Context, _ store.Retention) (store.Pruned, error) {
	return store.Pruned{}, ctx.Err()
}

// PutDocument implements [store.Documents].
func (refusing) PutDocument(context.Context, store.NewDocument) (store.Document, bool, error) {
	return store.Document{}, false, refused()
}

// DeleteDocument implements [store.Documents].
func (refusing) DeleteDocument(context.Context, store.Kind, string) error { return refused() }

// Document implements [store.Documents].
func (refusing) Document(_ context.Context, kind store.Kind, name, _ string) (store.Document, error) {
	return store.Document{}, missing(string(kind), name)
}

// ListDocuments implements [store.Documents].
func (refusing) ListDocuments(_ context.Context, _ store.DocumentFilter, p store.Page) (store.List[store.Document], error) {
	return none[store.Document]("documents", p)
}

// AddEvaluation implements [store.Evaluations].
func (refusing) AddEvaluation(context.Context, store.NewEvaluation) (store.Evaluation, error) {
	return store.Evaluation{}, refused()
}

// Evaluation implements [store.Evaluations].
func (refusing) Evaluation(_ context.Context, id string) (store.Evaluation, error) {
	return store.Evaluation{}, missing("evaluation", id)
}

// ListEvaluations implements [store.Evaluations].
func (refusing) ListEvaluations(_ context.Context, _ store.EvaluationFilter, p store.Page) (store.List[store.Evaluation], error) {
	return none[store.Evaluation]("evaluations", p)
}

// CreateRun implements [store.Runs].
func (refusing) CreateRun(context.Context, store.NewRun) (store.Run, error) {
	return store.Run{}, refused()
}

// PlanRun implements [store.Runs].
func (refusing) PlanRun(context.Context, string, store.RunPlan) (store.Run, error) {
	return store.Run{}, refused()
}

// CancelRun implements [store.Runs].
func (refusing) CancelRun(context.Context, string) (store.Run, error) {
	return store.Run{}, refused()
}

// DeleteRun implements [store.Runs].
func (refusing) DeleteRun(context.Context, string) error { return refused() }

// ImportRun implements [store.Runs].
func (refusing) ImportRun(context.Context, store.ImportedRun, iter.Seq2[store.Result, error]) (store.Run, bool, error) {
	return store.Run{}, false, refused()
}

// AddResults implements [store.Runs].
func (refusing) AddResults(context.Context, string, []store.Result) (int, error) { return 0, refused() }

// PutWatch implements [store.Watches].
func (refusing) PutWatch(context.Context, store.NewWatch) (store.Watch, bool, error) {
	return store.Watch{}, false, refused()
}

// Watch implements [store.Watches].
func (refusing) Watch(_ context.Context, name string) (store.Watch, error) {
	return store.Watch{}, missing("watch", name)
}

// ListWatches implements [store.Watches].
func (refusing) ListWatches(_ context.Context, p store.Page) (store.List[store.Watch], error) {
	return none[store.Watch]("watches", p)
}

// WatchVersions implements [store.Watches].
func (refusing) WatchVersions(_ context.Context, name string, _ store.Page) (store.List[store.Watch], error) {
	return store.List[store.Watch]{}, missing("watch", name)
}

// DeleteWatch implements [store.Watches].
func (refusing) DeleteWatch(context.Context, string) error { return refused() }

// WatchHealth implements [store.Watches].
func (refusing) WatchHealth(_ context.Context, name string, _ time.Time) (store.WatchHealth, error) {
	return store.WatchHealth{}, missing("watch", name)
}

// EnqueueEvents implements [store.EventJobs].
func (refusing) EnqueueEvents(context.Context, string, []store.Backfill, ...string) (int, error) {
	return 0, refused()
}

// LeaseEvents implements [store.EventJobs].
func (refusing) LeaseEvents(context.Context, store.LeaseEvents) ([]store.EventLease, error) {
	return nil, refused()
}

// SettleEvents implements [store.EventJobs].
func (refusing) SettleEvents(context.Context, string, []store.EventResult) (int, error) {
	return 0, refused()
}

// ReleaseEvents implements [store.EventJobs].
func (refusing) ReleaseEvents(context.Context, string, []store.EventLease) error { return refused() }

// ListVerdicts implements [store.EventJobs].
func (refusing) ListVerdicts(_ context.Context, _ store.VerdictFilter, p store.Page) (store.List[store.WatchVerdict], error) {
	return none[store.WatchVerdict]("verdicts", p)
}

// Series implements [store.EventJobs].
func (refusing) Series(_ context.Context, f store.SeriesFilter) ([]store.Bucket, error) {
	return nil, missing("watch", f.Watch)
}

// Observations implements [store.Charts].
func (refusing) Observations(_ context.Context, watch string, _ int64, _ int) ([]store.WatchVerdict, error) {
	return nil, missing("watch", watch)
}

// Charts implements [store.Charts].
func (refusing) Charts(_ context.Context, watch string) (store.ChartState, error) {
	return store.ChartState{}, missing("watch", watch)
}

// SaveCharts implements [store.Charts].
func (refusing) SaveCharts(context.Context, string, store.ChartSave) error { return refused() }

// Anchors implements [store.Charts].
func (refusing) Anchors(_ context.Context, watch string, _ int) ([]store.AnchorRound, error) {
	return nil, missing("watch", watch)
}

// ListAlarms implements [store.Alarms].
func (refusing) ListAlarms(_ context.Context, _ store.AlarmFilter, p store.Page) (store.List[store.Alarm], error) {
	return none[store.Alarm]("alarms", p)
}

// Alarm implements [store.Alarms].
func (refusing) Alarm(_ context.Context, id string) (store.Alarm, error) {
	return store.Alarm{}, missing("alarm", id)
}

// AckAlarm implements [store.Alarms].
func (refusing) AckAlarm(context.Context, string, store.Ack) (store.Alarm, error) {
	return store.Alarm{}, refused()
}

// LeaseNotices implements [store.Outbox].
func (refusing) LeaseNotices(context.Context, time.Duration, int) ([]store.Notice, error) {
	return nil, nil
}

// SettleNotice implements [store.Outbox].
func (refusing) SettleNotice(context.Context, store.NoticeResult) error { return refused() }

// ListNotices implements [store.Outbox].
func (refusing) ListNotices(_ context.Context, _ string, p store.Page) (store.List[store.Notice], error) {
	return none[store.Notice]("notices", p)
}

// AddEvents implements [store.Traffic].
func (refusing) AddEvents(context.Context, []store.NewEvent) (store.AddedEvents, error) {
	return store.AddedEvents{}, refused()
}

// Event implements [store.Traffic].
func (refusing) Event(_ context.Context, id string) (store.Event, error) {
	return store.Event{}, missing("event", id)
}

// ListEvents implements [store.Traffic].
func (refusing) ListEvents(_ context.Context, _ store.EventFilter, p store.Page) (store.List[store.Event], error) {
	return none[store.Event]("events", p)
}

// Conversation implements [store.Traffic].
func (refusing) Conversation(_ context.Context, conversation string, _ store.Page) (store.List[store.Event], error) {
	return store.List[store.Event]{}, missing("conversation", conversation)
}

// AddFeedback implements [store.Traffic].
func (refusing) AddFeedback(context.Context, ingest.Feedback) (bool, error) {
	return false, refused()
}

// ListFeedback implements [store.Traffic].
func (refusing) ListFeedback(_ context.Context, _ store.FeedbackFilter, p store.Page) (store.List[store.Feedback], error) {
	return none[store.Feedback]("feedback", p)
}

// ForgetUser implements [store.Traffic].
func (refusing) ForgetUser(context.Context, string) (store.Forgotten, error) {
	return store.Forgotten{}, refused()
}

// ListAgents implements [store.Traffic].
func (refusing) ListAgents(_ context.Context, p store.Page) (store.List[store.Agent], error) {
	return none[store.Agent]("agents", p)
}

// ListPrompts implements [store.Traffic].
func (refusing) ListPrompts(_ context.Context, agent string, _ store.Page) (store.List[store.AgentPrompt], error) {
	return store.List[store.AgentPrompt]{}, missing("agent", agent)
}

// CountTraffic implements [store.Traffic].
func (refusing) CountTraffic(context.Context, store.TrafficFilter) ([]store.TrafficCount, error) {
	return nil, nil
}

// AddSpans implements [store.Traces].
func (refusing) AddSpans(context.Context, string, []store.SpanPart, store.TraceLimits) ([]string, error) {
	return nil, refused()
}

// AwaitTrace implements [store.Traces].
func (refusing) AwaitTrace(context.Context, string, string, time.Duration) error { return refused() }

// Trace implements [store.Traces]: no spans are received here.
func (refusing) Trace(ctx context.Context, _, _ string, after int64) (store.Trace, error) {
	return store.Trace{Next: after}, ctx.Err()
}

// DropTrace implements [store.Traces].
func (refusing) DropTrace(context.Context, string, string) error { return refused() }

// AddLook implements [store.Looks].
func (refusing) AddLook(context.Context, string, string) (int, error) { return 0, refused() }

// CountLooks implements [store.Looks]: a read-only store has no trials.
func (refusing) CountLooks(ctx context.Context, _, _ string) (int, error) { return 0, ctx.Err() }
