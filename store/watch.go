package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/proviso-eval/proviso"
)

// Watching is how a project watches its traffic: watches, the jobs that evaluate sampled
// events, the verdicts, chart states, alarms, and notices to people. Events themselves are in
// Traffic, whose AddEvents enqueues the jobs.
type Watching interface {
	Watches
	EventJobs
	Charts
	Alarms
	Outbox
}

// Watches are named, each with all its versions.
type Watches interface {
	// PutWatch makes w the current version of its name. The same content as the current version
	// makes no new one. created is false if a watch of that name existed. A project has at most
	// MaxWatches.
	PutWatch(ctx context.Context, w NewWatch) (watch Watch, created bool, err error)
	// Watch returns the current version of a watch.
	Watch(ctx context.Context, name string) (Watch, error)
	// ListWatches lists watches by name.
	ListWatches(ctx context.Context, p Page) (List[Watch], error)
	// WatchVersions lists the versions of a watch, newest first.
	WatchVersions(ctx context.Context, name string, p Page) (List[Watch], error)
	// DeleteWatch removes a watch with its jobs, verdicts, charts and alarms. Its spend still
	// counts if a watch of that name is made again on the same day.
	DeleteWatch(ctx context.Context, name string) error
	// WatchHealth returns the state of a watch's work.
	WatchHealth(ctx context.Context, name string, now time.Time) (WatchHealth, error)
}

// EventJobs are the evaluations of events that watches sampled, and their verdicts.
type EventJobs interface {
	// EnqueueEvents adds jobs for stored events, for new assertions. It leaves out events that
	// are already pending for the watch or have a verdict on one of the assertions, and jobs
	// beyond MaxPending of the watch. added is the number of new jobs.
	EnqueueEvents(ctx context.Context, watch string, jobs []Backfill, assertions ...string) (added int, err error)
	// LeaseEvents leases due jobs, those for a baseline first, then the oldest. It reserves
	// r.Reserve of the day's budget for each, and leases none that would exceed r.Budget. An
	// expired lease is leased again; its reservation may have been spent, and is counted as
	// uncertain.
	LeaseEvents(ctx context.Context, r LeaseEvents) ([]EventLease, error)
	// SettleEvents stores the results of leased jobs in one transaction: new verdicts with
	// their rollups, the cost in place of the reservation, and the end of each job. A verdict
	// is identified by watch, event, assertion, set version and judge. A lease that has ended
	// adds its verdicts but settles nothing. added is the number of new verdicts.
	SettleEvents(ctx context.Context, watch string, done []EventResult) (added int, err error)
	// ReleaseEvents returns leased jobs that were not started; they are due at once.
	ReleaseEvents(ctx context.Context, watch string, leases []EventLease) error
	// ListVerdicts lists verdicts, newest first.
	ListVerdicts(ctx context.Context, f VerdictFilter, p Page) (List[WatchVerdict], error)
	// Series adds up the verdicts of a watch by time.
	Series(ctx context.Context, f SeriesFilter) ([]Bucket, error)
}

// Charts are the chart states of watches.
type Charts interface {
	// Observations returns at most limit verdicts of a watch with a sequence after the given
	// one, in commit order.
	Observations(ctx context.Context, watch string, after int64, limit int) ([]WatchVerdict, error)
	// Charts returns the state that SaveCharts stored last, zero if there is none.
	Charts(ctx context.Context, watch string) (ChartState, error)
	// SaveCharts stores a state with the resulting alarms and notices, all or nothing. If the
	// stored cursor is not s.From, another process was first, and the error is a Conflict. A
	// stored acknowledgement of an alarm stays.
	SaveCharts(ctx context.Context, watch string, s ChartSave) error
	// Anchors returns at most limit rounds of a watch, newest first.
	Anchors(ctx context.Context, watch string, limit int) ([]AnchorRound, error)
}

