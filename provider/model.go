package provider

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// model is a language model behind an endpoint.
type model struct {
	id     string
	name   string // name in the API
	api    wire
	config *value.Object // with file references resolved
	late   []string      // settings that need the variables of a case
	fill   *filler
	prices prices

	reasoning   bool // it reasons before it answers
	flat        bool // see api
	objects     bool // see api
	loose       bool // see api
	temperature float64
	maxTokens   float64
	shapeless   atomic.Bool // the endpoint rejects requests with a shape for the answer
	*endpoint
}

// defaultTokens is the default token limit of an answer, as in promptfoo.
const defaultTokens = 1024

// wire is the request and response form of an API.
type wire struct {
	// path is the path of a model below the base URL.
	path func(model string) string
	// request builds the body that asks for an answer to a prompt.
	request func(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error)
	// output reads the answer; the caller adds latency and cost.
	output func(m *model, answer, cfg *value.Object) (proviso.Output, error)
	// reads describes what a request takes from the variables besides the prompt, for the cache
	// key; nil if nothing.
	reads func(ask *proviso.Ask) string
	// shape asks for an answer of one shape; nil if the API does not support it.
	shape shape
	// vectors is the form of an embedding API, which sets none of the other fields but path.
	vectors vectors
}

// fixed returns the same API path for all models.
func fixed(path string) func(string) string { return func(string) string { return path } }

// openModel opens a model of a vendor's API that answers or embeds.
func openModel(s settings, a api, w wire, name string) (proviso.Provider, error) {
	m, err := newModel(s, a, w, name)
	if err != nil {
		return nil, err
	}
	if w.vectors.request != nil {
		return &embedder{m, w.vectors}, nil
	}
	return m, nil
}

// newModel opens a model of a vendor's API.
func newModel(s settings, a api, w wire, name string) (*model, error) {
	if name == "" {
		return nil, s.invalid("the name of a model is missing, as in %smodel", s.spec.ID)
	}
	if w.path != nil && w.path("a") != w.path("b") { // the name is part of the path
		if err := s.pathName(name); err != nil {
			return nil, err
		}
	}
	e, err := s.endpoint(a, name)
	if err != nil {
		return nil, err
	}
	config, streams := unstreamed(s.spec.Config)
	if streams {
		s.warn("stream has no effect: proviso reads each answer as a whole")
	}
	if s.spec.Config.Object("functionToolCallbacks").Len() > 0 {
		return nil, s.failed(proviso.Unsupported, "config.functionToolCallbacks is not supported: functions that the model calls are not run; the call is the answer")
	}
	fill := &filler{files: s.o.Files, templates: s.o.Templates}
	cfg, late, err := fill.prepare(config, true)
	if err != nil {
		return nil, s.invalid("%w", err)
	}
	if cfg == nil {
		cfg = value.NewObject(0)
	}
	known := name
	if n := s.text("modelName"); n != "" { // for a deployment with a name of its own
		known = n
	}
	return &model{
		id: s.spec.ID, name: name, api: w, config: cfg, late: late, fill: fill, prices: s.prices(a.prices, known),
		reasoning: reasons(known) || cfg.At("isReasoningModel") == true, flat: a.flat, objects: a.objects, loose: a.loose,
		temperature: s.envNumber(a.prefix+"_TEMPERATURE", 0), maxTokens: s.envNumber(a.prefix+"_MAX_TOKENS", cmp.Or(a.tokens, defaultTokens)),
		endpoint: e,
	}, nil
}

// pathName rejects a name that would change the API path: a model's key must not be used for other
// methods of the vendor.
func (s settings) pathName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`?#\%`, r)
	})
	for part := range strings.SplitSeq(name, "/") {
		odd = odd || part == "" || part == "." || part == ".."
	}
	if odd {
		return s.invalid("%q is not the name of a model: it becomes part of a URL path, so it must not contain . or .. between slashes, white space, ?, #, %% or \\", name)
	}
	return nil
}

