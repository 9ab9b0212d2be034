// Package store defines what a server stores, and the interfaces for doing so:
// API keys and their projects, versions of suites and assertion sets, runs with
// their results, evaluations, replies to repeated requests, what the servers on
// one store share for a while, spans of traces, and the jobs that execute runs. It holds types,
// interfaces and the few rules that every store shares. SQL is in the packages below it, and store/storetest is the contract
// as tests.
//
// Start at [Store], which a server is given, and at [Jobs], which executes
// runs.
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

	// In returns the data of one project. It is the only access to them, so that
	// every caller has to name the project. Items of another project are
	// NotFound, or not listed, and their names are free. A project without a
	// name is empty, and stores nothing.
	In(p Project) ProjectStore

	// Prune removes expired data and what is older than r allows, in steps that
	// let other writers in between.
	Prune(ctx context.Context, r Retention) (Pruned, error)
	// Ping reports whether the store can be read and written.
	Ping(ctx context.Context) error
	// Texts reports whether texts can be read and stored: if not, because of [ErrSealed].
	Texts(ctx context.Context) error
	// Waiting returns the runs of each project that have not ended, in the order of the
	// names of projects; those without such runs are not listed.
	Waiting(ctx context.Context) ([]Waiting, error)
	// Processes returns the processes that execute runs and have said so lately, in the order
	// of their starts. Those of an earlier version, which say nothing, are not listed.
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
	// Projects returns the projects that have a key, revoked or not, and
	// DefaultProject, in the order of their names.
	Projects(ctx context.Context) ([]Project, error)
	// RevokeKey revokes a key permanently. A key that is revoked already stays
	// as it is.
	RevokeKey(ctx context.Context, id string) (Key, error)
	// Charge adds an amount spent, in US dollars, to a key and returns the key.
	// It adds amounts beyond the budget, too, because the money has been spent.
	// A charge may come after the key was revoked.
	Charge(ctx context.Context, id string, dollars float64) (Key, error)
	// TouchKey records when a key was last used; the time never goes back. Once
	// a minute for each key is enough.
	TouchKey(ctx context.Context, id string, at time.Time) error
}

// Documents are suites, assertion sets and datasets, each name with all its versions.
type Documents interface {
	// PutDocument makes d the current version of its name. Storing the same
	// content and prompt hash again makes no new version: created is false, and
	// that version is the current one again. If d.Replaces is not the current version,
	// nothing is stored: Conflict, and doc is the current version, zero if there is none.
	// A current version with the content of d is none.
	PutDocument(ctx context.Context, d NewDocument) (doc Document, created bool, err error)
	// DeleteDocument removes a name with all its versions: NotFound if there is none.
	// Their numbers begin again if the name is used again.
	DeleteDocument(ctx context.Context, kind Kind, name string) error
	// Document returns a version by its hash, or the current one if hash is "".
	Document(ctx context.Context, kind Kind, name, hash string) (Document, error)
	// ListDocuments lists documents without their content: the current version of
	// every name, by kind and name, or all versions of one name, newest first.
	ListDocuments(ctx context.Context, f DocumentFilter, p Page) (List[Document], error)
}

