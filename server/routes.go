package server

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/proviso-eval/proviso/internal/matrix"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// route is one route of the server. The API documentation, the OpenAPI document and the metrics
// are derived from it.
type route struct {
	Method, Path string
	ID           string // operation id
	Summary      string
	Detail       string
	Scope        store.Scope   // required scope; "" needs no key
	Also         []store.Scope // other scopes; any one is enough
	Panel        store.Scope   // scope that a panel token must have; "" admits no token. If the path has no {evaluation}, the handler checks that the token is for its evaluation
	Params       []param       // path and query parameters
	Request      reflect.Type  // type of the body; nil if there is none
	Optional     bool          // the body may be missing
	Streamed     bool          // the handler reads the body itself, as it arrives
	Reads        []string      // media types of a body that the handler parses itself; nil means JSON
	Response     reflect.Type  // response type; nil if it is not JSON
	Status       int           // status of a successful response
	MediaType    string        // media type of the response; "" means JSON
	Stream       bool          // the client decides when the response ends
	Asks         bool          // it calls models, and computes between calls
	Hidden       bool          // not in the OpenAPI document
	Secret       bool          // its body is never logged
	Others       bool          // shows data of other keys, so that the scope evaluate is not enough

	Handle func(*Server, *call) error // Summary and Detail say what it does
}

// param is a parameter of a path or a query.
type param struct {
	Name string
	Kind string // JSON Schema type
	Doc  string
	Enum []string
	Path bool
}

// routes is the table of all routes.
func routes() []*route {
	return slices.Concat(evaluationRoutes(), panelRoutes(), playgroundRoutes(), setRoutes(), suiteRoutes(), runRoutes(), labelRoutes(), labelQueueRoutes(), trialRoutes(), cellRoutes(), datasetRoutes(), trafficRoutes(), appRoutes(), spadeRoutes(), watchRoutes(), operationRoutes())
}

func evaluationRoutes() []*route {
	return []*route{
		{Method: http.MethodPost, Path: "/v1/evaluate", ID: "evaluate", Scope: store.Evaluate, Status: http.StatusOK, Asks: true, Handle: (*Server).evaluate,
			Summary: "Evaluate one output against assertions", Detail: undecided,
			Request: typeOf[judge.Request](), Response: typeOf[judge.Response]()},
		{Method: http.MethodGet, Path: "/v1/evaluations", ID: "list-evaluations", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listEvaluations,
			Summary: "List evaluations, newest first", Params: slices.Concat([]param{verdict, since, until}, paging), Response: typeOf[EvaluationList]()},
		{Method: http.MethodGet, Path: "/v1/evaluations/{evaluation}", ID: "get-evaluation", Scope: store.Read, Also: []store.Scope{store.Labelling}, Panel: store.Read, Status: http.StatusOK,
			Handle: (*Server).getEvaluation, Summary: "Get the result of an evaluation", Params: []param{in("evaluation", "Its id")}, Response: typeOf[Evaluation]()},
		{Method: http.MethodPost, Path: "/v1/evaluations", ID: "start-evaluation", Scope: store.Evaluate, Status: http.StatusAccepted, Asks: true, Handle: (*Server).startEvaluation,
			Summary: "Evaluate one output, and stream the verdicts", Detail: streamedDoc,
			Request: typeOf[StreamRequest](), Response: typeOf[StartedEvaluation]()},
		{Method: http.MethodGet, Path: "/v1/evaluations/{evaluation}/events", ID: "evaluation-events", Scope: store.Read, Panel: store.Read, Status: http.StatusOK, MediaType: "text/event-stream", Stream: true,
			Handle: (*Server).evaluationEvents, Summary: "Follow a streamed evaluation by server-sent events", Params: []param{in("evaluation", "Its id")}, Detail: streamDoc},
		{Method: http.MethodDelete, Path: "/v1/evaluations/{evaluation}", ID: "cancel-evaluation", Scope: store.Evaluate, Status: http.StatusNoContent, Handle: (*Server).cancelEvaluation,
			Summary: "Cancel a streamed evaluation", Params: []param{in("evaluation", "Its id")},
			Detail: "Verdicts that are there stay, and the other assertions are undecided. Cancelling what has ended changes nothing."},
		{Method: http.MethodPost, Path: otlp.TracesPath, ID: "send-spans", Scope: store.Evaluate, Also: []store.Scope{store.Ingest}, Status: http.StatusOK, Handle: (*Server).postSpans,
			Summary: "Take spans, as OTLP over HTTP", Detail: tracesTaken,
			Reads: []string{"application/x-protobuf", mediaJSON}, Response: typeOf[SpansRefused]()},
	}
}

