package engine

import (
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
)

// Options configure an [Engine]. The zero value is for an untrusted suite.
type Options struct {
	Policy    Policy
	Judge     Judge
	Engines   Engines
	Limits    Limits
	Observers Observers

	// Keyless makes a key that is missing a warning: nothing is going to be asked.
	Keyless bool
	// Version is that of the program, for the record of a run.
	Version string
}

// Judge says which model grades, and how, in place of what the suite says.
type Judge struct {
	// Name is the id of a provider, or the label of one of the suite's. If it is
	// empty, the suite says who grades, else the variable [JudgeVariable], else the
	// first model whose key is set: see [DefaultJudges].
	Name string
	// Off leaves what a model would have to grade undecided, and asks none.
	Off bool
	// Mode, Votes and Concurrency are those of judge.Options; the zero values leave
	// them to the suite.
	Mode        judge.Mode
	Votes       int
	Concurrency int
	// Canaries adds questions with a known answer, to notice a judge that obeys the
	// output it grades.
	Canaries bool
}

// Engines are what an [Engine] uses and does not own: it does not close them. It
// opens, and closes, what is nil here.
type Engines struct {
	// Env is the environment of the user; nil has no names. Policy says what of it
	// the suite sees.
	Env proviso.Env
	// Machine is where confined code finds PATH, HOME and interpreters; nil is Env.
	Machine proviso.Env
	// Dir is the folder of the files that requests name, if there is no suite; ""
	// has no files.
	Dir string
	// Files reads the files of the suite; nil reads those that Policy allows.
	Files proviso.Files
	// Client makes the HTTP calls, and has to be confined as Policy says; nil makes
	// one.
	Client *http.Client
	// Transport, if not nil, wraps what the engine's own client sends requests with.
	Transport func(http.RoundTripper) http.RoundTripper
	// Spans gives the spans of traces; nil has none.
	Spans proviso.Spans

	// Answers and Verdicts are folders that keep the answers of models and the
	// verdicts of judges; "" keeps none.
	Answers, Verdicts string
	// Cassette records or replays what models answer; nil does neither.
	Cassette *transport.Cassette
	// Secrets are redacted from what is kept; nil is a new set.
	Secrets *secrets.Set

	// Operator is an engine without a suite, under the policy of whoever operates
	// the program. This engine shares its cache of answers, its budget and its rate
	// limits, and has it open the judges that the operator chose. Nil is none.
	Operator *Engine

	// Open opens a provider; nil is provider.Open.
	Open func(proviso.ProviderSpec, provider.Options) (proviso.Provider, error)
	// Wrap, if not nil, wraps each provider that is asked, around cache and budget.
	Wrap func(proviso.Provider) proviso.Provider
}

// Limits bound what an [Engine] does at a time. What is 0 is left to the suite, and
// otherwise has the default of what it limits.
type Limits struct {
	run.Limits
	Calls   int // in flight to one endpoint; Concurrency if 0
	Workers int // calls of confined code at a time; the number of processors if 0
}

// Observers are told what an [Engine] does. All of them may be nil.
type Observers struct {
	run.Observers
	// Warn is called with lines for the user, such as that code is less confined
	// than usual.
	Warn func(line string)
	// Opened is called for each thing that has to be closed, from several goroutines
	// at once; what it returns is called when that was closed.
	Opened func(kind string) (closed func())
}

// of returns what the suite says where l says nothing.
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
