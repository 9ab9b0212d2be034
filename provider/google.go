package provider

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// googleGenerate is POST /v1beta/models/<model>:generateContent.
var googleGenerate = wire{path: googlePath("generateContent"), request: googleRequest, reads: picturesRead, output: googleOutput, shape: googleShape}

func googlePath(method string) func(string) string {
	return func(model string) string { return "/v1beta/models/" + url.PathEscape(model) + ":" + method }
}

// googleAPI is the API of Google AI Studio.
var googleAPI = api{
	base: "https://generativelanguage.googleapis.com", header: "x-goog-api-key", prices: "google", prefix: "GOOGLE",
	keyVars:  []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", "PALM_API_KEY"},
	baseVars: []string{"GOOGLE_API_BASE_URL", "GEMINI_API_BASE_URL"}, hostVars: []string{"GOOGLE_API_HOST"},
}

// newGoogle opens google:<model> and google:embedding:<model> of Google AI Studio.
func newGoogle(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, _ := strings.Cut(arg, ":")
	switch kind {
	case "image", "video", "live":
		return nil, s.unsupported("google:" + kind)
	case "embedding", "embeddings":
		return openModel(s, googleAPI, wire{path: googlePath("batchEmbedContents"), vectors: googleVectors}, name)
	}
	return openModel(s, googleAPI, googleGenerate, strings.TrimPrefix(arg, "chat:"))
}

func googleRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := googleChat(ask.Prompt)
	contents := inlinedContents(list(body.At("contents")))
	googlePictures(contents, ask.Vars)
	body.Set("contents", contents)
	if text, ok := cfg.At("systemInstruction").(string); ok {
		body.Set("systemInstruction", value.ObjectOf("parts", []any{value.ObjectOf("text", text)}))
	} else {
		copySettings(body, cfg, "systemInstruction")
	}
	copySettings(body, cfg, "toolConfig", "safetySettings", "cachedContent", "labels")
	if tools := list(cfg.At("tools")); len(tools) > 0 {
		body.Set("tools", googleTools(tools))
	}
	if generation := googleGeneration(cfg); generation.Len() > 0 {
		body.Set("generationConfig", generation)
	}
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

func googleGeneration(cfg *value.Object) *value.Object {
	g := value.NewObject(4)
	copySettings(g, cfg, "temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "candidateCount", "seed", "presencePenalty",
		"frequencyPenalty", "responseLogprobs", "logprobs", "responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig",
		"responseModalities")
	for own, common := range map[string]string{"maxOutputTokens": "max_tokens", "topP": "top_p", "topK": "top_k"} {
		if v := cfg.At(common); v != nil && !g.Has(own) {
			g.Set(own, v)
		}
	}
	passThrough(g, cfg, "generationConfig")
	if schema, ok := g.Get("response_schema"); ok {
		g.Delete("response_schema")
		g.Set("responseSchema", schema)
	}
	if g.Has("responseSchema") && !g.Has("responseMimeType") {
		g.Set("responseMimeType", "application/json")
	}
	return g
}

// googleChat reads a prompt: contents in Google's form, a chat, or text.
func googleChat(prompt string) *value.Object {
	if text := value.TrimSpace(prompt); strings.HasPrefix(text, "{") {
		if v, err := value.ParseJSON(text); err == nil && list(object(v).At("contents")) != nil {
			return object(v).Clone()
		}
	}
	body := value.NewObject(4)
	var system, contents []any
	for _, v := range messagesOf(prompt) {
		m := object(v)
		if systemRole(m) {
			system = append(system, googleParts(m)...)
			continue
		}
		role := m.At("role")
		if role == "assistant" {
			role = "model"
		}
		contents = append(contents, value.ObjectOf("role", role, "parts", googleParts(m)))
	}
	body.Set("contents", contents)
	if len(system) > 0 {
		body.Set("systemInstruction", value.ObjectOf("parts", system))
	}
	return body
}

func googleParts(m *value.Object) []any {
	if own := list(m.At("parts")); own != nil {
		return own
	}
	out := []any{}
	for _, p := range partsOf(m.At("content")) {
		switch {
		case p.other != nil:
			out = append(out, p.other)
		case p.image != nil && p.image.url != "":
			out = append(out, value.ObjectOf("fileData", value.ObjectOf("fileUri", p.image.url)))
		case p.image != nil:
			out = append(out, value.ObjectOf("inlineData", value.ObjectOf("mimeType", p.image.mediaType, "data", p.image.data)))
		default:
			out = append(out, value.ObjectOf("text", p.text))
		}
	}
	return out
}