const streamedDoc = "It continues after the answer, and its result is kept like that of /v1/evaluate. The Location of the answer is the evaluation; its events contain the verdicts. " +
	"Events are in memory: after keep_s, when the only server restarts, and when newer evaluations need the room, there are none (410)."

const streamDoc = "The first event is start, with the assertions. Each event verdict is a member of results of /v1/evaluate, with its index and, under marks, where its evidence is in agent_output, in UTF-16 code units. " +
	"They come as they are decided: what needs no model first. The last event is end: the answer of /v1/evaluate without results, and total_ms. A client that sends Last-Event-ID gets only later events."

const tracesTaken = "An ExportTraceServiceRequest of OpenTelemetry, as protobuf or JSON, plain or in gzip; the answer is in the same form. " +
	"Only runs and evaluations of the same key see the spans."

const undecided = "Assertions that could not be decided are not errors of the request: the answer is 200, score is null, and errors says why."

func setRoutes() []*route {
	set := in("set", "The name of the set")
	return []*route{
		{Method: http.MethodGet, Path: "/v1/assertion-sets", ID: "list-assertion-sets", Scope: store.Read, Status: http.StatusOK,
			Handle: listVersions(store.AssertionSetKind, "", versionOf), Summary: "List assertion sets, each with its current version",
			Params: paging, Response: typeOf[VersionList]()},
		{Method: http.MethodPost, Path: "/v1/assertion-sets", ID: "add-assertion-set", Scope: store.Evaluate, Also: orEdit, Status: http.StatusCreated,
			Handle: (*Server).keepSet, Summary: "Keep an assertion set", Detail: kept,
			Request: typeOf[NewAssertionSet](), Response: typeOf[StoredAssertionSet]()},
		{Method: http.MethodGet, Path: "/v1/assertion-sets/{set}", ID: "get-assertion-set", Scope: store.Read, Status: http.StatusOK,
			Handle: (*Server).getSet, Summary: "A version of an assertion set", Params: []param{set, version}, Response: typeOf[StoredAssertionSet]()},
		{Method: http.MethodPut, Path: "/v1/assertion-sets/{set}", ID: "put-assertion-set", Scope: store.Evaluate, Also: orEdit, Status: http.StatusOK,
			Handle: (*Server).keepSet, Summary: "Keep an assertion set under this name", Detail: kept, Params: []param{set},
			Request: typeOf[NewAssertionSet](), Response: typeOf[StoredAssertionSet]()},
		{Method: http.MethodGet, Path: "/v1/assertion-sets/{set}/versions", ID: "list-assertion-set-versions", Scope: store.Read, Status: http.StatusOK,
			Handle: listVersions(store.AssertionSetKind, "set", versionOf), Summary: "List the versions of an assertion set, newest first",
			Params: slices.Concat([]param{set}, paging), Response: typeOf[VersionList]()},
		{Method: http.MethodPost, Path: "/v1/assertion-sets/{set}/evaluate", ID: "evaluate-assertion-set", Scope: store.Evaluate, Status: http.StatusOK, Asks: true,
			Handle: (*Server).evaluateSet, Summary: "Evaluate one output against an assertion set", Params: []param{set, version},
			Detail:  "The body is that of /v1/evaluate without assertions. " + undecided,
			Request: typeOf[SetRequest](), Response: typeOf[judge.Response]()},
	}
}

const kept = "The same content again makes no new version; that version is the current one then. 201 says that a version was made, 200 that it was there."

