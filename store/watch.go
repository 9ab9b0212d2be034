package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso"
)

// Watching is what a project watches in its traffic: watches, the jobs that evaluate
// sampled events, the verdicts, the state of the charts, alarms, and what is to be told
// to people. Events themselves are in Traffic, whose AddEvents enqueues the jobs.
type Watching interface {
	Watches
	EventJobs
	Charts
	Alarms
	Outbox
}

// Watches are named, each with all its versions.
type Watches interface {
	// PutWatch makes w the current version of its name. The content of the current
	// version again makes no new one. created is false if there was a watch of that
	// name. At most MaxWatches are in a project.
	PutWatch(ctx context.Context, w NewWatch) (watch Watch, created bool, err error)
	// Watch returns the current version of a watch.
	Watch(ctx context.Context, name string) (Watch, error)
	// ListWatches lists watches by name.
	ListWatches(ctx context.Context, p Page) (List[Watch], error)
	// WatchVersions lists the versions of a watch, newest first.
	WatchVersions(ctx context.Context, name string, p Page) (List[Watch], error)
	// DeleteWatch removes a watch with its jobs, verdicts, charts and alarms. What it
	// spent stays counted while a watch of that name is made again on the same day.
	DeleteWatch(ctx context.Context, name string) error
	// WatchHealth returns how the work of a watch goes.
	WatchHealth(ctx context.Context, name string, now time.Time) (WatchHealth, error)
}

// EventJobs are the evaluations of events that watches sampled, and their verdicts.
type EventJobs interface {
	// EnqueueEvents adds jobs for events that are stored already, for new assertions. An
	// event that waits for the watch already, or that has a verdict on one of these
	// assertions, is not added. added is the number of new jobs; jobs beyond MaxPending of
	// the watch are not added.
	EnqueueEvents(ctx context.Context, watch string, jobs []Backfill, assertions ...string) (added int, err error)
	// LeaseEvents leases jobs that are due, those for a baseline first, then the oldest.
	// It reserves r.Reserve of the day's budget for each, and leases none that would
	// exceed r.Budget. A lease that has expired is leased again; its reservation was
	// perhaps spent, and becomes uncertain.
	LeaseEvents(ctx context.Context, r LeaseEvents) ([]EventLease, error)
	// SettleEvents stores the results of leased jobs, in one transaction: verdicts that
	// are not there yet, with the rollups of these, the cost instead of the
	// reservation, and the end of each job. A verdict is known by watch, event,
	// assertion, version of the set and judge. A lease that has ended adds its
	// verdicts, and settles nothing. added is the number of new verdicts.
	SettleEvents(ctx context.Context, watch string, done []EventResult) (added int, err error)
	// ReleaseEvents puts jobs of leases back that were not begun; they are due at once.
	ReleaseEvents(ctx context.Context, watch string, leases []EventLease) error
	// ListVerdicts lists verdicts, newest first.
	ListVerdicts(ctx context.Context, f VerdictFilter, p Page) (List[WatchVerdict], error)
	// Series adds up the verdicts of a watch by time.
	Series(ctx context.Context, f SeriesFilter) ([]Bucket, error)
}

// Charts are the states of the charts of watches.
type Charts interface {
	// Observations returns the verdicts of a watch with a sequence after the given one,
	// in the order in which they were committed, at most limit.
	Observations(ctx context.Context, watch string, after int64, limit int) ([]WatchVerdict, error)
	// Charts returns the state that SaveCharts stored last, zero if there is none.
	Charts(ctx context.Context, watch string) (ChartState, error)
	// SaveCharts stores a state with the alarms that came of it and what is to be told,
	// all or nothing. If the stored cursor is not s.From, another process was first:
	// Conflict. An acknowledgement of an alarm that is stored stays.
	SaveCharts(ctx context.Context, watch string, s ChartSave) error
	// Anchors returns the latest rounds of a watch, newest first, at most limit.
	Anchors(ctx context.Context, watch string, limit int) ([]AnchorRound, error)
}

// Alarms are what watches said.
type Alarms interface {
	// ListAlarms lists alarms, newest first.
	ListAlarms(ctx context.Context, f AlarmFilter, p Page) (List[Alarm], error)
	// Alarm returns an alarm by its id.
	Alarm(ctx context.Context, id string) (Alarm, error)
	// AckAlarm says that somebody looks after an open alarm. One that is acked already
	// stays as it is; a closed one is a Conflict.
	AckAlarm(ctx context.Context, id, by string) (Alarm, error)
}

