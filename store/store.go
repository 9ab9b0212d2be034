// Package store defines what a server stores, and the interfaces for doing so: API keys and
// their projects, versions of suites and assertion sets, runs with their results, evaluations,
// replies to repeated requests, short-lived items that servers share, spans of traces, and the
// jobs that execute runs. It holds types, interfaces and the few rules that every store shares.
// SQL is in the packages below it; the contract, as tests, is in store/storetest.
//
// Start at [Store], which a server is given, and at [Jobs], which executes runs.
package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/proviso-eval/proviso/label"
)

// Store is everything a server stores. Implementations are safe for concurrent
// use. When a method that writes returns without an error, its changes survive
// the death of the process.
//
// Errors are of type *proviso.Error: NotFound for missing items, Conflict for a
// conflicting state, Invalid for malformed input, Limit for input that is too
// large, Refused for what is not allowed, Unavailable when the store cannot be
// reached. An error of the context is returned unchanged.
type Store interface {
	Keys
	Replies
	Shared

	// In returns the data of one project. It is the only access to project data, so that every
	// caller has to name the project. Items of another project are NotFound, or not listed, and
	// their names are free. A project without a name is empty and stores nothing.
	In(p Project) ProjectStore

	// Prune removes expired data and data older than r allows, in steps that let other writers
	// in between.
	Prune(ctx context.Context, r Retention) (Pruned, error)
	// Ping reports whether the store can be read and written.
	Ping(ctx context.Context) error
	// Texts returns nil if texts can be read and stored, or an error with the cause
	// [ErrSealed].
	Texts(ctx context.Context) error
	// Waiting returns the projects with runs that have not ended, ordered by project name, with
	// counts of these runs.
	Waiting(ctx context.Context) ([]Waiting, error)
	// Processes returns the processes with a recent heartbeat that execute runs, in the order
	// of their starts. Processes of versions without heartbeats are not listed.
	Processes(ctx context.Context) ([]Process, error)
	// Close waits for current writes and releases all resources. Jobs must be
	// stopped first. A second Close does nothing.
	Close() error
}

// ProjectStore is the data of one project.
type ProjectStore interface {
	Documents
	Runs
	Evaluations
	Labels
	LabelQueues
	Traffic
	Watching
	Looks
	Traces
}

// Keys are the API keys of clients, each of one project.
type Keys interface {
	// CreateKey makes a key and returns it with its secret, which is not stored
	// and cannot be retrieved again.
	CreateKey(ctx context.Context, k NewKey) (key Key, secret string, err error)
	// Authenticate returns the key that a secret belongs to: NotFound if there is
	// none, Refused if it was revoked. The error never holds the secret.
	Authenticate(ctx context.Context, secret string) (Key, error)
	// Key returns a key by its id, revoked or not.
	Key(ctx context.Context, id string) (Key, error)
	// ListKeys lists keys, newest first, revoked ones included.
	ListKeys(ctx context.Context, p Page) (List[Key], error)
	// Projects returns DefaultProject and all projects that have a key, revoked or not, ordered
	// by name.
	Projects(ctx context.Context) ([]Project, error)
	// RevokeKey revokes a key permanently. Revoking a revoked key changes nothing.
	RevokeKey(ctx context.Context, id string) (Key, error)
	// Charge adds an amount spent, in US dollars, to a key and returns the key. It adds amounts
	// beyond the budget, too, because the money has been spent, and also charges a revoked key.
	Charge(ctx context.Context, id string, dollars float64) (Key, error)
	// TouchKey records when a key was last used; the time never goes back. Once a minute per
	// key is enough.
	TouchKey(ctx context.Context, id string, at time.Time) error
}