func suiteRoutes() []*route {
	suite := in("suite", "The name of the suite")
	return []*route{
		{Method: http.MethodGet, Path: "/v1/suites", ID: "list-suites", Scope: store.Read, Status: http.StatusOK, Handle: listVersions(store.SuiteKind, "", versionOf),
			Summary: "List suites, each with its current version", Params: paging, Response: typeOf[VersionList]()},
		{Method: http.MethodPost, Path: "/v1/suites", ID: "add-suite", Scope: store.Evaluate, Also: orEdit, Status: http.StatusCreated, Handle: reads((*Server).keepSuite),
			Summary: "Keep a suite", Detail: "It is checked as `proviso validate --untrusted` does. " + kept,
			Request: typeOf[NewSuite](), Response: typeOf[StoredSuite]()},
		{Method: http.MethodGet, Path: "/v1/suites/{suite}", ID: "get-suite", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).getSuite,
			Summary: "A version of a suite", Params: []param{suite, version}, Response: typeOf[StoredSuite]()},
		{Method: http.MethodPut, Path: "/v1/suites/{suite}", ID: "put-suite", Scope: store.Evaluate, Also: orEdit, Status: http.StatusOK, Handle: reads((*Server).keepSuite),
			Summary: "Keep a suite under this name", Detail: kept, Params: []param{suite}, Request: typeOf[NewSuite](), Response: typeOf[StoredSuite]()},
		{Method: http.MethodGet, Path: "/v1/suites/{suite}/versions", ID: "list-suite-versions", Scope: store.Read, Status: http.StatusOK,
			Handle: listVersions(store.SuiteKind, "suite", versionOf), Summary: "List the versions of a suite, newest first",
			Params: slices.Concat([]param{suite}, paging), Response: typeOf[VersionList]()},
		{Method: http.MethodPost, Path: "/v1/suites/{suite}/runs", ID: "start-run", Scope: store.Evaluate, Status: http.StatusAccepted,
			Handle: reads((*Server).startRun), Summary: "Run a suite", Detail: "The Location of the answer is the run.", Params: []param{suite},
			Request: typeOf[NewRun](), Optional: true, Response: typeOf[StartedRun]()},
	}
}

func runRoutes() []*route {
	run := in("run", "The id of the run")
	states := param{Name: "status", Kind: "string", Doc: "Only runs of this status", Enum: []string{"queued", "waiting", "running", "done", "failed", "cancelled"}}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/runs", ID: "list-runs", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listRuns,
			Summary: "List runs, newest first", Response: typeOf[RunList](), Params: slices.Concat([]param{
				{Name: "suite", Kind: "string", Doc: "Only runs of this suite"}, {Name: "version", Kind: "string", Doc: "Only runs of this version"},
				states, since, until}, paging)},
		{Method: http.MethodPost, Path: "/v1/runs", ID: "push-run", Scope: store.Edit, Status: http.StatusCreated, Streamed: true, Handle: (*Server).pushRun,
			Summary: "Keep a run that was made elsewhere", Detail: pushTaken, Reads: []string{mediaRun}, Response: typeOf[PushedRun]()},
		{Method: http.MethodGet, Path: "/v1/runs/{run}", ID: "get-run", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).getRun,
			Summary: "A run, with its results once it has ended", Params: []param{run, {Name: "results", Kind: "string", Enum: []string{"no"}, Doc: "no leaves out results and judges, for which the server reads every row"}}, Response: typeOf[Run]()},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/results", ID: "list-results", Scope: store.Read, Status: http.StatusOK,
			Handle: (*Server).listResults, Summary: "List the finished rows of a run in the order of their index", Response: typeOf[ResultList](),
			Params: slices.Concat([]param{run, verdict, {Name: "assertion", Kind: "string", Doc: "Only rows with a verdict on this assertion; status is then that of the verdict"},
				{Name: "rows", Kind: "string", Doc: fmt.Sprintf("Only rows with these indices: numbers and ranges with commas, such as 0-4,7,12-, at most %d", store.MaxRanges)}}, paging)},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/results/{index}", ID: "get-result", Scope: store.Read, Status: http.StatusOK,
			Handle: (*Server).getResult, Summary: "One finished row", Params: []param{run, in("index", "Of the row, from 0")}, Response: typeOf[map[string]any]()},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/file", ID: "get-run-file", Scope: store.Read, Status: http.StatusOK, MediaType: mediaRun, Stream: true,
			Handle: (*Server).runFile, Summary: "The file of a run that has ended, as eval keeps it", Params: []param{run},
			Detail: "Every command of proviso reads it. A file without the totals as its last line is incomplete."},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/events", ID: "run-events", Scope: store.Read, Status: http.StatusOK, MediaType: "text/event-stream",
			Handle: (*Server).events, Summary: "Follow a run by server-sent events", Stream: true, Params: []param{run},
			Detail: "Events are named progress, and the last one end. Their data is an Event. A client that sends Last-Event-ID gets only later events."},
		{Method: http.MethodPost, Path: "/v1/runs/{run}/cancel", ID: "cancel-run", Scope: store.Evaluate, Status: http.StatusOK, Handle: (*Server).cancelRun,
			Summary: "Cancel a run", Detail: "Rows that are finished stay. Cancelling a cancelled run changes nothing.", Params: []param{run}, Response: typeOf[Run]()},
	}
}