// Alarms are the alarms of watches.
type Alarms interface {
	// ListAlarms lists alarms, newest first.
	ListAlarms(ctx context.Context, f AlarmFilter, p Page) (List[Alarm], error)
	// Alarm returns an alarm by its id.
	Alarm(ctx context.Context, id string) (Alarm, error)
	// AckAlarm acknowledges an alarm. Acknowledging it again changes nothing, unless it brings a
	// note: then the newest counts. A closed alarm is a Conflict.
	AckAlarm(ctx context.Context, id string, a Ack) (Alarm, error)
}

// Outbox holds notices to people, each for one target.
type Outbox interface {
	// LeaseNotices leases due notices, oldest first. An expired lease is leased again.
	LeaseNotices(ctx context.Context, lease time.Duration, limit int) ([]Notice, error)
	// SettleNotice records the result of sending a notice.
	SettleNotice(ctx context.Context, n NoticeResult) error
	// ListNotices lists an alarm's notices, newest first, or all notices if alarm is "".
	ListNotices(ctx context.Context, alarm string, p Page) (List[Notice], error)
}

// Limits of watches.
const (
	MaxWatches   = 200     // watches of a project
	MaxPending   = 100_000 // pending jobs of a watch; further events are counted but not evaluated
	maxVerdicts  = 1_000   // verdicts on one event
	maxBuckets   = 20_000  // buckets of a series
	MaxExcerpt   = 2_000   // bytes of a verdict's reason
	OtherSegment = "other"
)

// NoticeID is the prefix of the ids of notices.
const NoticeID = "notice_"

// NewWatch is a version of a watch to be stored.
type NewWatch struct {
	Name      string
	Content   []byte // JSON: the watch in the format of package monitor, with what a client sent with it
	CreatedBy string // id of the API key
}

// Watch is a stored version of a watch.
type Watch struct {
	NewWatch
	Hash    string // hash of the content
	Number  int    // version number, from 1
	Salt    string // sampling salt: random, and the same for all versions
	Created time.Time
	Updated time.Time // when this version was stored
}

// WatchHealth is the state of a watch's work.
type WatchHealth struct {
	Pending     int       // jobs that are waiting or leased
	Leased      int       // leased jobs
	Oldest      time.Time // when the oldest pending job was enqueued, zero if there is none
	Dropped     int       // today's events that were not enqueued because too many were pending
	LastVerdict time.Time // when the last pass or fail was stored, zero if never
	LastError   time.Time // when a job last failed
	Error       string    // error of that job
	Spend       Spend     // spend of today (UTC)
}

// Spend is what a watch spent on one day (UTC).
type Spend struct {
	Day       time.Time
	Reserved  float64 // US dollars reserved for leased jobs
	Spent     float64 // US dollars
	Uncertain float64 // US dollars that were reserved when work was killed, and may have been spent
	Calls     int     // settled jobs
	Lost      int     // expired leases
}

// EventJob records that a watch sampled an event. Traffic.AddEvents stores it with the event.
type EventJob struct {
	Watch       string
	Probability float64 // inclusion probability of the event, over 0 and at most 1
}

// Backfill is an event to be evaluated for a new assertion.
type Backfill struct {
	Event       string
	Probability float64
}

// LeaseEvents requests jobs of a watch.
type LeaseEvents struct {
	Watch   string
	Limit   int
	Lease   time.Duration // time after which another worker may take the job
	Reserve float64       // expected cost of a job, in US dollars
	Budget  float64       // daily budget (UTC) of the watch in US dollars; 0 means no limit
}

// EventLease is a leased job.
type EventLease struct {
	Job         int64
	Token       int64 // lease token
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
	Error    string         // why the job failed; "" if it is done
	Again    time.Time      // when to retry; zero ends the job, done or not
}

