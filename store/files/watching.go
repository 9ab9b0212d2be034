package files

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// unwatched is the part of [refusing] about watches: a folder of runs has none.
type unwatched struct{}

func noWatch(name string) error {
	return proviso.Errorf(proviso.NotFound, "there is no watch %q: a folder of runs has none", name)
}

// PutWatch implements [store.Watches].
func (unwatched) PutWatch(context.Context, store.NewWatch) (store.Watch, bool, error) {
	return store.Watch{}, false, refused()
}

// Watch implements [store.Watches].
func (unwatched) Watch(_ context.Context, name string) (store.Watch, error) {
	return store.Watch{}, noWatch(name)
}

// ListWatches implements [store.Watches].
func (unwatched) ListWatches(_ context.Context, p store.Page) (store.List[store.Watch], error) {
	return none[store.Watch]("watches", p)
}

// WatchVersions implements [store.Watches].
func (unwatched) WatchVersions(_ context.Context, name string, _ store.Page) (store.List[store.Watch], error) {
	return store.List[store.Watch]{}, noWatch(name)
}

// DeleteWatch implements [store.Watches].
func (unwatched) DeleteWatch(context.Context, string) error { return refused() }

// WatchHealth implements [store.Watches].
func (unwatched) WatchHealth(_ context.Context, name string, _ time.Time) (store.WatchHealth, error) {
	return store.WatchHealth{}, noWatch(name)
}

// EnqueueEvents implements [store.EventJobs].
func (unwatched) EnqueueEvents(context.Context, string, []store.Backfill, ...string) (int, error) {
	return 0, refused()
}

// LeaseEvents implements [store.EventJobs].
func (unwatched) LeaseEvents(context.Context, store.LeaseEvents) ([]store.EventLease, error) {
	return nil, refused()
}

// SettleEvents implements [store.EventJobs].
func (unwatched) SettleEvents(context.Context, string, []store.EventResult) (int, error) {
	return 0, refused()
}

// ReleaseEvents implements [store.EventJobs].
func (unwatched) ReleaseEvents(context.Context, string, []store.EventLease) error { return refused() }

// ListVerdicts implements [store.EventJobs].
func (unwatched) ListVerdicts(_ context.Context, _ store.VerdictFilter, p store.Page) (store.List[store.WatchVerdict], error) {
	return none[store.WatchVerdict]("verdicts", p)
}

// Series implements [store.EventJobs].
func (unwatched) Series(_ context.Context, f store.SeriesFilter) ([]store.Bucket, error) {
	return nil, noWatch(f.Watch)
}

// Observations implements [store.Charts].
func (unwatched) Observations(_ context.Context, watch string, _ int64, _ int) ([]store.WatchVerdict, error) {
	return nil, noWatch(watch)
}

// Charts implements [store.Charts].
func (unwatched) Charts(_ context.Context, watch string) (store.ChartState, error) {
	return store.ChartState{}, noWatch(watch)
}

// SaveCharts implements [store.Charts].
func (unwatched) SaveCharts(context.Context, string, store.ChartSave) error { return refused() }

// Anchors implements [store.Charts].
func (unwatched) Anchors(_ context.Context, watch string, _ int) ([]store.AnchorRound, error) {
	return nil, noWatch(watch)
}

// ListAlarms implements [store.Alarms].
func (unwatched) ListAlarms(_ context.Context, _ store.AlarmFilter, p store.Page) (store.List[store.Alarm], error) {
	return none[store.Alarm]("alarms", p)
}

// Alarm implements [store.Alarms].
func (unwatched) Alarm(_ context.Context, id string) (store.Alarm, error) {
	return store.Alarm{}, proviso.Errorf(proviso.NotFound, "there is no alarm %q: a folder of runs has none", id)
}

// AckAlarm implements [store.Alarms].
func (unwatched) AckAlarm(context.Context, string, string) (store.Alarm, error) {
	return store.Alarm{}, refused()
}

// LeaseNotices implements [store.Outbox].
func (unwatched) LeaseNotices(context.Context, time.Duration, int) ([]store.Notice, error) {
	return nil, nil
}

// SettleNotice implements [store.Outbox].
func (unwatched) SettleNotice(context.Context, store.NoticeResult) error { return refused() }

// ListNotices implements [store.Outbox].
func (unwatched) ListNotices(_ context.Context, _ string, p store.Page) (store.List[store.Notice], error) {
	return none[store.Notice]("notices", p)
}