// Outbox is what is to be told to people, each notice to one target.
type Outbox interface {
	// LeaseNotices leases notices that are due, oldest first. A lease that expired is
	// leased again.
	LeaseNotices(ctx context.Context, lease time.Duration, limit int) ([]Notice, error)
	// SettleNotice records the result of sending a notice.
	SettleNotice(ctx context.Context, n NoticeResult) error
	// ListNotices lists notices of an alarm, newest first, or of all if alarm is "".
	ListNotices(ctx context.Context, alarm string, p Page) (List[Notice], error)
}

// Limits of watching.
const (
	MaxWatches   = 200     // of a project
	MaxPending   = 100_000 // jobs of a watch that wait; more events are not evaluated, and counted
	maxVerdicts  = 1_000   // of one event
	maxBuckets   = 20_000  // of a series
	MaxExcerpt   = 2_000   // bytes of the reason of a verdict
	OtherSegment = "other"
)

// NoticeID is the prefix of the ids of notices.
const NoticeID = "notice_"

// NewWatch is a version of a watch to be stored.
type NewWatch struct {
	Name      string
	Content   []byte // JSON: the watch as package monitor reads it, and what a client sent with it
	CreatedBy string // id of the API key
}

// Watch is a stored version of a watch.
type Watch struct {
	NewWatch
	Hash    string // of the content
	Number  int    // of the version, from 1
	Salt    string // of its sampling: random, and the same for all versions
	Created time.Time
	Updated time.Time // when this version was stored
}

// WatchHealth is how the work of a watch goes.
type WatchHealth struct {
	Pending     int       // jobs that wait or are leased
	Leased      int       // of these
	Oldest      time.Time // when the oldest pending job was enqueued, zero if there is none
	Dropped     int       // events of today that were not enqueued, because too many waited
	LastVerdict time.Time // when the last pass or fail was stored, zero if never
	LastError   time.Time // when a job failed last
	Error       string    // why
	Spend       Spend     // of today (UTC)
}

// Spend is what a watch spent on one day (UTC).
type Spend struct {
	Day       time.Time
	Reserved  float64 // US dollars, for leased jobs
	Spent     float64 // US dollars
	Uncertain float64 // US dollars that were reserved when work was killed, and perhaps spent
	Calls     int     // jobs that were settled
	Lost      int     // leases that expired
}

// EventJob says that a watch sampled an event. Traffic.AddEvents takes it with the event.
type EventJob struct {
	Watch       string
	Probability float64 // with which the event was sampled, over 0 and at most 1
}

// Backfill is an event to be evaluated for a new assertion.
type Backfill struct {
	Event       string
	Probability float64
}

// LeaseEvents asks for jobs of a watch.
type LeaseEvents struct {
	Watch   string
	Limit   int
	Lease   time.Duration // after which another worker may take the job
	Reserve float64       // US dollars that one job is expected to cost
	Budget  float64       // US dollars of a day (UTC) for the watch; 0 means no limit
}

// EventLease is a job that is leased.
type EventLease struct {
	Job         int64
	Token       int64 // of the lease
	Event       string
	Probability float64
	Backfill    bool // for the baseline of a new assertion
	Attempt     int  // from 1
	Enqueued    time.Time
}

// EventResult is the result of a leased job.
type EventResult struct {
	EventLease
	Verdicts []WatchVerdict // Sequence and At are set by the store
	Cost     float64        // US dollars
	Error    string         // why it is not done; "" if it is
	Again    time.Time      // when to try again; zero ends the job, done or not
}

// WatchVerdict is a verdict on one assertion for one event.
type WatchVerdict struct {
	Sequence     int64 // grows in the order of commits
	Event        string
	Conversation string // "" if the event is one of its own
	Agent        string
	Assertion    string
	Set          string    // hash of the version of the assertion set
	Version      string    // of the agent
	Judge        string    // identity, "" if none was asked
	Model        string    // of the agent, "" if unknown
	Prompt       string    // hash of the agent's prompt, "" if unknown
	Segment      string    // value of the watch's segment, "" if it has none
	Time         time.Time // of the event
	At           time.Time // when it was stored
	Probability  float64
	Backfill     bool
	Status       proviso.Status
	Score        *float64
	Reason       string
	Cost         float64 // US dollars
}

