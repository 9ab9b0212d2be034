package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// replica is a model at Replicate. An answer is a prediction, which is requested and then polled
// until it is done.
type replica struct {
	*model
	picture  bool          // the answer is the address of a picture
	defaults *value.Object // of the input, from the environment
}

// guard is a moderation model at Replicate.
type guard struct{ *replica }

var _ proviso.Moderator = (*guard)(nil)

// replicateInputs are the input members that the environment can set, and the
// suffixes of their variables.
var replicateInputs = [...]struct {
	name   string
	number bool
}{
	{"max_length", true}, {"max_new_tokens", true}, {"temperature", true}, {"top_p", true}, {"top_k", true},
	{"repetition_penalty", true}, {"stop_sequences", false}, {"seed", true}, {"system_prompt", false},
}

// replicateAPI is the API of Replicate.
var replicateAPI = api{
	base: "https://api.replicate.com/v1", hostPath: "/v1", keyVars: []string{"REPLICATE_API_TOKEN", "REPLICATE_API_KEY"},
	baseVars: []string{"REPLICATE_API_BASE_URL"}, prefix: "REPLICATE",
}

// newReplicate opens replicate:<owner>/<model>, optionally with :<version>,
// replicate:moderation:<model> or replicate:image:<model>.
func newReplicate(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, ok := strings.Cut(arg, ":")
	if !ok || kind != "moderation" && kind != "image" {
		kind, name = "", arg
	}
	a := replicateAPI
	a.extra = map[string]string{"Prefer": "wait=60"}
	m, err := newModel(s, a, wire{path: replicatePath}, name)
	if err != nil {
		return nil, err
	}
	r := &replica{model: m, picture: kind == "image", defaults: value.NewObject(0)}
	for _, in := range replicateInputs {
		v, _ := s.env("REPLICATE_" + strings.ToUpper(in.name))
		if f := value.ToNumber(v); v != "" && in.number && f == f {
			r.defaults.Set(in.name, f)
		} else if v != "" && !in.number {
			r.defaults.Set(in.name, v)
		}
	}
	if kind == "moderation" {
		return &guard{r}, nil
	}
	return r, nil
}

// replicatePath returns the path to request a prediction: of the given version, or of the version
// that the model's owner has published.
func replicatePath(model string) string {
	if strings.Contains(model, ":") {
		return "/predictions"
	}
	return "/models/" + model + "/predictions"
}

// cacheKey adds the input that the environment sets.
func (r *replica) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	key, err := r.model.cacheKey(ctx, ask)
	if err != nil || r.defaults.Len() == 0 {
		return key, err
	}
	return blobs.Key("replicate", key, value.Stringify(r.defaults)), nil
}

// Answer requests a prediction and waits until it is done.
func (r *replica) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	if err := r.gate.Err(); err != nil {
		return proviso.Output{}, err
	}
	cfg, err := r.settings(ctx, &ask)
	if err != nil {
		return proviso.Output{}, err
	}
	ctx = transport.WithSample(ctx, ask.Sample)
	done, latency, err := r.predict(ctx, r.endpointFor(ask.Config), r.request(ask.Prompt, cfg))
	var f *fault
	if errors.As(err, &f) {
		return blocked(f), nil
	}
	if err != nil {
		return proviso.Output{}, err
	}
	out := proviso.Output{
		Latency: &latency, Usage: proviso.Usage{Requests: 1}, Raw: keep(done, "id", "model", "version", "metrics"),
	}
	text, ok := replicateText(done.At("output"), r.picture)
	if !ok {
		return proviso.Output{}, r.malformed("the prediction has no text", keep(done, "status", "output"))
	}
	if out.Value = text; r.picture {
		out.Value = "![" + pictureName(ask.Prompt) + "](" + text + ")"
	}
	out.Cost = r.prices.cost(done, out.Usage)
	return out, nil
}

// request is the body of a prediction request.
func (r *replica) request(prompt string, cfg *value.Object) *value.Object {
	around := cfg.Object("prompt")
	prompt = around.Text("prefix") + prompt + around.Text("suffix")
	input := value.NewObject(8)
	if r.picture {
		input.Set("prompt", prompt)
		input.Set("width", 768.0)
		input.Set("height", 768.0)
	} else {
		for name, v := range r.defaults.All() {
			input.Set(name, v)
		}
	}
	for name, v := range cfg.All() {
		if !slices.Contains(opening[:], name) && !slices.Contains(ownSettings[:], name) && v != nil {
			input.Set(name, v)
		}
	}
	passThrough(input, cfg, "passthrough", "extra_body")
	if !r.picture {
		system, user := replicatePrompt(prompt)
		if system != nil {
			input.Set("system_prompt", system)
		}
		input.Set("prompt", user)
	}
	body := value.NewObject(2)
	if _, version, ok := strings.Cut(r.name, ":"); ok {
		body.Set("version", version)
	}
	body.Set("input", input)
	return body
}

