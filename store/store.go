// Package store says what a server keeps, and what it may expect of the place
// where that is kept: API keys and their projects, versions of suites and assertion sets, runs with
// their results, evaluations, replies to repeated requests, and the jobs that
// execute runs. It holds nouns, interfaces and the few rules that every store
// shares; SQL is in the packages below it, and store/storetest is the contract
// as tests.
//
// Start at [Store], which a server is given, and at [Jobs], which executes runs.
package store

import (
	"context"
	"time"
)

// Store is everything a server keeps. Implementations are safe for concurrent
// use. When a method that writes returns without an error, what it wrote
// survives the death of the process.
//
// Errors are of type *proviso.Error: NotFound for what is not there, Conflict
// for what is in the way, Invalid for what is malformed, Limit for what is too
// large, Refused for what is not allowed, Unavailable when the store cannot be
// reached. An error of the context is returned as it is.
type Store interface {
	Keys
	Replies

	// In returns what is kept of one project. There is no other way to it, so that
	// every caller says whose it is. What is of another project is NotFound, or not
	// listed, and its names are free. A project without a name has nothing, and keeps
	// nothing.
	In(p Project) ProjectStore

	// Prune removes what is older than r says, in steps that leave room for other
	// writers, and what has expired.
	Prune(ctx context.Context, r Retention) (Pruned, error)
	// Ping reports whether the store can be read and written.
	Ping(ctx context.Context) error
	// Close waits for what is being written and gives back all resources. Jobs
	// must be stopped before. A second Close does nothing.
	Close() error
}

// ProjectStore is what is kept of one project.
type ProjectStore interface {
	Documents
	Runs
	Evaluations
}

// Keys are the API keys of clients, each of one project.
type Keys interface {
	// CreateKey makes a key and returns it with its secret, which is kept nowhere
	// and cannot be asked for again.
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
	// RevokeKey ends a key for good. One that is revoked already stays as it is.
	RevokeKey(ctx context.Context, id string) (Key, error)
	// Charge adds what was spent, in US dollars, to a key and returns the key. It
	// adds what exceeds the budget, too, because it has been spent. A charge may
	// come after the key was revoked.
	Charge(ctx context.Context, id string, dollars float64) (Key, error)
	// TouchKey notes when a key was last used, which never goes back. Once a minute
	// and key is enough.
	TouchKey(ctx context.Context, id string, at time.Time) error
}

// Documents are suites and assertion sets, each name with all its versions.
type Documents interface {
	// PutDocument makes d the current version of its name. Putting the same
	// content and prompt hash again makes no new version: created is false, and
	// that version is the current one again.
	PutDocument(ctx context.Context, d NewDocument) (doc Document, created bool, err error)
	// Document returns a version by its hash, or the current one if hash is "".
	Document(ctx context.Context, kind Kind, name, hash string) (Document, error)
	// ListDocuments lists documents without their content: the current version of
	// every name, by kind and name, or all versions of one name, newest first.
	ListDocuments(ctx context.Context, f DocumentFilter, p Page) (List[Document], error)
}

// Runs are executions of suites, and their results.
type Runs interface {
	// CreateRun keeps a run as queued and enqueues its job, both or neither, and
	// the reply of r with them. An id that is taken is a Conflict.
	CreateRun(ctx context.Context, r NewRun) (Run, error)
	// Run returns a run by its id.
	Run(ctx context.Context, id string) (Run, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, f RunFilter, p Page) (List[Run], error)
	// PlanRun notes what is known once a run is planned: how many rows it will
	// have and who judges them. It may be called again.
	PlanRun(ctx context.Context, id string, plan RunPlan) (Run, error)
	// CancelRun makes a queued or running run a cancelled one, and ends the context
	// of the work on it. A run that has ended is a Conflict.
	CancelRun(ctx context.Context, id string) (Run, error)
	// DeleteRun removes a run that has ended, with its results. One that has not is
	// a Conflict.
	DeleteRun(ctx context.Context, id string) error

	// AddResults keeps finished rows, all or none, counts them in the totals of the
	// run, and charges what they cost to the key that created it, if there is such a
	// key. A row whose index is there already is left as it is and not counted
	// again; added is how many were new. Rows that were under way when their run
	// was cancelled are kept, too.
	AddResults(ctx context.Context, runID string, results []Result) (added int, err error)
	// Result returns one row.
	Result(ctx context.Context, runID string, index int) (Result, error)
	// ListResults lists rows in the order of their index. A page is shorter than
	// asked for when its rows exceed MaxPageBytes.
	ListResults(ctx context.Context, runID string, f ResultFilter, p Page) (List[Result], error)
	// FinishedRows returns the indices of the rows that are kept, ascending: those
	// that a resumed run does not ask again.
	FinishedRows(ctx context.Context, runID string) ([]int, error)
	// CountAssertions counts the verdicts of a run by assertion, in the order of
	// their ids.
	CountAssertions(ctx context.Context, runID string) ([]AssertionCount, error)
}

