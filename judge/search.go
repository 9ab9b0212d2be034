package judge

import (
	"context"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// gradeSearch decides search-rubric: llm-rubric with a model that searches the web. The
// reply has no schema, because models that must follow a schema do not search.
func gradeSearch(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
	grader, err := searching(j.specOf(q))
	if err != nil {
		return proviso.Grade{}, err
	}
	q.Grader = grader
	return graded(Text, func(ctx context.Context, g *grading) (verdict, error) {
		return ask(ctx, g, g.rubricStep("search-rubric"), g.readVerdict)
	})(ctx, j, q)
}

// gradeAgent decides agent-rubric: llm-rubric with an agent that has tools.
func gradeAgent(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
	if err := acting(j.specOf(q)); err != nil {
		return proviso.Grade{}, err
	}
	return graded(Text, func(ctx context.Context, g *grading) (verdict, error) {
		return ask(ctx, g, g.rubricStep("agent-rubric"), g.readVerdict)
	})(ctx, j, q)
}

// specOf returns the provider that answers a question in text. A complete provider id
// is used directly; any other name, such as a label, is resolved.
func (j *Judge) specOf(q proviso.Question) proviso.ProviderSpec {
	grader := q.Grader
	if o, ok := grader.(*value.Object); ok && o.At(string(Text)) != nil {
		grader = o.At(string(Text))
	}
	var spec proviso.ProviderSpec
	switch v := grader.(type) {
	case string:
		spec.ID = v
	case *value.Object:
		spec.ID, _ = v.At("id").(string)
		spec.Config, _ = v.At("config").(*value.Object)
		spec.Env, _ = v.At("env").(*value.Object)
	}
	if strings.Contains(spec.ID, ":") || isOpenEnded(spec.ID) {
		return spec
	}
	if s, err := j.modelFor(q, Text); err == nil && s.Spec.ID != "" {
		return s.Spec
	}
	return spec
}

// openEnded are the kinds of provider that run code or services of the user, which can
// do anything: search, read files, run commands.
var openEnded = []string{"exec:", "http", "https", "http:", "https:", "webhook:", "file:", "script:", "python:", "javascript:"}

func isOpenEnded(id string) bool {
	kind, _, ok := strings.Cut(id, ":")
	if ok {
		kind += ":"
	}
	return slices.Contains(openEnded, kind)
}

// acting returns an error if a provider is a plain model without tools.
func acting(spec proviso.ProviderSpec) error {
	if isOpenEnded(spec.ID) {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "\"agent-rubric\" needs a provider that runs an agent, such as exec: or http:, and %s answers prompts only; name one under provider", called(spec))
}

func called(spec proviso.ProviderSpec) string {
	if spec.ID == "" {
		return "the judge"
	}
	return spec.ID
}

// searching returns a provider with its vendor's setting for web search.
func searching(spec proviso.ProviderSpec) (grader any, err error) {
	kind, rest, _ := strings.Cut(spec.ID, ":")
	cfg := spec.Config.Clone()
	id := spec.ID
	if kind == "vertex" && strings.Contains(rest, "claude") {
		kind = "anthropic"
	}
	switch kind {
	case "perplexity":
	case "anthropic":
		addTool(cfg, "type", "web_search", value.ObjectOf("type", "web_search_20250305", "name", "web_search", "max_uses", 5.0))
	case "google", "vertex":
		addTool(cfg, "googleSearch", "", value.ObjectOf("googleSearch", value.NewObject(0)))
	case "openai", "azure":
		model, explicit := strings.CutPrefix(rest, "responses:")
		chat := strings.HasPrefix(rest, "chat:")
		switch {
		case strings.Contains(rest, "search") || cfg.Has("web_search_options"): // models of chat that search by themselves
		case !chat && (explicit || !strings.Contains(rest, ":")):
			id = kind + ":responses:" + model
			addTool(cfg, "type", "web_search", value.ObjectOf("type", "web_search"))
		default:
			return nil, cannotSearch(spec)
		}
	case "xai":
		if !cfg.Has("search_parameters") {
			cfg.Set("search_parameters", value.ObjectOf("mode", "on"))
		}
	case "openrouter":
		if !strings.HasSuffix(rest, ":online") && !cfg.Has("plugins") {
			cfg.Set("plugins", []any{value.ObjectOf("id", "web")})
		}
	default:
		if !isOpenEnded(spec.ID) {
			return nil, cannotSearch(spec)
		}
	}
	if cfg.Len() == 0 && spec.Env.Len() == 0 {
		return id, nil
	}
	o := value.ObjectOf("id", id, "config", cfg)
	if spec.Env.Len() > 0 {
		o.Set("env", spec.Env)
	}
	return o, nil
}

// addTool adds a tool to a configuration unless there is one with the member key whose
// value begins with prefix.
func addTool(cfg *value.Object, key, prefix string, tool *value.Object) {
	tools, isList := cfg.At("tools").([]any)
	if cfg.Has("tools") && !isList {
		return // a file that lists all tools
	}
	for _, t := range tools {
		o, _ := t.(*value.Object)
		v, ok := o.Get(key)
		if text, _ := v.(string); ok && strings.HasPrefix(text, prefix) {
			return
		}
	}
	cfg.Set("tools", append(slices.Clone(tools), tool))
}

func cannotSearch(spec proviso.ProviderSpec) error {
	return proviso.Errorf(proviso.Invalid, "\"search-rubric\" needs a model that searches the web, and %s does not; "+
		"name one under provider: anthropic:…, openai:responses:…, google:…, perplexity:…, xai:…, openrouter:…, or your own by http: or exec:", called(spec))
}