// Documents are suites, assertion sets and datasets, each name with all its versions.
type Documents interface {
	// PutDocument makes d the current version of its name. Storing the same content and prompt
	// hash again makes no new version: created is false, and that version becomes the current
	// one again. If d.Replaces is not the current version, nothing is stored, the error is a
	// Conflict, and doc is the current version, zero if there is none. It is no conflict if the
	// current version already has the content of d.
	PutDocument(ctx context.Context, d NewDocument) (doc Document, created bool, err error)
	// DeleteDocument removes a name with all its versions: NotFound if there is none. If the
	// name is used again, version numbers restart at 1.
	DeleteDocument(ctx context.Context, kind Kind, name string) error
	// Document returns a version by its hash, or the current one if hash is "".
	Document(ctx context.Context, kind Kind, name, hash string) (Document, error)
	// ListDocuments lists documents without their content: the current version of
	// every name, by kind and name, or all versions of one name, newest first.
	ListDocuments(ctx context.Context, f DocumentFilter, p Page) (List[Document], error)
}

// Runs are executions of suites, and their results.
type Runs interface {
	// CreateRun stores a run as queued, enqueues its job and stores the reply of r, all or
	// nothing. An existing id is a Conflict.
	CreateRun(ctx context.Context, r NewRun) (Run, error)
	// Run returns a run by its id.
	Run(ctx context.Context, id string) (Run, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, f RunFilter, p Page) (List[Run], error)
	// PlanRun records what is known after planning: the number of rows, the judges and the
	// resulting need. It may be called again. If the run already has another need in the place
	// that plan.Fix sets, nothing changes; the caller sees the difference in the needs of the
	// returned run.
	PlanRun(ctx context.Context, id string, plan RunPlan) (Run, error)
	// CancelRun cancels a queued or running run and the context of the work on it. A run that
	// has ended is a Conflict.
	CancelRun(ctx context.Context, id string) (Run, error)
	// DeleteRun removes a run that has ended, with its results. A run that has
	// not ended is a Conflict.
	DeleteRun(ctx context.Context, id string) error

	// ImportRun stores a run that was made elsewhere as done, with its results, all or nothing.
	// With fewer results than rows the run is cancelled, and its error is [Interrupted]. The
	// results are stored in steps so that other writers need not wait, and nothing of the run
	// is visible before the last step. If the project has a run with this id, that run is
	// returned and created is false; if another project has it, it is a Conflict. An error of
	// rows is returned as it is. Two rows with the same index are Invalid.
	ImportRun(ctx context.Context, r ImportedRun, rows iter.Seq2[Result, error]) (run Run, created bool, err error)
	// RunFile returns the lines other than rows of an imported run; NotFound if the run was not
	// imported. An interrupted run has no trailer.
	RunFile(ctx context.Context, id string) (RunFile, error)

	// AddResults stores finished rows, all or none, adds them to the run's totals, and charges
	// their cost to the key that created the run, if there is one. A row whose index exists
	// already is left unchanged and not counted again; added is the number of new rows. Rows
	// that were in flight when their run was cancelled are stored, too.
	AddResults(ctx context.Context, runID string, results []Result) (added int, err error)
	// Result returns one row.
	Result(ctx context.Context, runID string, index int) (Result, error)
	// ListResults lists rows in the order of their index. A page is shorter than
	// requested if its rows exceed MaxPageBytes.
	ListResults(ctx context.Context, runID string, f ResultFilter, p Page) (List[Result], error)
	// FinishedRows returns the indices of the stored rows, ascending. A resumed
	// run does not run them again.
	FinishedRows(ctx context.Context, runID string) ([]int, error)
	// CountAssertions counts a run's verdicts by assertion, ordered by assertion id.
	CountAssertions(ctx context.Context, runID string) ([]AssertionCount, error)
	// Tally counts a run's rows by prompt and the questions to its judges, as [ReadRow] finds
	// them in the rows' JSON.
	Tally(ctx context.Context, runID string) (Tally, error)
}

// Evaluations are single outputs that were judged.
type Evaluations interface {
	// AddEvaluation stores an evaluation and the reply of e, and charges the cost to its key,
	// if there is one, all or nothing. Concurrent calls share one transaction.
	AddEvaluation(ctx context.Context, e NewEvaluation) (Evaluation, error)
	// Evaluation returns an evaluation by its id.
	Evaluation(ctx context.Context, id string) (Evaluation, error)
	// ListEvaluations lists evaluations without request and response, newest first.
	ListEvaluations(ctx context.Context, f EvaluationFilter, p Page) (List[Evaluation], error)
}

