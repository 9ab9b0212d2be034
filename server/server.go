// Package server serves proviso over HTTP: single evaluations, suites and their runs, stored in
// a [store.Store] and executed by [store.Jobs]. Start at [New]. routes.go is the table of
// routes; a test generates the OpenAPI document, openapi.json, from that table and from the
// request types.
//
// All client input is untrusted: bodies are bounded and parsed strictly, suites run as
// untrusted suites, and every model call first checks the rights and the budget of the key.
// Every error response is a [Problem].
package server

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// Evaluator decides the assertions of a request. [judge.Judge] implements it.
// It is safe for concurrent use.
type Evaluator interface {
	Evaluate(ctx context.Context, r *judge.Request) (*judge.Response, error)
	Identity() string
}

// Options configure a [Server]. Store and Judge are required.
type Options struct {
	Store store.Store
	Jobs  store.Jobs // nil if other processes execute the runs
	// Judge evaluates single outputs. Its providers must be [Metered].
	Judge Evaluator
	// NoJudge says why Judge has no model, and is "" if it has one. Watches with assertions
	// that need a model show it as a warning.
	NoJudge string
	// Judges opens judges for trials of changed assertions; nil disables trials.
	Judges *Judging
	// Runner reads suites and runs them; nil disables suites.
	Runner Runner
	// Asker asks providers for clients; nil disables this.
	Asker *Asking
	// JudgeErrors corrects comparisons for judge errors; nil does not. It receives the folder
	// that a pushed run names, so use it only for runs of this machine.
	JudgeErrors JudgeErrors
	// Log gets a record for each request; nil disables logging.
	Log *slog.Logger
	// LogContents adds the bodies of requests and responses to the log.
	LogContents bool
	// Version is the version of proviso.
	Version string
	// Ready is called once requests are accepted; it may be nil.
	Ready func()

	// Open serves clients without a key, as long as the store has no key. Use it only for
	// addresses that only this machine can reach.
	Open bool
	// Hosts are the valid host names of the server, in lower case and without a
	// port; IP addresses need not be listed. Nil allows every name.
	Hosts []string
	// TLS configures TLS; nil disables it.
	TLS *tls.Config
	// OpenToken, if not "", restricts the server to one browser: GET /?token=… opens its
	// session once, and requests without that session are refused. Keys and Open then have no
	// effect.
	OpenToken string
	// Folder is the shown folder, for the settings page; "" shows none.
	Folder string
	// Alignment is a file with the agreement of judges with people, as written by `proviso
	// align --save`; "" means none.
	Alignment string
	// Env is where the settings page looks up provider keys, by name; nil is empty.
	Env proviso.Env
	// Redactor redacts events before they are stored; nil redacts nothing.
	Redactor *ingest.Redactor
	// Now returns the current time, for the times of events; nil means time.Now.
	Now func() time.Time
	// PanelOrigins are the origins whose pages may show panels: scheme://host or
	// scheme://host:port, as browsers send them.
	PanelOrigins []string

	BodyLimit       int64         // bytes of a request; judge.MaxBody if 0
	RunLimit        int64         // bytes of a pushed run; 256 MiB if 0
	BodyRoom        int64         // bytes of all current requests; 256 MiB if 0
	Rate            float64       // requests per second for each key, in bursts of two seconds; 0 means no limit
	EvaluateLimit   time.Duration // limit for one evaluation; 5 minutes if 0
	CPUBudget       time.Duration // CPU time of a request, without waiting; 2 seconds if 0
	Drain           time.Duration // how long to keep serving with readiness down before the server stops
	StopTimeout     time.Duration // limit for current requests when the server stops; 30 seconds if 0
	KeepRuns        time.Duration // how long to keep runs after their end; 0 keeps them forever
	KeepEvaluations time.Duration // how long to keep evaluations; 0 keeps them forever
	KeepContents    bool          // store outputs, not only results
	KeepReplies     time.Duration // how long to keep replies to idempotency keys; 24 hours if 0
	KeepTraffic     TrafficKept   // how long to keep data from events
	TrafficShare    float64       // share of the events of unwatched agents that keep their texts, from 0 to 1
	Traces          TraceLimits   // limits of held spans
	SessionLife     time.Duration // a browser session's lifetime since its last use; 12 hours if 0
	SessionMost     time.Duration // a browser session's lifetime since the login; 7 days if 0
	MaxStreams      int           // event streams at a time; 1000 if 0
	HeldBytes       int64         // memory of all streamed evaluations, a quarter of it for one key; 256 MiB if 0
	Heartbeat       time.Duration // interval of heartbeats in event streams; 15 seconds if 0
	AliveEvery      time.Duration // interval of heartbeats between servers on the same store; 10 seconds if 0
	Poll            time.Duration // how often a stream checks for changes by another process; 1 second if 0
	HousekeepEvery  time.Duration // interval of removing expired data; 1 hour if 0

	// WatchWorkers is how many events watches evaluate at a time; 0 disables watches.
	WatchWorkers int
	ChartEvery   time.Duration // interval of chart updates; 30 seconds if 0
	// Notifier notifies people of alarms; nil notifies no one.
	Notifier Notifier
	// PublicURL is the address of the app, for links in messages; "" omits links.
	PublicURL string
	// Verdicts forwards the verdicts of watches; nil forwards none.
	Verdicts *otlp.Results
}

