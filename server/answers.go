package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// AnswerRequest asks a provider once.
type AnswerRequest struct {
	Provider string        `json:"provider" doc:"Its id, as in a suite, such as openai:chat:gpt-5-mini or echo"`
	Prompt   any           `json:"prompt" doc:"A text, or a chat: a list of messages {role, content}. Templates in it are rendered"`
	Vars     *value.Object `json:"vars,omitempty" doc:"The variables of the templates; their contents are not rendered"`
}

// Answered is a provider's answer.
type Answered struct {
	Output       any         `json:"output" doc:"A text, or a structure"`
	Usage        judge.Usage `json:"usage"`
	Cost         *float64    `json:"cost" doc:"US dollars; null if the price is not known"`
	LatencyMS    float64     `json:"latency_ms"`
	Cached       bool        `json:"cached,omitempty" doc:"It is a stored answer to the same question, which costs nothing"`
	FinishReason string      `json:"finish_reason,omitempty"`
}

// AskableProvider is a kind of provider that clients may ask through the server.
type AskableProvider struct {
	ProviderStatus
	Doc     string   `json:"doc,omitempty"`
	Models  []string `json:"models" doc:"Ids to begin with; there may be others"`
	Allowed bool     `json:"allowed" doc:"Whether the key may ask one of them, or all of the kind where none is named"`
}

// AskableProviders lists the kinds of providers.
type AskableProviders struct {
	Items []AskableProvider `json:"items"`
}

func playgroundRoutes() []*route {
	return []*route{
		{Method: http.MethodPost, Path: "/v1/answers", ID: "ask", Scope: store.Evaluate, Status: http.StatusOK, Asks: true, Handle: reads((*Server).postAnswer),
			Summary: "Ask a provider once", Request: typeOf[AnswerRequest](), Response: typeOf[Answered](),
			Detail: "The key pays. Providers that run code, read files or name an address are refused, as in suites of clients."},
		{Method: http.MethodGet, Path: "/v1/providers", ID: "list-providers", Scope: store.Read, Status: http.StatusOK, Handle: (*Server).listProviders,
			Summary: "List the kinds of providers that the server can ask, and whether it has their keys", Response: typeOf[AskableProviders]()},
		{Method: http.MethodPost, Path: "/v1/lint", ID: "lint", Scope: store.Read, Also: []store.Scope{store.Labelling}, Panel: store.Read, Status: http.StatusOK, Handle: (*Server).postLint,
			Summary: "Find probable mistakes in the wording of assertions, without a model", Detail: "An assertion that cannot be read is a problem, as in /v1/evaluate.",
			Request: typeOf[LintRequest](), Response: typeOf[Linted]()},
	}
}

func (s *Server) postAnswer(c *call, in *AnswerRequest) error {
	if s.o.Asker == nil {
		return problem(proviso.Unsupported, "this server asks no providers")
	}
	if err := checkAnswer(c, in); err != nil {
		return err
	}
	account := s.budgets.open(c.key)
	if err := account.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(withAccount(c.r.Context(), account), s.o.EvaluateLimit)
	defer cancel()
	started := time.Now()
	out, err := s.o.Asker.Ask(ctx, in.Provider, in.Prompt, in.Vars)
	took := time.Since(started)
	s.paid(ctx, c.project, account, "request_id", c.id)
	if err != nil {
		if spent := account.check(); spent != nil && proviso.CodeOf(err) == proviso.Limit {
			return spent
		}
		return err
	}
	if out.Latency != nil && !out.Cached {
		took = *out.Latency
	}
	return c.json(http.StatusOK, Answered{
		Output: shownOutput(out.Value), Cost: out.Cost, LatencyMS: milliseconds(took), Cached: out.Cached, FinishReason: out.FinishReason,
		Usage: out.Usage,
	})
}

// shownOutput converts an output to JSON.
func shownOutput(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case value.Undefined, nil:
		return ""
	}
	return json.RawMessage(value.Stringify(v))
}