// WatchVerdict is a verdict on one assertion for one event.
type WatchVerdict struct {
	Sequence     int64 // increasing in commit order
	Event        string
	Conversation string // "" if the event belongs to no conversation
	Agent        string
	Assertion    string
	Set          string    // hash of the assertion set's version
	Version      string    // version of the agent
	Judge        string    // judge identity, "" if none was used
	Model        string    // model of the agent, "" if unknown
	Prompt       string    // hash of the agent's prompt, "" if unknown
	Segment      string    // value of the watch's segment, "" if there is none
	Time         time.Time // time of the event
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
	Since     time.Time // time of the event, inclusive
	Until     time.Time // time of the event, exclusive
}

// SeriesFilter selects the buckets of a series.
type SeriesFilter struct {
	Watch     string
	Assertion string        // "" for all
	From, To  time.Time     // time of the events; To is excluded
	Step      time.Duration // an hour or a multiple of it; within the last 48 hours, also from a minute
	By        SeriesBy
}

// SeriesBy is the dimension by which buckets are split.
type SeriesBy string

// The dimensions of buckets.
const (
	ByVersion SeriesBy = "version" // by version of the agent and by judge
	BySegment SeriesBy = "segment"
)

// Bucket adds up the verdicts on one assertion in a period. Weights are inverse inclusion
// probabilities.
type Bucket struct {
	Start                       time.Time
	Assertion                   string
	Version                     string // version of the agent, with ByVersion
	Judge                       string // identity, with ByVersion
	Segment                     string // with BySegment
	Pass, Fail, Errors, Skipped int
	Weight                      float64 // weight of pass and fail
	Failing                     float64 // weight of fail
	Squares                     float64 // sum of squared weights of pass and fail
	Cost                        float64 // US dollars
}

// ChartState is the state of the charts of a watch.
type ChartState struct {
	Cursor int64 // sequence of the last verdict that it includes
	State  []byte
	Saved  time.Time // zero if there is none
}

// ChartSave is a new state of the charts of a watch.
type ChartSave struct {
	From    int64 // cursor of the previous state
	Cursor  int64
	State   []byte
	Alarms  []Alarm // opened, updated or closed
	Notices []NewNotice
	Anchors *AnchorRound // new anchor round in the state, with its cost; nil if there is none
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
	Closed    time.Time // zero if it is not closed
	Updated   time.Time
	Ack       Ack             // by whom it is acknowledged; zero if it is not
	AckedAt   time.Time       // zero if it is not acknowledged
	Body      json.RawMessage // the alarm as clients see it
}

// Ack says who looks after an alarm.
type Ack struct {
	By   string // name
	Note string // what they know or do about it, up to [MaxAckNote] characters; "" says nothing
}

// MaxAckNote is the most characters of the note of an [Ack].
const MaxAckNote = 1000

// AlarmFilter selects alarms; zero fields select all.
type AlarmFilter struct {
	Watch     string
	Kind      string
	Assertion string
	State     []AlarmState
	Since     time.Time // exclude alarms closed before
	Until     time.Time // opened before
}

// NewNotice is a notice to one target.
type NewNotice struct {
	Alarm  string          // id
	Target string          // name of the target, such as slack:oncall
	Event  string          // event of the alarm: opened, closed
	Body   json.RawMessage // the alarm
	Due    time.Time       // earliest time to send it, zero for now
}

// Notice is a stored notice. Each event of an alarm is sent to a target only once.
type Notice struct {
	NewNotice
	ID       string
	Token    int64 // lease token
	Attempts int   // attempts to send it
	Created  time.Time
	Sent     time.Time // zero if it was not sent
	Dropped  time.Time // when it was given up, zero if it was not
	Error    string    // error of the last attempt
	Remote   string    // the target's name for it, such as the number of an issue
}

// NoticeResult is the result of sending a notice.
type NoticeResult struct {
	ID     string
	Token  int64
	Error  string    // why it was not sent; "" if it was
	Again  time.Time // when to retry; zero gives up
	Remote string    // the target's name for it
}

// AnchorRound is one judgement of all anchors of a watch.
type AnchorRound struct {
	At      time.Time
	Judge   string  // judge identity
	Set     string  // hash of the assertion set's version
	Cost    float64 // US dollars
	Results json.RawMessage
}
