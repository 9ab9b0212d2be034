package judge

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// gradeSearch decides search-rubric: llm-rubric with a model that searches the web. The
// reply has no schema, because models that must follow a schema do not search.
func gradeSearch(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
	grader, err := searcherOf(j, q)
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
	if _, err := agentOf(j, q); err != nil {
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
		spec.ID = v.Text("id")
		spec.Config, _ = v.At("config").(*value.Object)
		spec.Env, _ = v.At("env").(*value.Object)
	}
	if strings.Contains(spec.ID, ":") || j.isOpenEnded(spec.ID) {
		return spec
	}
	if s, err := j.modelFor(q, Text); err == nil && s.Spec.ID != "" {
		return s.Spec
	}
	return spec
}

// isOpenEnded reports whether a provider runs code or a service of the user, which can
// do anything.
func (j *Judge) isOpenEnded(id string) bool {
	facts, _ := j.o.Providers.Of(id)
	return facts != nil && facts.OpenEnded
}

// agentOf returns the provider of a question, or an error if it is a plain model without
// tools.
func agentOf(j *Judge, q proviso.Question) (grader any, err error) {
	if spec := j.specOf(q); !j.isOpenEnded(spec.ID) {
		err = proviso.Errorf(proviso.Invalid, "%q needs a provider that runs an agent, such as exec: or http:, and %s answers prompts only; name one under provider", q.Type, called(spec))
	}
	return q.Grader, err
}

func called(spec proviso.ProviderSpec) string {
	if spec.ID == "" {
		return "the judge"
	}
	return spec.ID
}

// searcherOf returns the provider of a question with its vendor's setting for web search.
func searcherOf(j *Judge, q proviso.Question) (grader any, err error) {
	spec := j.specOf(q)
	facts, _ := j.o.Providers.Of(spec.ID)
	if facts == nil || !facts.OpenEnded && (facts.Search == nil || !facts.Search(&spec)) {
		return nil, proviso.Errorf(proviso.Invalid, "%q needs a model that searches the web, and %s does not; "+
			"name one under provider: anthropic:…, openai:responses:…, google:…, perplexity:…, xai:…, openrouter:…, or your own by http: or exec:", q.Type, called(spec))
	}
	if spec.Config.Len() == 0 && spec.Env.Len() == 0 {
		return spec.ID, nil
	}
	o := value.ObjectOf("id", spec.ID, "config", spec.Config.Clone())
	if spec.Env.Len() > 0 {
		o.Set("env", spec.Env)
	}
	return o, nil
}