// TrafficKept is how long to keep data from events; 0 keeps it forever.
type TrafficKept struct {
	Contents time.Duration // texts of events, from when they were received
	Failures time.Duration // texts of events with a failing verdict or without an answer
	Verdicts time.Duration // verdicts, events without their texts, and thumbs
	Rollups  time.Duration // counts by hour
}

// Server handles requests and executes runs. Its methods are safe for
// concurrent use.
type Server struct {
	o        Options
	mux      *http.ServeMux
	metrics  *metrics
	rates    *rates
	room     *semaphore.Weighted // bytes of the bodies of current requests
	turns    *turns.Scheduler
	over     error // error of a request that exceeds its CPU budget
	budgets  *budgets
	admitted *admission // limits requests with events
	answers  *answers   // answers in spans

	// sampleEvent returns the jobs of the watches that sample an event, and whether any watch
	// is about its agent. It is nil without watches.
	sampleEvent func(context.Context, store.Project, *ingest.Event) (jobs []store.EventJob, watched bool, err error)
	// eventsAdded is called after events were stored; it may be nil.
	eventsAdded func(store.Project)

	peers  *peers // nil if this is the only server on its store
	hub    *hub
	trials *heldTrials
	spans  *spans

	evaluations *heldEvaluations
	mirrors     *mirrors
	latencies   latencies
	tokens      panelTokens

	touched *rates // limits how often key use is written to the store
	batches batches
	made    *made
	live    lives
	compare *queue        // queue of comparisons
	pushes  chan struct{} // one slot for each push in progress
	reads   chan struct{} // one slot for each dataset that is held in memory
	openapi func() []byte // the OpenAPI document
	docs    func() (*asset, error)
	panel   func() *asset     // nil if the build has none
	routes  map[string]*route // by pattern

	monitor *monitoring

	sessions sessions
	logins   *rates // limits wrong keys in logins, by address
	wrong    *rates // limits wrong keys in headers, by address
	history  *history

	abilities abilities
	fitness   fitness
	kind      string // kind of process, once it works; see store.Offer

	underWay     sync.WaitGroup // requests in progress
	streams      atomic.Int64
	ready        atomic.Bool
	closed       atomic.Bool   // the store has had keys: requests without a key are rejected
	quit         chan struct{} // ends event streams
	stopWatching func()        // returned by [monitoring.start]
	quitOnce     sync.Once
}