// Runs are executions of suites, and their results.
type Runs interface {
	// CreateRun stores a run as queued and enqueues its job, with the reply of
	// r: all or nothing. An existing id is a Conflict.
	CreateRun(ctx context.Context, r NewRun) (Run, error)
	// Run returns a run by its id.
	Run(ctx context.Context, id string) (Run, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, f RunFilter, p Page) (List[Run], error)
	// PlanRun records what is known once a run is planned: the number of its
	// rows and its judge, and what it needs because of that. It may be called again. If the run
	// needs something else than what plan.Fix fixes, nothing is changed, and the caller sees
	// that in the needs of the run.
	PlanRun(ctx context.Context, id string, plan RunPlan) (Run, error)
	// CancelRun sets a queued or running run to cancelled, and ends the context
	// of the work on it. A run that has ended is a Conflict.
	CancelRun(ctx context.Context, id string) (Run, error)
	// DeleteRun removes a run that has ended, with its results. A run that has
	// not ended is a Conflict.
	DeleteRun(ctx context.Context, id string) error

	// ImportRun stores a run that was made elsewhere as done, with its results: all
	// or nothing. With fewer results than rows it is cancelled, and its error is
	// [Interrupted]. The results are stored in steps, so that other writers need not
	// wait, and nothing of the run is visible before the last one. If the project
	// has a run with this id, that one is returned and created is false; if another
	// project has it, it is a Conflict. An error of rows is returned as it is. Two
	// rows of the same index are Invalid.
	ImportRun(ctx context.Context, r ImportedRun, rows iter.Seq2[Result, error]) (run Run, created bool, err error)
	// RunFile returns what an imported run had beside its rows; NotFound if the run
	// was not imported. A run that was interrupted has no trailer.
	RunFile(ctx context.Context, id string) (RunFile, error)

	// AddResults stores finished rows, all or none, adds them to the totals of
	// the run, and charges their cost to the key that created the run, if there
	// is one. A row whose index exists already is left unchanged and not counted
	// again; added is the number of new rows. Rows in flight when their run was
	// cancelled are stored, too.
	AddResults(ctx context.Context, runID string, results []Result) (added int, err error)
	// Result returns one row.
	Result(ctx context.Context, runID string, index int) (Result, error)
	// ListResults lists rows in the order of their index. A page is shorter than
	// requested if its rows exceed MaxPageBytes.
	ListResults(ctx context.Context, runID string, f ResultFilter, p Page) (List[Result], error)
	// FinishedRows returns the indices of the stored rows, ascending. A resumed
	// run does not run them again.
	FinishedRows(ctx context.Context, runID string) ([]int, error)
	// CountAssertions counts the verdicts of a run by assertion, in the order of
	// their ids.
	CountAssertions(ctx context.Context, runID string) ([]AssertionCount, error)
	// Tally counts the rows of a run by prompt and the questions to its judges, as
	// [ReadRow] finds them in the JSON of the rows.
	Tally(ctx context.Context, runID string) (Tally, error)
}

// Evaluations are single outputs that were judged.
type Evaluations interface {
	// AddEvaluation stores an evaluation, charges its cost to its key, if there
	// is one, and stores the reply of e, all or nothing. The writes of
	// concurrent callers share one transaction.
	AddEvaluation(ctx context.Context, e NewEvaluation) (Evaluation, error)
	// Evaluation returns an evaluation by its id.
	Evaluation(ctx context.Context, id string) (Evaluation, error)
	// ListEvaluations lists evaluations without request and response, newest first.
	ListEvaluations(ctx context.Context, f EvaluationFilter, p Page) (List[Evaluation], error)
}

// Labels are what people say of outputs and of the verdicts on them. They outlive what
// they are about.
type Labels interface {
	// AddLabel stores a label, and the reply of n, all or nothing. It replaces the
	// label of the same person on the same subject, which is kept as history.
	AddLabel(ctx context.Context, n NewLabel) (Label, error)
	// Label returns a label by its id, in force or not.
	Label(ctx context.Context, id string) (Label, error)
	// ListLabels lists labels, newest first.
	ListLabels(ctx context.Context, f LabelFilter, p Page) (List[Label], error)
	// DeleteLabel removes a label; the one that it replaced is in force again. by is
	// the person who may remove it, "" for anybody: a label of somebody else is
	// Refused because of ErrNotOwn.
	DeleteLabel(ctx context.Context, id, by string) error
	// CountLabels counts the labels in force that decide, by what the judge said and
	// by what other people said of the same subject.
	CountLabels(ctx context.Context, f LabelFilter) (label.Counts, error)
}

// LabelQueues are items of runs in the order in which they are worth labelling. An item
// is done when enough people have a label on it, by whatever way they gave it.
type LabelQueues interface {
	// PutLabelQueue stores a queue with its items, all or nothing, in place of one of
	// that name, whose leases end; created is false if there was one.
	PutLabelQueue(ctx context.Context, q NewLabelQueue) (queue LabelQueue, created bool, err error)
	// LabelQueue returns a queue by its name.
	LabelQueue(ctx context.Context, name string) (LabelQueue, error)
	// ListLabelQueues lists queues by name.
	ListLabelQueues(ctx context.Context, p Page) (List[LabelQueue], error)
	// ListLabelItems lists the items of a queue in their order.
	ListLabelItems(ctx context.Context, queue string, p Page) (List[LabelItem], error)
	// DeleteLabelQueue removes a queue. The labels stay.
	DeleteLabelQueue(ctx context.Context, name string) error
	// LeaseLabel gives a person the next item that they have not labelled and that not
	// enough people have labelled or leased; nil if there is none. Nobody else gets it
	// until the lease expires or ends: with [NewLabel.Lease], or with ReturnLabel. A
	// lease to be renewed that has ended is NotFound.
	LeaseLabel(ctx context.Context, r LeaseRequest) (*Lease, error)
	// ReturnLabel ends a lease of a person. One that has ended is NotFound.
	ReturnLabel(ctx context.Context, queue, lease, by string) error
}