// ownSettings are settings of proviso that are not inputs of a model.
var ownSettings = [...]string{"headers", "maxRetries", "passthrough", "extra_body", "structured", "showThinking", "omitDefaults", "isReasoningModel", "stream", "prompt"}

// replicatePrompt returns the first system message and the first user message
// of a chat. Any other prompt is the user message.
func replicatePrompt(prompt string) (system, user any) {
	user = prompt
	chat, _ := chatOf(prompt)
	for i := len(chat) - 1; i >= 0; i-- {
		m := object(chat[i])
		content := m.At("content")
		switch {
		case content == nil || content == "":
		case m.At("role") == "system":
			system = content
		case m.At("role") == "user":
			user = content
		}
	}
	return system, user
}

// pollInterval is the time between two polls of a prediction.
const pollInterval = time.Second

// predict requests a prediction and polls it until it is done, or until the
// timeout of a call. The latency includes the requests and the time between
// them.
func (r *replica) predict(ctx context.Context, e *endpoint, body *value.Object) (*value.Object, time.Duration, error) {
	p, err := e.ask(ctx, r.api.path(r.name), body)
	latency := p.latency
	for waited := time.Duration(0); err == nil && pending(p.Object); waited += pollInterval {
		id := p.Text("id")
		if !plainID(id) {
			return nil, 0, r.malformed("the prediction has no id", keep(p.Object, "id", "status"))
		}
		if waited >= e.timeout {
			return nil, 0, r.failure(&fault{code: proviso.Timeout, message: "the prediction " + id + " did not finish within " + e.timeout.String()})
		}
		if err := e.clock.Sleep(ctx, pollInterval); err != nil {
			return nil, 0, err
		}
		p, err = e.look(ctx, "/predictions/"+id)
		latency += pollInterval + p.latency
	}
	if err != nil {
		return nil, 0, err
	}
	if status := p.Text("status"); status != "succeeded" {
		return nil, 0, r.failure(&fault{code: proviso.Unavailable, message: "the prediction ended with status " + excerpt([]byte(status))})
	}
	return p.Object, latency, nil
}

// pending reports whether a prediction is still running.
func pending(p *value.Object) bool {
	switch p.At("status") {
	case "starting", "processing", "queued":
		return true
	}
	return false
}

// plainID reports whether an id is free of characters that have a meaning in a URL.
func plainID(id string) bool {
	return id != "" && len(id) <= 100 && strings.IndexFunc(id, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
	}) < 0
}

// replicateText reads a model's output: text, or its pieces. Only the first of
// several pictures is used.
func replicateText(v any, first bool) (string, bool) {
	if text, ok := v.(string); ok {
		return text, true
	}
	pieces, ok := v.([]any)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for _, p := range pieces {
		text, ok := p.(string)
		if !ok {
			return "", false
		}
		if first {
			return text, true
		}
		b.WriteString(text)
	}
	return b.String(), !first
}

// pictureName is the beginning of a prompt, for the text of a picture in
// Markdown.
func pictureName(prompt string) string {
	const most = 50
	text := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "[", "(", "]", ")").Replace(prompt)
	if r := []rune(text); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return text
}

// llamaHarms are the categories of Llama Guard.
var llamaHarms = [...]string{
	"Violent Crimes", "Non-Violent Crimes", "Sex Crimes", "Child Exploitation", "Defamation", "Specialized Advice", "Privacy",
	"Intellectual Property", "Indiscriminate Weapons", "Hate", "Self-Harm", "Sexual Content", "Elections", "Code Interpreter Abuse",
}

// Moderate asks a model that answers as Llama Guard does: safe, or unsafe with the categories on
// the second line.
func (g *guard) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	out, err := g.Answer(ctx, proviso.Ask{Prompt: "Human: " + prompt + "\n\nAssistant: " + output})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(out.Text()), "\n")
	if answer := strings.TrimSpace(lines[0]); answer == "safe" {
		return nil, nil
	} else if answer != "unsafe" || len(lines) < 2 {
		return nil, g.malformed("the answer is neither safe nor unsafe with categories", value.ObjectOf("output", out.Text()))
	}
	var flags []proviso.Flag
	for code := range strings.SplitSeq(lines[1], ",") {
		for i, harm := range llamaHarms {
			if code = strings.TrimSpace(code); code == "S"+value.ToString(float64(i+1)) {
				flags = append(flags, proviso.Flag{Code: code, Description: harm, Confidence: 1})
			}
		}
	}
	if flags == nil {
		return nil, g.malformed("the answer names no known category", value.ObjectOf("output", out.Text()))
	}
	return flags, nil
}