func (m *model) ID() string { return m.id }

// Answer asks the model once. A prompt or answer that a content filter stopped
// counts as an answer: a refusal in the vendor's words.
func (m *model) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	if err := m.gate.Err(); err != nil {
		return proviso.Output{}, err
	}
	cfg, err := m.settings(ctx, &ask)
	if err != nil {
		return proviso.Output{}, err
	}
	if ask.Reply != nil { // reasoning would come before the value
		cfg = cfg.Clone()
		cfg.Set("showThinking", false)
	}
	r, err := m.exchange(transport.WithSample(ctx, ask.Sample), &ask, cfg)
	if err != nil {
		if f, ok := err.(*fault); ok {
			return blocked(f), nil
		}
		return proviso.Output{}, err
	}
	if ask.Verbatim {
		cfg = verbatim(cfg)
	}
	out, err := m.api.output(m, r.Object, cfg)
	if err != nil {
		return proviso.Output{}, err
	}
	if ask.Reply != nil {
		unwrapped(&out, ask.Reply)
	}
	out.Latency = &r.latency
	out.Usage.Requests = 1
	out.Cost = m.prices.cost(r.Object, out.Usage)
	return out, nil
}

// exchange makes the request. If the endpoint rejects the shape of the answer, it repeats the
// request without the shape.
func (m *model) exchange(ctx context.Context, ask *proviso.Ask, cfg *value.Object) (reply, error) {
	body, err := m.api.request(m, ask, cfg)
	if err != nil {
		return reply{}, err
	}
	plain := body
	if ask.Reply != nil {
		plain = body.Clone()
	}
	path, e := m.api.path(m.name), m.endpointFor(ask.Config)
	shaped := m.shaped(body, cfg, ask.Reply)
	first := *e
	first.tentative = shaped
	r, err := first.ask(ctx, path, body)
	var f *failure
	if err == nil || !shaped || !errors.As(err, &f) || !plainly(f.fault) {
		return r, err
	}
	again, second := e.ask(ctx, path, plain)
	if second != nil {
		return r, err
	}
	m.shapeless.Store(true)
	return again, nil
}

// malformed returns the error for an answer that lacks a required member.
func (m *model) malformed(what string, answer *value.Object) error {
	return m.failure(&fault{code: proviso.Unavailable, status: 200, message: what + ": " + excerpt(value.AppendJSON(nil, answer))})
}

// blocked returns the output for a prompt that a content filter stopped.
func blocked(f *fault) proviso.Output {
	return proviso.Output{
		Value: f.message, Refused: true, FinishReason: finishFiltered, Usage: proviso.Usage{Requests: 1},
		Guardrails: value.ObjectOf("flagged", true, "flaggedInput", true, "flaggedOutput", false, "reason", f.message),
	}
}

// copySettings copies the named settings that are set.
func copySettings(body, cfg *value.Object, names ...string) {
	for _, name := range names {
		if v, ok := cfg.Get(name); ok && v != nil {
			body.Set(name, v)
		}
	}
}

// passThrough copies the members of the named settings, which hold raw parameters, into a body.
func passThrough(body, cfg *value.Object, keys ...string) {
	for _, key := range keys {
		o, _ := cfg.At(key).(*value.Object)
		for k, v := range o.All() {
			body.Set(k, v)
		}
	}
}

// object returns v if it is an object, or nil, which reads as an empty one.
func object(v any) *value.Object {
	o, _ := v.(*value.Object)
	return o
}

// list returns v if it is a list.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// str returns v if it is text.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// count returns a number of tokens.
func count(o *value.Object, key string) int64 {
	f, _ := o.At(key).(float64)
	return int64(f)
}

// keep copies the members of an answer that reports and scripts may use.
func keep(answer *value.Object, names ...string) *value.Object {
	raw := value.NewObject(len(names))
	copySettings(raw, answer, names...)
	if raw.Len() == 0 {
		return nil
	}
	return raw
}