// appRoutes are the further routes that the pages of the app need.
func appRoutes() []*route {
	suite := param{Name: "suite", Kind: "string", Doc: "Only of runs of this suite"}
	runs := param{Name: "runs", Kind: "integer", Doc: "How many of the latest finished runs count, up to 100; 20 if it is missing"}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/assertions", ID: "list-assertions", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listAssertions,
			Summary: "List assertions, with their verdicts over the latest runs", Params: slices.Concat([]param{suite, runs}, paging), Response: typeOf[AssertionList]()},
		{Method: http.MethodGet, Path: "/v1/judges", ID: "list-judges", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listJudges,
			Summary: "List the judges of the latest runs, with their agreement with people where it was measured",
			Detail:  "Runs that an earlier version stored are counted once, about 200,000 rows for a request; older runs are counted by the next one.",
			Params:  []param{suite, runs}, Response: typeOf[JudgeList]()},
		{Method: http.MethodGet, Path: "/v1/prompts", ID: "list-prompts", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listPrompts,
			Summary: "List the prompts of the latest runs, with their versions and what assertions cover",
			Detail:  "A version is a text. Rules, not a model, distinguish instructions from data and examples. Runs that an earlier version stored are counted once, about 200,000 rows for a request; older runs are counted by the next one.",
			Params:  slices.Concat([]param{suite, runs}, paging), Response: typeOf[PromptList]()},
		{Method: http.MethodGet, Path: "/v1/settings", ID: "get-settings", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).settings,
			Summary: "Get the settings of the server: version, limits, and which providers have a key",
			Detail:  "It holds no secret. Only admin sees the API keys.", Response: typeOf[Settings]()},
		{Method: http.MethodGet, Path: "/v1/session", ID: "get-session", Scope: store.Read, Also: []store.Scope{store.Labelling, store.Ingest}, Status: http.StatusOK, Handle: (*Server).getSession,
			Summary: "Get the session: project and scopes of the client", Response: typeOf[Session]()},
		{Method: http.MethodPost, Path: "/v1/session", ID: "open-session", Status: http.StatusOK, Secret: true, Handle: (*Server).postSession,
			Summary: "Open the session of a browser with a key", Request: typeOf[Login](), Response: typeOf[Session](),
			Detail: "The answer sets a cookie, which stands for the key until 12 hours after its last use. The request needs an Origin of this server and the header X-Proviso: 1, and so does every request with the cookie other than GET."},
		{Method: http.MethodDelete, Path: "/v1/session", ID: "end-session", Status: http.StatusNoContent, Handle: (*Server).deleteSession,
			Summary: "End the session of a browser", Params: []param{{Name: "all", Kind: "string", Enum: []string{"yes"}, Doc: "yes ends all sessions of its key"}}},
	}
}

// cellRoutes are the routes for the pages that show the rows of a run.
func cellRoutes() []*route {
	run := in("run", "The id of the run")
	return []*route{
		{Method: http.MethodGet, Path: "/v1/runs/{run}/matrix", ID: "get-matrix", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).getMatrix,
			Summary: "Get the verdicts of a run as bytes, also while it is running", Params: []param{run}, Response: typeOf[matrix.Matrix](),
			Detail: "The answer has an ETag. A request with If-None-Match gets 304 while nothing has changed."},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/previews", ID: "list-previews", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listPreviews,
			Summary: "Get short texts of some rows, for the cells of a matrix", Response: typeOf[[]report.Preview](), Detail: "Rows that are not finished are left out.",
			Params: []param{run, {Name: "index", Kind: "string", Doc: "Indices of rows, separated by commas, at most 400"}}},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/results/{index}/detail", ID: "get-detail", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).getDetail,
			Summary: "Get a finished row in the form that the app shows", Params: []param{run, in("index", "Of the row, from 0")}, Response: typeOf[report.Detail]()},
		{Method: http.MethodGet, Path: "/v1/runs/{run}/search", ID: "search-run", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).searchRun,
			Summary: "Search the texts of a run, ignoring upper and lower case", Response: typeOf[Found](),
			Detail: "It searches the id, description and variables of cases, the outputs and the reasons of verdicts. It stops at its time limit; more then says that rows were left out.",
			Params: []param{run, {Name: "q", Kind: "string", Doc: "The text, up to 200 characters"}}},
		{Method: http.MethodGet, Path: "/v1/compare", ID: "compare-runs", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).compareRuns,
			Summary: "Compare two runs that have ended", Response: typeOf[map[string]any](),
			Detail: "The answer is that of `proviso compare --format json`, with the member decision: the result of the rules under gate in the suite of head.",
			Params: []param{{Name: "base", Kind: "string", Doc: "The id of the run before the change"}, {Name: "head", Kind: "string", Doc: "The id of the run after the change"}}},
	}
}