// Evaluations are single outputs that were judged.
type Evaluations interface {
	// AddEvaluation keeps an evaluation, charges its cost to its key, if there is
	// such a key, and keeps the reply of e, all or nothing. The writes of concurrent callers share one
	// transaction.
	AddEvaluation(ctx context.Context, e NewEvaluation) (Evaluation, error)
	// Evaluation returns an evaluation by its id.
	Evaluation(ctx context.Context, id string) (Evaluation, error)
	// ListEvaluations lists evaluations without request and response, newest first.
	ListEvaluations(ctx context.Context, f EvaluationFilter, p Page) (List[Evaluation], error)
}

// Replies remember what was answered to a request with an idempotency key, so
// that a client that asks twice is answered twice and served once.
//
// Each API key has idempotency keys of its own, and so has each project.
//
// A server claims the key, does the work, and keeps its reply: in the
// transaction of CreateRun or AddEvaluation, or with Reply. A request that
// failed is released, so that it can be tried again.
type Replies interface {
	// Claim takes an idempotency key for a request. It returns the reply if the
	// request was answered before, and nil if it is the caller's to answer.
	// ErrOtherRequest says that the key was used for another request, ErrInProgress
	// that the request is being answered right now; both are Conflicts. A claim
	// without a reply lapses after ClaimLease, and when Jobs starts.
	Claim(ctx context.Context, c Claim) (*Response, error)
	// Reply keeps the response to a claimed request. One that is kept already stays.
	Reply(ctx context.Context, r Reply) error
	// Release gives up a claim that has no reply. Where there is none, it does
	// nothing.
	Release(ctx context.Context, c Claim) error
}

// Work executes one job until it is done or ctx ends, which happens when the
// run is cancelled and when Jobs stops. It must keep what it has with AddResults
// as it goes, and begin with FinishedRows.
//
// What it returns becomes of the run: nil makes it done; an error makes it wait
// and be tried again, up to MaxAttempts times, and then failed. [Permanent]
// errors fail at once. Work that returns because Jobs stops is queued again, and
// does not count as an attempt; a cancelled run stays cancelled.
type Work func(ctx context.Context, job Job) error

// Jobs executes the runs that [Runs.CreateRun] enqueued, in the order of their
// creation.
type Jobs interface {
	// Start begins to call work, for up to a configured number of runs at a time.
	// Runs that another process left behind, killed or not, are taken up at once.
	// A store that only one process may work on says Refused to a second one.
	// Start may be called again after Stop; the end of ctx does not stop the jobs.
	Start(ctx context.Context, work Work) error
	// Stop ends the contexts of all work and waits for it, no longer than ctx. The
	// runs go on at the next Start.
	Stop(ctx context.Context) error
}

// Job is one attempt to execute a run.
type Job struct {
	Run     Run
	Attempt int // from 1; work that was stopped or killed is not counted
}

// Retention says how long things are kept. The zero duration keeps them for ever.
type Retention struct {
	Now         time.Time     // the zero time means the present
	Runs        time.Duration // after their end
	Evaluations time.Duration // after their creation
}

// Pruned counts what was removed.
type Pruned struct {
	Runs, Evaluations, Replies int
}
