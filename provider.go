package proviso

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Provider answers prompts. Implementations are safe for concurrent use and return when
// ctx is done. If the model returned an error message, the Output has Error set. A Go
// error means that there is no answer at all.
type Provider interface {
	// ID returns the provider's id as in a suite.
	ID() string
	// Answer makes one request.
	Answer(ctx context.Context, ask Ask) (Output, error)
}

// Ask is one request to a provider.
type Ask struct {
	Prompt string        // rendered; a chat is JSON text
	Label  string        // label of the prompt
	Vars   *value.Object // the variables the prompt was rendered with
	// Own holds variables that the run sets, such as its id. The provider's code and
	// templates see them beside Vars. The id is not part of the request. A provider that
	// only computes gets none.
	Own    *value.Object
	Config *value.Object // settings from the prompt and the case, which override the provider's own
	Case   *Case         // nil outside a suite
	Reply  *Reply        // required shape of the answer; nil means free text
	Static int           // number of leading chat messages that are the same in many asks, for vendors whose caches need it
	Shared int           // number of bytes of the next message that are the same in several following asks, for the same vendors
	Sample Sample
	// Verbatim keeps the answer as the model's text, even if the settings ask for
	// parsed JSON: parsing drops duplicate keys.
	Verbatim bool
	// Usable reports whether an answer may be stored and reused for the same ask; nil
	// stores every answer. It is not part of the ask itself.
	Usable func(*Output) bool
	// Trace identifies the trace of the work on the answer; nil if there is no tracing.
	// It is not part of the ask itself.
	Trace *TraceContext
}

// EvalID is the variable that holds the run id.
const EvalID = "__evalId"

// AllVars returns the variables that a provider's code and templates see.
func (a Ask) AllVars() *value.Object {
	if a.Own.Len() == 0 {
		return a.Vars
	}
	all := a.Vars.Clone()
	for name, v := range a.Own.All() {
		all.Set(name, v)
	}
	return all
}

// TraceContext tells a provider which trace its work belongs to, so that its spans can be
// told apart from those of other rows.
type TraceContext struct {
	Parent   string // traceparent, as in W3C Trace Context
	Endpoint string // URL that accepts spans as OTLP over HTTP; "" if there is none
	Needed   bool   // assertions look at the spans, so a stored answer is not usable
}

// Reply requests an answer that is one JSON value. A provider uses the feature of its API
// for that (a response format, a tool, a schema). A provider without one ignores Reply,
// so the caller must always parse the answer with care.
type Reply struct {
	Name   string        // name of the value, such as "verdicts": letters, digits, _ and -
	Schema *value.Object // JSON Schema; objects list all properties as required and allow no others
}

// Sample distinguishes calls that would otherwise be the same exchange. It is part of the
// key of every stored exchange and never depends on call order.
type Sample struct {
	Repeat, Vote, Repair int
}

// Wrapper is a provider that wraps another one, such as a cache or a budget. It also has
// the abilities of the inner provider: see [As].
type Wrapper interface {
	Provider
	// Unwrap returns the inner provider.
	Unwrap() Provider
}

// As returns an additional ability of p, such as an [Embedder], and whether p has it.
// A [Wrapper] has the abilities of the provider that it wraps: it uses its own method
// if it has one, and otherwise that of the inner provider. Use this function instead
// of a type assertion, which sees only the wrapper.
func As[T any](p Provider) (T, bool) {
	own, ok := p.(T)
	w, wraps := p.(Wrapper)
	if !wraps {
		return own, ok
	}
	inner, can := As[T](w.Unwrap())
	if can && ok {
		return own, true
	}
	return inner, can
}

// Embedder is a provider that turns texts into vectors.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float64, Usage, error)
}

// Classifier is a provider that gives a text a score for each class.
type Classifier interface {
	Classify(ctx context.Context, text string) (map[string]float64, error)
}

// Moderator is a provider that returns the harm categories of a text.
type Moderator interface {
	Moderate(ctx context.Context, prompt, output string) ([]Flag, error)
}

// Flag is one category that a moderator found.
type Flag struct {
	Code, Description string
	Confidence        float64
}

// Env looks up environment variables. Packages below cmd do not read the process
// environment themselves. Implementations are safe for concurrent use.
type Env interface {
	// Lookup returns the value of name and whether it is set.
	Lookup(name string) (string, bool)
	// Names returns the names that are set, in unspecified order.
	Names() []string
}

// UnsetVariable returns the error for an unset environment variable. It shows the name
// only if it looks like one, in capital letters: if a user writes a key instead of a
// name, the key must not appear in a log.
func UnsetVariable(name string) error {
	if name == "" || len(name) > 64 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return Errorf(Invalid, "expected the name of an environment variable that is set, such as PROVISO_API_KEY, and not its value; what is there is not shown, because it may be a key")
	}
	return Errorf(Invalid, "the environment variable %s is not set", name)
}

// EnvMap is an [Env] backed by a map.
type EnvMap map[string]string

// Lookup returns the value of name and whether it is set.
func (m EnvMap) Lookup(name string) (string, bool) {
	v, ok := m[name]
	return v, ok
}

// Names returns the names in m.
func (m EnvMap) Names() []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	return names
}

// Files opens the files that a suite names. Names are relative to the suite's folder.
// The implementation decides what may be opened. Safe for concurrent use.
type Files interface {
	ReadFile(name string) ([]byte, error)
}

// Spans returns the spans of a trace. Checks call it only when they need spans. The call
// waits, up to a limit, for spans that have not arrived yet.
type Spans interface {
	Spans(ctx context.Context, traceID string) ([]Span, error)
}