// Looks count how often the held-out half of the labelled outputs of an assertion in a run
// was looked at: each time is another chance for a useless change to seem better.
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
	// Claim claims an idempotency key for a request. It returns the reply if the
	// request was answered before, and nil if the caller has to answer it.
	// ErrOtherRequest means that the key was used for another request,
	// ErrInProgress that the request is being answered; both are Conflicts. A
	// claim without a reply expires after ClaimLease, and when Jobs starts.
	Claim(ctx context.Context, c Claim) (*Response, error)
	// Reply stores the response to a claimed request. An existing reply is not
	// changed.
	Reply(ctx context.Context, r Reply) error
	// Release releases a claim without a reply. If there is none, it does
	// nothing.
	Release(ctx context.Context, c Claim) error
}

// Work executes one job until it is done or ctx ends, which happens when the
// run is cancelled and when Jobs stops. It must store finished rows with
// AddResults as it goes, and begin with FinishedRows. Of a divided run it executes the parts
// that [Job.Take] gives it, until there are none.
//
// The result decides the status of the run: nil makes it done; after an error
// it is queued and tried again, up to MaxAttempts times, and then failed.
// [Permanent] errors fail at once. [ErrDrained] is the error of work that ended because of
// [Job.Drain]. Errors of [Unable] and [Unfit] are no attempts: the run is given back, and fails
// once it was given back MaxGivenBack times without a row between, each time by another process
// or for another reason. Errors because of [ErrNoRoom] are no attempts either: work is called
// again until there is room. Work that returns because Jobs stops is
// queued again, and does not count as an attempt; a cancelled run stays
// cancelled.
type Work func(ctx context.Context, job Job) error

// Jobs executes the runs that [Runs.CreateRun] enqueued, in the order of their
// creation.
type Jobs interface {
	// Offer says what this process can do, before Start. Without it, it can do everything.
	// While the process executes runs, [Store.Processes] lists it.
	Offer(o Offer)
	// Start begins to call work, for up to a configured number of runs at a
	// time. Runs that another process left behind, killed or not, continue at
	// once. If only one process may work on a store, the error for a second one
	// is Refused. Start may be called again after Stop; the end of ctx does not
	// stop the jobs.
	//
	// Several processes execute the parts of a divided run at once, with one job each. The
	// run is done when all of its parts are. What a process has taken when it is killed
	// or stopped, or when its work fails, is taken by others.
	Start(ctx context.Context, work Work) error
	// Stop begins no further work, closes [Job.Drain] of what goes on, and waits for it. If
	// ctx has a deadline, work has four fifths of the time until then, and then its context
	// ends; else its context ends at once. Stop waits no longer than ctx. The runs continue
	// at the next Start, or in another process.
	Stop(ctx context.Context) error
}

// Job is one attempt to execute a run.
type Job struct {
	Run     Run
	Attempt int    // from 1; work that was stopped or killed is not counted
	Process string // that executes it, as in [Process]
	// Take takes the first part of a divided run, from a row on, that no process has, for this
	// job; ok is false if there is none. The parts of a job are done when its work returns nil.
	// It is nil if the run is not divided.
	Take func(ctx context.Context, from int) (p Part, ok bool, err error)
	// Drain is closed when Jobs stops: work should begin nothing more, finish what it has
	// begun, and return ErrDrained if something is left.
	Drain <-chan struct{}
}

// ErrDrained is the error of [Work] that left rows to others because of [Job.Drain].
var ErrDrained = errors.New("the process stops; what is left continues elsewhere")

// Waiting counts the runs of a project that have not ended.
type Waiting struct {
	Project Project
	Queued  int       // those that are Unmet, too
	Unmet   int       // that no process that lives can execute
	Oldest  time.Time // when the first of the queued runs was created, zero if there is none
	Running int
	Overdue int        // running ones whose process is silent, and that no other has taken up
	Still   time.Time  // when the running run that has had no new row for longest had one, or was begun; zero if none is running
	Needs   [][]string // the different needs of the queued runs, as of [NewRun]
}

// Retention is how long data are kept. The zero duration keeps them for ever.
type Retention struct {
	Now         time.Time     // the zero time is the current time
	Runs        time.Duration // after their end
	Evaluations time.Duration // after their creation
	Contents    time.Duration // of events, after they were received: their texts, and the comments of thumbs
	Failures    time.Duration // contents of events with a failing verdict, or without an answer
	Verdicts    time.Duration // on events, after they were stored; the events themselves and thumbs, too
	Rollups     time.Duration // of traffic and verdicts, alarms that are closed, and what was spent
}

// Pruned counts what was removed.
type Pruned struct {
	Runs, Evaluations, Replies, Contents, Events, Verdicts int
}