func operationRoutes() []*route {
	return []*route{
		{Method: http.MethodGet, Path: "/docs", ID: "docs", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).documentation,
			Summary: "This API as a page, with examples", Hidden: true, MediaType: mediaHTML},
		{Method: http.MethodGet, Path: "/openapi.json", ID: "openapi", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).document,
			Summary: "The OpenAPI 3.1 document of all this", Hidden: true},
		{Method: http.MethodGet, Path: "/metrics", ID: "metrics", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).exposition,
			MediaType: "text/plain", Summary: "Metrics of the key's project for Prometheus; all of them for admin"},
		{Method: http.MethodGet, Path: "/healthz", ID: "health", Status: http.StatusOK, Response: typeOf[Health](), Handle: (*Server).health,
			Summary: "Whether the process lives"},
		{Method: http.MethodGet, Path: "/readyz", ID: "readiness", Status: http.StatusOK, Response: typeOf[Readiness](), Handle: (*Server).readiness,
			Summary: "Whether the server takes requests, how many runs wait, and how many workers there are"},
		{Method: http.MethodGet, Path: "/v1/workers", ID: "list-workers", Scope: store.Admin, Status: http.StatusOK, Response: typeOf[WorkerList](), Handle: (*Server).listWorkers,
			Summary: "List the processes that execute runs, and what they can do"},
	}
}

// orEdit is for routes that write without calling a model: the scope edit is enough, too.
var orEdit = []store.Scope{store.Edit}

// The parameters that several routes have.
var (
	version = param{Name: "version", Kind: "string", Doc: "Another version than the current one"}
	verdict = param{Name: "status", Kind: "string", Doc: "Only what has this status", Enum: []string{"pass", "fail", "error", "skip"}}
	since   = param{Name: "since", Kind: "string", Doc: "Only what was created then or later (RFC 3339)"}
	until   = param{Name: "until", Kind: "string", Doc: "Only what was created before (RFC 3339)"}
	paging  = []param{
		{Name: "limit", Kind: "integer", Doc: "How many at most, up to 1000; 50 if it is missing"},
		{Name: "after", Kind: "string", Doc: "next of the page before"},
	}
)

// in returns a path parameter.
func in(name, doc string) param { return param{Name: name, Kind: "string", Doc: doc, Path: true} }

// Endpoint is one route, for the manual.
type Endpoint struct {
	ID           string // operation id
	Method, Path string
	Scope        store.Scope   // required scope; "" needs no key
	Also         []store.Scope // other scopes; any one is enough
	Summary      string
	Hidden       bool // not in the OpenAPI document
}