// Labels are people's verdicts on outputs and on judge verdicts. They outlive their subject.
type Labels interface {
	// AddLabel stores a label and the reply of n, all or nothing. The same person's previous
	// label on the same subject is kept as history.
	AddLabel(ctx context.Context, n NewLabel) (Label, error)
	// Label returns a label by its id, in force or not.
	Label(ctx context.Context, id string) (Label, error)
	// ListLabels lists labels, newest first.
	ListLabels(ctx context.Context, f LabelFilter, p Page) (List[Label], error)
	// DeleteLabel removes a label; the label that it replaced is in force again. by is the
	// person who may remove it, "" for anybody: removing somebody else's label is Refused, with
	// the cause ErrNotOwn.
	DeleteLabel(ctx context.Context, id, by string) error
	// CountLabels counts the labels in force that decide, by the judge's verdict and by the
	// labels of other people on the same subject.
	CountLabels(ctx context.Context, f LabelFilter) (label.Counts, error)
}

// LabelQueues are queues of outputs, most useful to label first. An item is done when enough
// people have labelled it, through the queue or not.
type LabelQueues interface {
	// PutLabelQueue stores a queue with its items, all or nothing. It replaces a queue with the
	// same name and ends its leases; created is false in that case.
	PutLabelQueue(ctx context.Context, q NewLabelQueue) (queue LabelQueue, created bool, err error)
	// LabelQueue returns a queue by its name.
	LabelQueue(ctx context.Context, name string) (LabelQueue, error)
	// ListLabelQueues lists queues by name.
	ListLabelQueues(ctx context.Context, p Page) (List[LabelQueue], error)
	// ListLabelItems lists the items of a queue in their order.
	ListLabelItems(ctx context.Context, queue string, p Page) (List[LabelItem], error)
	// DeleteLabelQueue removes a queue. The labels stay.
	DeleteLabelQueue(ctx context.Context, name string) error
	// LeaseLabel leases a person the next item that they have not labelled and that too few
	// people have labelled or leased; nil if there is none. Nobody else gets the item until the
	// lease expires, a label with [NewLabel.Lease] ends it, or ReturnLabel does. Renewing a
	// lease that has ended is NotFound.
	LeaseLabel(ctx context.Context, r LeaseRequest) (*Lease, error)
	// ReturnLabel ends a person's lease. A lease that has ended is NotFound.
	ReturnLabel(ctx context.Context, queue, lease, by string) error
}

// Looks count how often the held-out half of an assertion's labelled outputs in a run was
// looked at: each look is another chance for a useless change to seem better.
type Looks interface {
	// AddLook counts a look, and returns how many there were.
	AddLook(ctx context.Context, run, assertion string) (int, error)
	// CountLooks returns how many looks there were.
	CountLooks(ctx context.Context, run, assertion string) (int, error)
}

// Replies store the responses to requests with an idempotency key, so that a
// repeated request gets the same response and is executed once.
//
// Each API key, and each project, has its own idempotency keys.
//
// A server claims the key, does the work, and stores its reply: in the
// transaction of CreateRun or AddEvaluation, or with Reply. The claim of a
// failed request is released, so that it can be tried again.
type Replies interface {
	// Claim claims an idempotency key for a request. It returns the reply if the request was
	// answered before, and nil if the caller has to answer it. ErrOtherRequest means that the
	// key was used for another request, ErrInProgress that the request is still being answered;
	// both are Conflicts. A claim without a reply expires after ClaimLease, and when Jobs
	// starts.
	Claim(ctx context.Context, c Claim) (*Response, error)
	// Reply stores the response to a claimed request. An existing reply is not changed.
	Reply(ctx context.Context, r Reply) error
	// Release releases a claim without a reply. If there is none, it does nothing.
	Release(ctx context.Context, c Claim) error
}