// googleTools converts tools from OpenAI's form to function declarations. Other
// tools stay as they are.
func googleTools(tools []any) []any {
	var out, functions []any
	for _, v := range tools {
		f := object(object(v).At("function"))
		if object(v).At("type") != "function" || f == nil {
			out = append(out, v)
			continue
		}
		declared := value.NewObject(3)
		copySettings(declared, f, "name", "description", "parameters")
		functions = append(functions, declared)
	}
	if len(functions) > 0 {
		out = append(out, value.ObjectOf("functionDeclarations", functions))
	}
	return out
}

// googleFilters are the finish reasons of a filtered answer.
var googleFilters = [...]string{
	"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR",
}

func googleOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	u := object(answer.At("usageMetadata"))
	out := proviso.Output{
		Usage: proviso.Usage{
			Prompt: count(u, "promptTokenCount"), Completion: count(u, "candidatesTokenCount") + count(u, "thoughtsTokenCount"),
			Total: count(u, "totalTokenCount"), Cached: count(u, "cachedContentTokenCount"),
		},
		Raw: keep(answer, "responseId", "modelVersion", "promptFeedback"),
	}
	candidates := list(answer.At("candidates"))
	if len(candidates) == 0 {
		reason := str(object(answer.At("promptFeedback")).At("blockReason"))
		if reason == "" {
			return out, m.malformed("the answer has no candidates", answer)
		}
		googleBlocked(&out, reason, true)
		return out, nil
	}
	c := object(candidates[0])
	reason := str(c.At("finishReason"))
	out.FinishReason = finish(reason)
	for _, t := range list(object(c.At("logprobsResult")).At("chosenCandidates")) {
		if p, ok := object(t).At("logProbability").(float64); ok {
			out.LogProbs = append(out.LogProbs, p)
		}
	}
	if slices.Contains(googleFilters[:], reason) {
		googleBlocked(&out, reason, false)
		return out, nil
	}
	parts := list(object(c.At("content")).At("parts"))
	if len(parts) == 0 && out.FinishReason == "" {
		return out, m.malformed("the answer has no content", answer)
	}
	googleValue(&out, parts, cfg)
	return out, nil
}

// googleBlocked makes a filtered answer a refusal in the vendor's words.
func googleBlocked(out *proviso.Output, reason string, input bool) {
	out.Value = "Content was blocked due to safety settings: " + reason
	out.Refused, out.FinishReason = true, finishFiltered
	out.Guardrails = value.ObjectOf("flagged", true, "flaggedInput", input, "flaggedOutput", !input, "reason", out.Value)
}

// googleValue joins the texts. If the parts hold anything but text, the value
// is the list of parts, as in promptfoo.
func googleValue(out *proviso.Output, parts []any, cfg *value.Object) {
	var text, thoughts strings.Builder
	var others []any
	for _, v := range parts {
		p := object(v)
		s, isText := p.At("text").(string)
		switch {
		case isText && p.At("thought") == true:
			thoughts.WriteString(s)
			continue
		case isText:
			text.WriteString(s)
		}
		others = append(others, v)
		if call := object(p.At("functionCall")); call != nil {
			out.ToolCalls = append(out.ToolCalls, value.ObjectOf("type", "function", "function",
				value.ObjectOf("name", call.At("name"), "arguments", value.Stringify(orEmpty(call.At("args"))))))
		}
	}
	if len(out.ToolCalls) > 0 && out.FinishReason == finishStop {
		out.FinishReason = finishTools
	}
	if plainTexts(others) {
		out.Value = withThoughts(thoughts.String(), text.String(), cfg)
	} else {
		out.Value = others
	}
}

func plainTexts(parts []any) bool {
	return !slices.ContainsFunc(parts, func(p any) bool { return !object(p).Has("text") })
}

func orEmpty(v any) any {
	if v == nil {
		return value.NewObject(0)
	}
	return v
}

// googleVectors is POST /v1beta/models/<model>:batchEmbedContents.
var googleVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		requests := make([]any, len(texts))
		for i, t := range texts {
			r := value.ObjectOf("model", "models/"+m.name, "content", value.ObjectOf("parts", []any{value.ObjectOf("text", t)}))
			copySettings(r, m.config, "taskType", "title", "outputDimensionality")
			requests[i] = r
		}
		return value.ObjectOf("requests", requests)
	},
	read: func(answer *value.Object) []any {
		found := slices.Clone(list(answer.At("embeddings")))
		for i, v := range found {
			found[i] = object(v).At("values")
		}
		return found
	},
}