// New returns a server that is not ready yet: see [Server.Serve].
func New(o Options) (*Server, error) {
	if o.Store == nil || o.Judge == nil {
		return nil, proviso.Errorf(proviso.Internal, "a server needs a store and a judge")
	}
	o.defaults()
	s := &Server{
		o: o, mux: http.NewServeMux(), metrics: newMetrics(), rates: newRates(o.Rate), room: semaphore.NewWeighted(o.BodyRoom),
		budgets: newBudgets(o.Store, o.Poll), admitted: newAdmission(), pushes: make(chan struct{}, maxPushes), reads: make(chan struct{}, maxReads), compare: newQueue(maxComparisons), made: newMade(), hub: newHub(), trials: newHeldTrials(), quit: make(chan struct{}), stopWatching: func() {}, turns: turns.New(runtime.GOMAXPROCS(0)), over: overBudget(o.CPUBudget),
	}
	s.batches.kept = recent.New[batchKey](recent.Options[*report.Batch]{Entries: maxBatches})
	s.abilities.s = s
	s.fitness.runner, _ = o.Runner.(capable)
	s.sessions.life, s.sessions.most, s.sessions.token = o.SessionLife, o.SessionMost, sha256.Sum256([]byte(o.OpenToken))
	s.touched = newRates(1.0 / 60)
	s.logins = newRates(loginRate)
	s.wrong = newRates(loginRate)
	s.logins.burst, s.wrong.burst = loginBurst, loginBurst
	if s.peers = newPeers(o.Store, o.AliveEvery); s.peers != nil {
		s.peers.shown.Replays = s.replays()
		s.peers.rates = []*rates{s.rates, s.logins, s.wrong}
		s.sessions.peers, s.sessions.age, s.tokens.peers = s.peers, 2*o.Poll, s.peers
	}
	s.history = newHistory()
	s.evaluations = newHeldEvaluations(s.o.HeldBytes)
	s.mirrors = &mirrors{most: s.o.HeldBytes, of: map[string]*mirror{}}
	if s.peers != nil {
		s.evaluations.unshared = &unshared{list: map[*heldEvaluation]bool{}}
	}
	s.panel = sync.OnceValue(panelAsset)
	s.openapi = sync.OnceValue(func() []byte { return openAPI(s.o.Version) })
	s.docs = sync.OnceValues(func() (*asset, error) { return docsPage(s.o.Version, s.openapi(), routes()) })
	var kept store.Store // for spans that other processes read
	if s.peers != nil {
		kept = o.Store
	}
	s.spans = newSpans(o.Traces, kept, s.o.Log, o.BodyLimit, s.metrics.spans)
	s.metrics.holds(s.spans)
	s.metrics.registry.MustRegister(newRunQueue(o.Store.Waiting, o.Now))
	s.answers = newAnswers(s)
	s.monitor = newMonitoring(s)
	s.sampleEvent = s.monitor.sampled
	s.eventsAdded = func(store.Project) { signal(s.monitor.wake) }
	s.routes = map[string]*route{}
	for _, r := range routes() {
		s.routes[r.Method+" "+r.Path] = r
		s.mux.Handle(r.Method+" "+r.Path, s.handler(r))
	}
	return s, nil
}

func (o *Options) defaults() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	usual(&o.EvaluateLimit, 5*time.Minute)
	usual(&o.CPUBudget, defaultCPUBudget)
	usual(&o.StopTimeout, 30*time.Second)
	usual(&o.Heartbeat, 15*time.Second)
	usual(&o.Poll, time.Second)
	usual(&o.AliveEvery, 10*time.Second)
	usual(&o.KeepReplies, 24*time.Hour)
	usual(&o.HousekeepEvery, time.Hour)
	usual(&o.ChartEvery, 30*time.Second)
	usual(&o.SessionLife, sessionLife)
	usual(&o.SessionMost, sessionMost)
	usual(&o.BodyLimit, judge.MaxBody)
	usual(&o.RunLimit, 256<<20)
	usual(&o.BodyRoom, 256<<20)
	usual(&o.HeldBytes, 256<<20)
	usual(&o.MaxStreams, 1000)
	o.BodyRoom = max(o.BodyRoom, o.BodyLimit)
}

// usual sets an unset limit to its default.
func usual[T int | int64 | time.Duration](limit *T, to T) {
	if *limit <= 0 {
		*limit = to
	}
}