// Work executes one job until it is done or ctx ends: when the run is cancelled, or when Jobs
// stops. It must call FinishedRows first, and store finished rows with AddResults as it goes.
// In a sharded run it executes the parts that [Job.Take] returns until there are none.
//
// The result decides the status of the run. After nil the run is done. After an error it is
// queued and retried, up to MaxAttempts times, and then failed. [Permanent] errors fail at
// once. [ErrDrained] means that work ended because of [Job.Drain]. [Unable] and [Unfit] errors
// do not count as attempts: the run is given back. It fails after it was given back
// MaxGivenBack times without a new row in between, each time by another process or for another
// reason. Errors with the cause [ErrNoRoom] do not count either: work is called again until
// there is space. When work returns because Jobs stops, the run is queued again without
// counting an attempt; a cancelled run stays cancelled.
type Work func(ctx context.Context, job Job) error

// Jobs executes the runs that [Runs.CreateRun] enqueued, in the order of their
// creation.
type Jobs interface {
	// Offer sets what this process can execute; call it before Start. Without it, the process
	// can execute everything. While the process executes runs, [Store.Processes] lists it.
	Offer(o Offer)
	// Start starts to call work, for up to a configured number of concurrent runs. Runs that a
	// killed or stopped process left behind continue at once. If only one process may work on a
	// store, the error for a second one is Refused. Start may be called again after Stop. The
	// end of ctx does not stop the jobs.
	//
	// Several processes execute the parts of a sharded run concurrently, with one job each. The
	// run is done when all of its parts are. If a process is killed or stopped, or its work
	// fails, others take its parts.
	Start(ctx context.Context, work Work) error
	// Stop starts no further work, closes [Job.Drain] of running work, and waits for it. If ctx
	// has a deadline, the context of the work ends after four fifths of the time until then;
	// otherwise it ends at once. Stop waits no longer than ctx. The runs continue at the next
	// Start, or in another process.
	Stop(ctx context.Context) error
}

// Job is one attempt to execute a run.
type Job struct {
	Run     Run
	Attempt int    // from 1; stopped or killed work is not counted
	Process string // id of the process that executes it, see [Process]
	// Take takes, for this job, the first unclaimed part of a sharded run from a row on; ok is
	// false if there is none. The parts of a job are done when its work returns nil. Take is
	// nil if the run is not sharded.
	Take func(ctx context.Context, from int) (p Part, ok bool, err error)
	// Drain is closed when Jobs stops. Work should then start nothing new, finish what is in
	// flight, and return ErrDrained if rows are left.
	Drain <-chan struct{}
}

// ErrDrained is the error of [Work] that left rows to other processes because of [Job.Drain].
var ErrDrained = errors.New("the process stops; what is left continues elsewhere")

// Waiting counts the runs of a project that have not ended.
type Waiting struct {
	Project Project
	Queued  int       // includes Unmet
	Unmet   int       // queued runs that no live process can execute
	Oldest  time.Time // creation time of the oldest queued run, zero if there is none
	Running int
	Overdue int        // running runs whose process is silent and that no other process has taken over
	Still   time.Time  // for the running run that has been without a new row for longest: when it had one, or started; zero if none is running
	Needs   [][]string // distinct needs of the queued runs, see [NewRun]
}

// Retention is how long data is kept. A zero duration keeps it for ever.
type Retention struct {
	Now         time.Time     // current time; zero means now
	Runs        time.Duration // after the end of the run
	Evaluations time.Duration // after creation
	Contents    time.Duration // texts of events and comments of thumbs, after the event was received
	Failures    time.Duration // texts of events with a failing verdict or without an answer
	Verdicts    time.Duration // verdicts on events, after they were stored; also the events themselves, and thumbs
	Rollups     time.Duration // rollups of traffic and verdicts, closed alarms, and spend
}

// Pruned counts what was removed.
type Pruned struct {
	Runs, Evaluations, Replies, Contents, Events, Verdicts int
}