// VerdictFilter selects verdicts; zero fields select all.
type VerdictFilter struct {
	Watch     string
	Events    []string
	Assertion string
	Version   string
	Judge     string
	Segment   string
	Status    []proviso.Status
	Since     time.Time // of the event, then or later
	Until     time.Time // of the event, before
}

// SeriesFilter selects the buckets of a series.
type SeriesFilter struct {
	Watch     string
	Assertion string        // "" for all
	From, To  time.Time     // of the events; To is excluded
	Step      time.Duration // an hour or a multiple of it, or, within the last 48 hours, from a minute
	By        SeriesBy
}

// SeriesBy says how the buckets of a series are told apart.
type SeriesBy string

// The ways to tell buckets apart.
const (
	ByVersion SeriesBy = "version" // of the agent, and by judge
	BySegment SeriesBy = "segment"
)

// Bucket adds up the verdicts on one assertion in a span of time. Weights are the inverse
// of the probabilities with which events were sampled.
type Bucket struct {
	Start                       time.Time
	Assertion                   string
	Version                     string // of the agent, with ByVersion
	Judge                       string // identity, with ByVersion
	Segment                     string // with BySegment
	Pass, Fail, Errors, Skipped int
	Weight                      float64 // of pass and fail
	Failing                     float64 // weight of fail
	Squares                     float64 // sum of squared weights of pass and fail
	Cost                        float64 // US dollars
}

// ChartState is the state of the charts of a watch.
type ChartState struct {
	Cursor int64 // sequence of the last verdict in it
	State  []byte
	Saved  time.Time // zero if there is none
}

// ChartSave is a new state of the charts of a watch.
type ChartSave struct {
	From    int64 // cursor of the state that it was made from
	Cursor  int64
	State   []byte
	Alarms  []Alarm // opened, updated or closed
	Notices []NewNotice
	Anchors *AnchorRound // that the state knows from now on, with its cost; nil if there is none
}

// AlarmState is the state of an alarm.
type AlarmState string

// The states of alarms.
const (
	AlarmOpen   AlarmState = "open"
	AlarmAcked  AlarmState = "acked"
	AlarmClosed AlarmState = "closed"
)

// Alarm is a stored alarm.
type Alarm struct {
	ID        string
	Watch     string
	Kind      string // agent, judge, mix or silent
	Assertion string
	State     AlarmState
	Opened    time.Time
	Closed    time.Time // zero if it is not
	Updated   time.Time
	AckedBy   string
	AckedAt   time.Time
	Body      json.RawMessage // the alarm as clients see it
}

// AlarmFilter selects alarms; zero fields select all.
type AlarmFilter struct {
	Watch     string
	Kind      string
	Assertion string
	State     []AlarmState
	Since     time.Time // not closed before
	Until     time.Time // opened before
}

// NewNotice is something to be told to a target.
type NewNotice struct {
	Alarm  string          // id
	Target string          // name, as slack:oncall
	Event  string          // what happened to the alarm: opened, closed
	Body   json.RawMessage // the alarm
	Due    time.Time       // not before, zero for now
}

// Notice is a stored notice. The same event of an alarm is told to a target only once.
type Notice struct {
	NewNotice
	ID       string
	Token    int64 // of the lease
	Attempts int   // that were begun
	Created  time.Time
	Sent     time.Time // zero if it was not
	Dropped  time.Time // when it was given up, zero if it was not
	Error    string    // of the last attempt
	Remote   string    // what the target calls it, such as the number of an issue
}

// NoticeResult is the result of sending a notice.
type NoticeResult struct {
	ID     string
	Token  int64
	Error  string    // why it was not sent; "" if it was
	Again  time.Time // when to try again; zero gives it up
	Remote string    // what the target calls it
}

// AnchorRound is a judgement of all anchors of a watch at one time.
type AnchorRound struct {
	At      time.Time
	Judge   string  // identity
	Set     string  // hash of the version of the assertion set
	Cost    float64 // US dollars
	Results json.RawMessage
}