// checkAnswer finds mistakes in a request, and providers that the key may not ask.
func checkAnswer(c *call, in *AnswerRequest) error {
	mistake := func(pointer, message string) error { return pointed(pointer, proviso.Invalid, message) }
	size := 0
	switch v := in.Prompt.(type) {
	case string:
		size = len(v)
	case []any:
		size = len(value.Stringify(v))
		for i, m := range v {
			if o, ok := m.(*value.Object); !ok || o.Text("role") == "" || !o.Has("content") {
				return mistake(document.Join("/prompt", i), "a message of a chat is an object {role, content}")
			}
		}
	default:
		return mistake("/prompt", "the prompt has to be a text, or a list of messages {role, content}, not "+kindOf(v))
	}
	if size > judge.MaxText {
		return mistake("/prompt", "the prompt has more than "+strconv.Itoa(judge.MaxText)+" bytes")
	}
	switch {
	case in.Provider == "" || len(in.Provider) > store.MaxName:
		return mistake("/provider", "the provider has to be an id, such as openai:chat:gpt-5-mini")
	case askable(in.Provider) != nil:
		return askable(in.Provider)
	case !c.key.MayAsk(in.Provider):
		return problem(codeForbidden, "the key may not ask "+shortened(in.Provider))
	}
	return nil
}

func (s *Server) listProviders(c *call) error {
	out := AskableProviders{Items: []AskableProvider{{
		ProviderStatus: ProviderStatus{ID: "echo", Key: "not needed"}, Doc: "answers with the prompt itself", Models: []string{"echo"}, Allowed: c.key.MayAsk("echo"),
	}}}
	docs := map[string]string{}
	for _, k := range provider.Kinds() {
		docs[strings.TrimSuffix(k.Name, ":")] = k.Doc
	}
	for _, status := range s.providers() {
		p := AskableProvider{ProviderStatus: status, Doc: docs[status.ID], Models: []string{}, Allowed: c.key.MayAsk(status.ID + ":")}
		for _, m := range engine.DefaultJudges(judge.Text) {
			if strings.HasPrefix(m.Provider, status.ID+":") {
				p.Models = append(p.Models, m.Provider)
				p.Allowed = p.Allowed || c.key.MayAsk(m.Provider)
			}
		}
		out.Items = append(out.Items, p)
	}
	return c.json(http.StatusOK, out)
}

// LintRequest asks for likely problems in assertions.
type LintRequest struct {
	Assertions []judge.Assertion `json:"assertions"`
	Templates  map[string]any    `json:"templates,omitempty" doc:"Templates that the criteria name besides the shipped ones, as in an assertion set"`
}

// Linted lists likely problems in assertions.
type Linted struct {
	Items  []LintedAssertion `json:"items" doc:"One for each assertion, in their order"`
	Unread string            `json:"unread,omitempty" doc:"Says that some criteria are in a language that the lint does not read"`
}

// LintedAssertion lists likely problems in one assertion.
type LintedAssertion struct {
	Index    int            `json:"index"`
	ID       string         `json:"id"`
	Findings []lint.Finding `json:"findings" doc:"Their pointers are into the request"`
}

func (s *Server) postLint(c *call) error {
	set, err := readSet(c.r.Context(), c.body)
	if err != nil {
		return err
	}
	for key, text := range map[string]string{"name": set.name, "prompt": set.prompt, "context": set.context} {
		if text != "" {
			return invalid([]Mistake{{Pointer: "/" + key, Code: proviso.Invalid, Message: "unknown field " + key, Valid: []string{"assertions", "templates"}}})
		}
	}
	req, err := judge.ReadRequestWith(c.r.Context(), set.request(), set.library)
	if err != nil {
		return requestProblem(c.r.Context(), c.body, err)
	}
	list, mistakes := req.Decode()
	if len(mistakes) > 0 {
		return requestProblem(c.r.Context(), c.body, mistakes)
	}
	out := Linted{Items: []LintedAssertion{}, Unread: lint.Unread(list)}
	for i, a := range list {
		found := lint.Assertion(a)
		if found == nil {
			found = []lint.Finding{}
		}
		out.Items = append(out.Items, LintedAssertion{i, a.ID, found})
	}
	return c.json(http.StatusOK, out)
}
