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
		f := object(v).Object("function")
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
	u := answer.Object("usageMetadata")
	out := proviso.Output{
		Usage: proviso.Usage{
			Prompt: count(u, "promptTokenCount"), Completion: count(u, "candidatesTokenCount") + count(u, "thoughtsTokenCount"),
			Total: count(u, "totalTokenCount"), Cached: count(u, "cachedContentTokenCount"),
		},
		Raw: keep(answer, "responseId", "modelVersion", "promptFeedback"),
	}
	candidates := list(answer.At("candidates"))
	if len(candidates) == 0 {
		reason := answer.Object("promptFeedback").Text("blockReason")
		if reason == "" {
			return out, m.malformed("the answer has no candidates", answer)
		}
		googleBlocked(&out, reason, true)
		return out, nil
	}
	c := object(candidates[0])
	reason := c.Text("finishReason")
	out.FinishReason = finish(reason)
	for _, t := range list(c.Object("logprobsResult").At("chosenCandidates")) {
		if p, ok := object(t).At("logProbability").(float64); ok {
			out.LogProbs = append(out.LogProbs, p)
		}
	}
	if slices.Contains(googleFilters[:], reason) {
		googleBlocked(&out, reason, false)
		return out, nil
	}
	parts := list(c.Object("content").At("parts"))
	if len(parts) == 0 && out.FinishReason == "" {
		return out, m.malformed("the answer has no content", answer)
	}
	googleValue(&out, parts, cfg)
	return out, nil
}

// googleBlocked marks a filtered answer as a refusal in the vendor's words.
func googleBlocked(out *proviso.Output, reason string, input bool) {
	out.Value = "Content was blocked due to safety settings: " + reason
	out.Refused, out.FinishReason = true, finishFiltered
	out.Guardrails = value.ObjectOf("flagged", true, "flaggedInput", input, "flaggedOutput", !input, "reason", out.Value)
}

// googleValue joins the texts. If a part is not text, the value is the list of parts, as in
// promptfoo.
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
		if call := p.Object("functionCall"); call != nil {
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

// googlePictures replaces text by pictures, as in promptfoo: a line that consists only of the value
// of a picture variable becomes a picture. Other text stays text, so that untrusted input cannot
// add a picture.
func googlePictures(contents []any, vars *value.Object) {
	known := picturesIn(vars)
	if len(known) == 0 {
		return
	}
	for i, c := range contents {
		o := object(c)
		var parts []any
		changed := false
		for _, p := range list(o.At("parts")) {
			text, ok := object(p).At("text").(string)
			split := splitPictures(text, known)
			if !ok || split == nil {
				parts = append(parts, p)
				continue
			}
			changed = true
			parts = append(parts, split...)
		}
		if changed {
			o = o.Clone() // it may be a part of the prompt
			o.Set("parts", parts)
			contents[i] = o
		}
	}
}

// picturesRead lists the variables that become pictures in a prompt, for the
// cache key: the same prompt without these variables is a different request.
func picturesRead(ask *proviso.Ask) string {
	var used []string
	for text := range picturesIn(ask.Vars) {
		if strings.Contains(ask.Prompt, text) {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	return strings.Join(used, "\n")
}

// picturesIn finds the variables that are pictures: data URLs, or base64 of a
// JPEG or a PNG.
func picturesIn(vars *value.Object) map[string]*image {
	var known map[string]*image
	for _, v := range vars.All() {
		text, _ := v.(string)
		var p *image
		switch {
		case strings.HasPrefix(text, "data:image/"):
			p = imageOf(text)
		case strings.HasPrefix(text, "iVBORw0KGgo"):
			p = &image{mediaType: "image/png", data: text}
		case strings.HasPrefix(text, "/9j/"):
			p = &image{mediaType: "image/jpeg", data: text}
		}
		if p == nil || p.data == "" || !isBase64(p.data) {
			continue
		}
		if known == nil {
			known = map[string]*image{}
		}
		known[text] = p
	}
	return known
}

// isBase64 reports whether a text is long enough for a picture and is valid
// base64.
func isBase64(s string) bool {
	return len(s) >= 20 && strings.IndexFunc(strings.TrimRight(s, "="), func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '+' && c != '/'
	}) < 0
}

// splitPictures splits a text at the lines that are pictures. It returns nil if there are none.
func splitPictures(text string, known map[string]*image) []any {
	var parts []any
	var lines []string
	found := false
	flush := func() {
		if text := strings.Join(lines, "\n"); text != "" {
			parts = append(parts, value.ObjectOf("text", text))
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		p := known[value.TrimSpace(line)]
		if p == nil {
			lines = append(lines, line)
			continue
		}
		found = true
		flush()
		parts = append(parts, value.ObjectOf("inlineData", value.ObjectOf("mimeType", p.mediaType, "data", p.data)))
	}
	if !found {
		return nil
	}
	flush()
	return parts
}

// inlinedContents returns a copy of the contents in which pictures hold only
// their data.
func inlinedContents(contents []any) []any {
	out := make([]any, len(contents))
	for i, c := range contents {
		out[i] = c
		if o := object(c); o != nil && o.At("parts") != nil {
			o = o.Clone()
			if parts, ok := o.At("parts").([]any); ok {
				o.Set("parts", inlinedAll(parts))
			}
			out[i] = o
		}
	}
	return out
}

// inlinedAll applies [inlined] to all parts.
func inlinedAll(parts []any) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		if out[i] = p; object(p) != nil {
			out[i] = inlined(object(p))
		}
	}
	return out
}