// Endpoints lists all routes.
func Endpoints() []Endpoint {
	var list []Endpoint
	for _, r := range routes() {
		list = append(list, Endpoint{r.ID, r.Method, r.Path, r.Scope, r.Also, r.Summary, r.Hidden})
	}
	return list
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// watchRoutes are the routes about watches and their data.
func watchRoutes() []*route {
	watch := in("watch", "The name of the watch")
	from := param{Name: "from", Kind: "string", Doc: "Where the range begins, by the time of events (RFC 3339)"}
	to := param{Name: "to", Kind: "string", Doc: "Where it ends; now if it is missing"}
	span := []param{watch, from, to}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/watches", ID: "list-watches", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listWatches,
			Summary: "List watches with their states, without their charts", Params: paging, Response: typeOf[WatchList]()},
		{Method: http.MethodPut, Path: "/v1/watches/{watch}", ID: "put-watch", Scope: store.Evaluate, Status: http.StatusOK, Handle: (*Server).putWatch,
			Summary: "Keep a watch under this name", Detail: watchKept, Params: []param{watch}, Request: typeOf[NewWatch](), Response: typeOf[WatchView]()},
		{Method: http.MethodPost, Path: "/v1/watches/{watch}/check", ID: "check-watch", Scope: store.Evaluate, Status: http.StatusOK, Handle: (*Server).postWatchCheck,
			Summary: "Check a watch, and store nothing", Detail: watchChecked, Params: []param{watch}, Request: typeOf[WatchToCheck](), Response: typeOf[WatchCheck]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}", ID: "get-watch", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getWatch,
			Summary: "A watch with its charts", Params: []param{watch}, Response: typeOf[WatchView]()},
		{Method: http.MethodDelete, Path: "/v1/watches/{watch}", ID: "delete-watch", Scope: store.Evaluate, Status: http.StatusNoContent, Handle: (*Server).deleteWatch,
			Summary: "Remove a watch with its verdicts, charts and alarms", Params: []param{watch}},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/series", ID: "watch-series", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchSeries,
			Summary: "How often assertions failed in the traffic of a watch, by time", Detail: seriesDoc, Response: typeOf[WatchSeries](),
			Params: slices.Concat(span, []param{{Name: "assertion", Kind: "string", Doc: "Only this assertion"},
				{Name: "by", Kind: "string", Enum: []string{"version", "segment"}, Doc: "A line for each version of the agent and judge, or for each segment"},
				{Name: "step", Kind: "string", Doc: "The length of a bucket, such as 1h: a multiple of an hour or, for the last 48 hours, at least 1m. Without it, about 120 buckets"}})},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/differences", ID: "watch-differences", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchDifferences,
			Summary: "What differs in a range from the time before it, which is as long", Params: span, Response: typeOf[WatchDifferences]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/thumbs", ID: "watch-thumbs", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchThumbs,
			Summary: "How verdicts relate to users' thumbs", Params: span, Response: typeOf[WatchThumbs]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/verdicts", ID: "list-watch-verdicts", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listWatchVerdicts,
			Summary: "List the verdicts of a watch, newest first", Response: typeOf[WatchVerdictList](),
			Params: slices.Concat([]param{watch, verdict, {Name: "assertion", Kind: "string", Doc: "Only on this assertion"}, {Name: "version", Kind: "string", Doc: "Only of this version of the agent"},
				{Name: "segment", Kind: "string", Doc: "Only of this segment"}, {Name: "event", Kind: "string", Doc: "Only on this event"}, from, to}, paging)},
		{Method: http.MethodGet, Path: "/v1/alarms", ID: "list-alarms", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listAlarms,
			Summary: "List alarms, newest first", Response: typeOf[AlarmList](), Params: slices.Concat([]param{
				{Name: "state", Kind: "string", Enum: []string{"open", "acked", "closed"}, Doc: "Only alarms in this state"}, {Name: "watch", Kind: "string", Doc: "Only of this watch"},
				{Name: "kind", Kind: "string", Enum: []string{"agent", "judge", "mix", "silent"}, Doc: "Only of this kind"}, {Name: "assertion", Kind: "string", Doc: "Only about this assertion"},
				{Name: "since", Kind: "string", Doc: "Only what was not closed before (RFC 3339)"}, {Name: "until", Kind: "string", Doc: "Only what was opened before (RFC 3339)"}}, paging)},
		{Method: http.MethodGet, Path: "/v1/alarms/{alarm}", ID: "get-alarm", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getAlarm,
			Summary: "An alarm, and the messages about it", Params: []param{in("alarm", "Its id")}, Response: typeOf[AlarmView]()},
		{Method: http.MethodPost, Path: "/v1/alarms/{alarm}/ack", ID: "ack-alarm", Scope: store.Edit, Also: []store.Scope{store.Evaluate, store.Labelling}, Others: true, Status: http.StatusOK, Handle: reads((*Server).ackAlarm),
			Summary: "Acknowledge an alarm", Detail: "It closes automatically. A further acknowledgement changes nothing, unless it has a note, which replaces the note, the name and the time.", Params: []param{in("alarm", "Its id")}, Request: typeOf[Ack](), Optional: true, Response: typeOf[AlarmView]()},
		{Method: http.MethodGet, Path: "/v1/adoption", ID: "get-adoption", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).adoption,
			Summary: "How far the project uses assertions: agents, prompts, pull requests", Detail: "Each measure has its definition.", Response: typeOf[Adoption]()},
	}
}

const watchKept = "The key pays for the evaluations, within its budget and the one of the watch, and only its models are asked. The same content again makes no new version. 201 says that the watch is new."

const watchChecked = "Mistakes are those of PUT, with their places under /watch and /set. The set is checked like one of PUT /v1/assertion-sets/{set}."

const seriesDoc = "Rates are weighted by the inverse of the probabilities with which events were sampled. corrected is there where people have labelled events of a random sample; without, the line says that the rate is the judge's."
