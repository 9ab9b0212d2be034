// Package provider answers prompts: one file per provider and one table of them. Start at
// [Open], which opens the provider that a suite names.
package provider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/value"
)

// Options configure how providers are opened.
type Options struct {
	Files proviso.Files
	Env   proviso.Env

	// Code compiles the scripts of a configuration; nil refuses them.
	Code proviso.Code
	// Templates renders URLs, headers and bodies; nil sends them as they are.
	Templates Templates
	// Dir is the suite's folder, where commands run; "" is the working folder.
	Dir string
	// Cassette records answers that do not use HTTP, or replays them; nil does
	// neither. For HTTP it belongs in the transport of Client.
	Cassette *transport.Cassette

	// Client makes the HTTP calls; nil is a client of internal/transport that
	// may reach every host.
	Client *http.Client
	// Limits are shared by all providers of a run; nil shares none.
	Limits *throttle.Limits
	// Concurrency is the maximum number of requests in flight to one endpoint; 0 means 4.
	Concurrency int
	// MaxRetries is how often a failed call is retried, unless the suite sets it; 0 means 4, a
	// negative number never.
	MaxRetries int
	// Timeout limits one call, without the time spent on rate limits and retries; 0 means
	// REQUEST_TIMEOUT_MS of the environment, or 5 min.
	Timeout time.Duration
	// LoginClient makes the HTTP calls that get access tokens. They must not be recorded. Nil means
	// a client of internal/transport, which for an untrusted suite reaches only the vendors' hosts.
	LoginClient *http.Client
	// Untrusted keeps keys of the environment from hosts that the suite names.
	Untrusted bool
	// KeyHost reports whether the user allows a host, in lower case and without a
	// port, to be sent keys although an untrusted suite names it; nil allows none.
	KeyHost func(host string) bool
	// Keyless is for commands that only check a suite: a missing key is only a warning (a
	// *proviso.Error with Warning set, and no provider), reported if there is no other mistake.
	Keyless bool
	// Need, if not nil, is called with what a provider takes from the user's environment, such as
	// OPENAI_API_KEY, and whether it is there. It gets names only, and is called even if the
	// provider cannot be opened.
	Need func(what string, here bool)
	// MayAsk, if not nil, returns why a host must not receive requests. It is called for hosts, in
	// lower case and without a port, that come from the user's environment or from this package.
	// Such a provider lacks something of the environment: see [ErrNoKey].
	MayAsk func(host string) error
	// Warn, if not nil, gets warnings about a provider that opens nevertheless.
	Warn func(*proviso.Error)

	// Now and Sleep are the clock; nil means the real one. When answers are replayed, Sleep may
	// return at once, so that limits and retries take no time.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Templates renders templates of a configuration. It is safe for concurrent use.
type Templates interface {
	Render(ctx context.Context, text string, vars *value.Object) (string, error)
}

// Kind describes one provider.
type Kind struct {
	Name string // the id, or its beginning up to and including the first colon
	Doc  string // one sentence for lists
	Own  bool   // not a provider of promptfoo
	New  func(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error)

	// Vars are prefixes of the variables that change how it answers, in addition to its own name in
	// capital letters and the name of its key up to the first underscore.
	Vars []string

	// Facts of [proviso.ProviderFacts].
	Code, File, URL, Local, OpenEnded bool
	Tools                             proviso.ToolFormat
	Search                            func(*proviso.ProviderSpec) bool
}

// kinds is sorted by name.
var kinds = []Kind{
	{Name: "anthropic:", Doc: "answers by Claude, over Anthropic's Messages API", New: newAnthropic, Search: searchClaude},
	{Name: "azure:", Doc: "answers by a deployment of Azure OpenAI", New: newAzure, Vars: []string{"AZURE_", "OPENAI_"}, Tools: proviso.ToolsOpenAI, Search: searchOpenAI},
	{Name: "azureopenai:", Doc: "another name of azure:", New: newAzure, Vars: []string{"AZURE_", "OPENAI_"}, Tools: proviso.ToolsOpenAI, Search: searchOpenAI},
	{Name: "bedrock:", Doc: "answers by a model of Amazon Bedrock, over its Converse API", New: newBedrock, Vars: []string{"AWS_"}},
	{Name: "echo", Doc: "answers with the prompt itself", New: newEcho, Local: true},
	{Name: "exec:", Doc: "answers with what a command prints", New: newExec, Code: true, OpenEnded: true},
	{Name: "file:", Doc: "answers with what a function of a script returns: file://x.py, file://x.js, file://x.rb", New: newFile, Code: true, File: true, OpenEnded: true},
	{Name: "google:", Doc: "answers by Gemini, over the API of Google AI Studio", New: newGoogle, Tools: proviso.ToolsGoogle, Search: searchGemini},
	{Name: "http", Doc: "answers by any HTTP endpoint; config.url, or config.request, says where", New: newHTTPCall, OpenEnded: true},
	{Name: "http:", Doc: "answers by the HTTP endpoint with this URL", New: newHTTPCall, OpenEnded: true},
	{Name: "https", Doc: "another name of http", New: newHTTPCall, OpenEnded: true},
	{Name: "https:", Doc: "answers by the HTTPS endpoint with this URL", New: newHTTPCall, OpenEnded: true},
	{Name: "ollama:", Doc: "answers by a model that Ollama serves", New: newOllama},
	{Name: "openai:", Doc: "answers by OpenAI: chat, responses, completion, embeddings", New: newOpenAI, Tools: proviso.ToolsOpenAI, Search: searchOpenAI},
	{Name: "python:", Doc: "answers with what a function of a Python file returns", New: newPython, Code: true, File: true, OpenEnded: true},
	{Name: "recorded:", Own: true, Doc: "answers with outputs recorded in a JSON, JSON Lines or CSV file", New: newRecorded, File: true, Local: true},
	{Name: "replicate:", Doc: "answers by a model that Replicate runs", New: newReplicate},
	{Name: "ruby:", Doc: "answers with what a function of a Ruby file returns", New: newRuby, Code: true, File: true, OpenEnded: true},
	{Name: "vertex:", Doc: "answers by Gemini or Claude, over Google Cloud's Vertex AI", New: newVertex, Vars: []string{"GOOGLE_", "CLOUD_"}, Tools: proviso.ToolsGoogle, Search: searchVertex},
	{Name: "webhook:", Doc: "answers by an endpoint that takes {prompt, config} and gives {output}", New: newWebhook, URL: true, OpenEnded: true},
}

// unsupported are providers of promptfoo that this version does not have, sorted by name. An
// untrusted suite must not name those that run code.
var unsupported = []Kind{
	{Name: "go:", Code: true},
	{Name: "golang:", Code: true},
	{Name: "javascript:", Code: true, OpenEnded: true},
	{Name: "mcp", Code: true},
	{Name: "mcp:", Code: true},
	{Name: "package:", Code: true},
	{Name: "script:", Code: true, OpenEnded: true},
}

// Kinds returns every provider, sorted. The table is shared and must not be changed.
func Kinds() []Kind { return allKinds() }

var allKinds = sync.OnceValue(func() []Kind {
	all := slices.Clone(kinds)
	for _, c := range compatibles {
		all = append(all, c.kind())
	}
	slices.SortFunc(all, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// rowOf finds the table row of an id, and the rest of the id; nil if there is none.
func rowOf(id string) (k *Kind, rest string) {
	all := Kinds()
	for i := range all {
		if rest, ok := all[i].of(id); ok {
			return &all[i], rest
		}
	}
	return nil, ""
}

// Facts returns what other packages need to know about each provider, sorted by name. It includes
// the promptfoo providers that this version does not support. The table is shared and must not be
// changed.
func Facts() proviso.Providers { return facts() }

var facts = sync.OnceValue(func() proviso.Providers {
	var list proviso.Providers
	for _, table := range [...][]Kind{Kinds(), unsupported} {
		for i := range table {
			list = append(list, table[i].facts())
		}
	}
	slices.SortFunc(list, func(a, b proviso.ProviderFacts) int { return strings.Compare(a.Name, b.Name) })
	return slices.Clip(list)
})

func (k *Kind) facts() proviso.ProviderFacts {
	return proviso.ProviderFacts{
		Name: k.Name, Code: k.Code, File: k.File, URL: k.URL, Local: k.Local, OpenEnded: k.OpenEnded, Tools: k.Tools, Search: k.Search,
	}
}

// Open returns the provider that spec names. The error for an unknown name is a *proviso.Error that
// lists the valid names. The error for a missing key has the cause [ErrNoKey]; further mistakes in
// the configuration are joined to it.
func Open(spec proviso.ProviderSpec, o Options) (proviso.Provider, error) {
	keyless := o.Keyless
	o.Keyless = false
	p, err := open(spec, o)
	if err == nil {
		return p, nil
	}
	var missing *proviso.Error
	if !errors.Is(err, ErrNoKey) || !errors.As(err, &missing) {
		return nil, err // p may hold a nil pointer
	}
	o.Keyless, o.Warn = true, nil
	if _, more := open(spec, o); more != nil && keyless {
		return nil, more
	} else if more != nil {
		return nil, errors.Join(missing, more)
	}
	missing.Warning = keyless
	return nil, missing
}

func open(spec proviso.ProviderSpec, o Options) (proviso.Provider, error) {
	k, arg := rowOf(spec.ID)
	if k == nil {
		return nil, unknown(spec)
	}
	return k.open(spec, arg, o)
}

// Known returns nil if spec's id begins like that of a provider, whatever the rest of the id is,
// and otherwise the error of [Open].
func Known(spec proviso.ProviderSpec) error {
	if k, _ := rowOf(spec.ID); k == nil {
		return unknown(spec)
	}
	return nil
}

// of reports whether an id names a provider, and returns the rest of the id.
func (k *Kind) of(id string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(id, k.Name)
	return rest, ok && (rest == "" || strings.HasSuffix(k.Name, ":"))
}

func (k *Kind) open(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	p, err := k.New(spec, arg, o)
	if err == nil && k.Local {
		p = local{p}
	}
	return p, err
}

// local is a provider that computes its answers itself, as its table row says.
type local struct{ proviso.Provider }

var _ proviso.Wrapper = local{}

// Unwrap returns the provider inside.
func (p local) Unwrap() proviso.Provider { return p.Provider }

// Computes reports whether a provider computes its answers locally and without
// waiting, as echo and recorded outputs do.
func Computes(p proviso.Provider) bool {
	for p != nil {
		if _, ok := p.(local); ok {
			return true
		}
		w, ok := p.(proviso.Wrapper)
		if !ok {
			return false
		}
		p = w.Unwrap()
	}
	return false
}

// unknown returns the error for an id without a provider, with the nearest name.
func unknown(spec proviso.ProviderSpec) error {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	kind, model, _ := strings.Cut(spec.ID, ":")
	spec.ID = withoutKeys(spec.ID)
	text := "provider \"" + spec.ID + "\" is not available in this version"
	if near := document.Nearest(kind+":", names); near != "" {
		if model != "" || !strings.HasSuffix(near, ":") {
			near = strings.TrimSuffix(near, ":") + strings.TrimPrefix(spec.ID, kind)
		}
		return &proviso.Error{Code: proviso.Unsupported, Pointer: spec.Pointer, Valid: []string{near}, Message: text}
	}
	return &proviso.Error{
		Code: proviso.Unsupported, Pointer: spec.Pointer, Valid: names,
		Message: text + "; docs/providers.md lists the available providers, and a case can set its answer with providerOutput",
	}
}
