package engine

import (
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/run"
)

// Options configure an [Engine]. The zero value is for an untrusted suite.
type Options struct {
	Policy    Policy
	Judge     Judge
	Engines   Engines
	Limits    Limits
	Observers Observers

	// Keyless makes a missing key a warning, for programs that send no requests.
	Keyless bool
	// Version is the program's version, which is recorded in runs.
	Version string
}

// Judge selects and configures the judge model. It overrides the suite.
type Judge struct {
	// Name is the id of a provider, or the label of a provider in the suite. If it is empty,
	// the judge is that of the suite, otherwise that of the variable [JudgeVariable], otherwise
	// the first model whose key is set: see [DefaultJudges].
	Name string
	// Flag is the command-line flag that sets Name, for messages; "" if there is none.
	Flag string
	// Off calls no judge and leaves judged assertions undecided.
	Off bool
	// Grader, if not nil, decides all judged assertions instead of a judge model. It may have a
	// method Identity() string, whose result reports show.
	Grader proviso.Grader
	// Mode, Votes and Concurrency are those of judge.Options. Zero values mean the suite's
	// settings.
	Mode        judge.Mode
	Votes       int
	Concurrency int
	// Canaries adds questions with a known answer, to detect a judge that follows a
	// prompt injection.
	Canaries bool
}

// Engines holds what an [Engine] uses but does not own: it does not close them. For nil fields,
// it opens and closes its own.
type Engines struct {
	// Env is the user's environment; nil means an empty one. Policy restricts which variables
	// the suite sees.
	Env proviso.Env
	// Machine is where confined code finds PATH, HOME and interpreters; nil means Env.
	Machine proviso.Env
	// Dir is the folder for files that requests name, if there is no suite; "" means no files.
	Dir string
	// Files reads the suite's files; nil reads those that Policy allows.
	Files proviso.Files
	// Client makes the HTTP calls and must enforce Policy; nil makes a new one.
	Client *http.Client
	// Transport, if not nil, wraps the transport of the engine's own client.
	Transport func(http.RoundTripper) http.RoundTripper
	// Spans provides the spans of traces; nil means none.
	Spans proviso.Spans

	// Code runs the code of a trusted suite; nil runs it according to Policy.Sandbox.
	Code proviso.Code
	// Metrics evaluates the expressions of derived metrics; nil starts mathjs with the first
	// expression that needs it, which takes about a quarter of a second. Engines may share one;
	// [Engine.Close] does not close it.
	Metrics run.Metrics
	// Providers answer under their ids, for the suite and for Judge.Name. They take precedence
	// over all other providers.
	Providers []proviso.Provider

	// Answers and Verdicts cache the answers of models and the verdicts of judges: see
	// [Folder]. Nil means no cache.
	Answers, Verdicts proviso.Cache
	// Record is a folder that stores every exchange with a model, without secrets. Replay is
	// such a folder, whose exchanges are used instead of calling models. At most one is set.
	// Neither uses the caches.
	Record, Replay string
	// Redact lists texts that are removed from everything that is stored, in addition to the
	// keys of the environment and the suite.
	Redact []string
	// Cassette replaces Record and Replay, and Secrets collects what is redacted, for the
	// commands of proviso; nil creates new ones.
	Cassette *transport.Cassette
	Secrets  *secrets.Set

	// Operator is an engine without a suite, under the policy of the program's operator. This
	// engine shares its cache of answers, its budget and its rate limits, and uses it to open
	// the judges that the operator chose. Nil means none.
	Operator *Engine

	// Open opens a provider; nil means provider.Open.
	Open func(proviso.ProviderSpec, provider.Options) (proviso.Provider, error)
	// Wrap, if not nil, wraps each provider that calls a model, around cache and budget.
	Wrap func(proviso.Provider) proviso.Provider
}

// Limits limits the concurrency and the timing of an [Engine]. A field that is 0 means the
// suite's setting, or the default.
type Limits struct {
	run.Limits
	Calls   int // calls in flight to one endpoint; 0 means Concurrency
	Workers int // concurrent calls of confined code; 0 means the number of processors
	// Shared shares the rate limits of endpoints with other processes; nil limits only this
	// process.
	Shared throttle.SharedRates
}

// Observers are callbacks for events of an [Engine]. Each may be nil.
type Observers struct {
	run.Observers
	// Warn is called with lines for the user, for example if code is less confined than usual.
	Warn func(line string)
	// Opened is called concurrently for each resource that must be closed. The function that it
	// returns is called after the resource is closed.
	Opened func(kind string) (closed func())
}

// of returns l with the suite's settings for fields that are 0.
func (l Limits) of(s *proviso.Suite) Limits {
	if s == nil {
		return l
	}
	or := func(d *time.Duration, ms int) {
		if *d == 0 {
			*d = time.Duration(ms) * time.Millisecond
		}
	}
	or(&l.Delay, s.Options.DelayMS)
	or(&l.RowTimeout, s.Options.TimeoutMS)
	or(&l.Timeout, s.Options.MaxTimeMS)
	if l.Concurrency == 0 {
		l.Concurrency = s.Options.MaxConcurrency
	}
	return l
}
