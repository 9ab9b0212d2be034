package judge

import (
	"context"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// verdictReply is the schema of a verdict with a score. The reason comes first, so that
// the model reasons before it decides.
func verdictReply() *proviso.Reply {
	return shape.Reply("verdict", "reason", shape.Of("string"), "score", shape.Of("number"), "pass", shape.Of("boolean"))
}

// decideRubric decides llm-rubric: a model decides whether the output meets a rubric.
// The output passes if the model passes it and its score reaches the threshold.
func decideRubric(ctx context.Context, g *grading) (verdict, error) {
	s := g.rubricStep("llm-rubric")
	s.reply = verdictReply()
	return ask(ctx, g, s, g.readVerdict)
}

// rubricStep returns the step for a rubric and an output.
func (g *grading) rubricStep(own string) step {
	return step{
		own: own, scaled: g.scaled(), pieces: g.pieces("rubric", g.value()), custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, false, "output", parsedOr(g.q.Output), "rubric", g.q.Value)
		},
	}
}

// scaled reports whether the rubric sets the range of the score: a threshold above 1 compares
// with a scale that the rubric describes, such as 1 to 5.
func (g *grading) scaled() bool { return g.q.Threshold != nil && *g.q.Threshold > 1 }

// onScale returns a prompt for a rubric that sets the range of the score.
func onScale(prompt string) string {
	return strings.NewReplacer(
		"the score: from 0, nothing of the rubric is met, to 1, all of it is", "the score, on the scale that the rubric sets",
		"<number from 0 to 1>", "<number on that scale>",
	).Replace(prompt)
}

// pieces returns the material of most prompts: the given piece, the input and the output.
func (g *grading) pieces(name, text string) []piece {
	list := []piece{{name, text}}
	if g.q.Input != "" {
		list = append(list, piece{"input", g.q.Input})
	}
	return append(list, piece{"output", g.q.Output})
}

// readVerdict reads {reason, score, pass}. With proviso's own prompt the score must be
// from 0 to 1; prompts from a suite, and rubrics with a scale, may use any range. Without pass, score and threshold
// decide; without these, there is no verdict.
func (g *grading) readVerdict(reply string) (verdict, error) {
	o, err := gradedObject(reply, "pass", "score")
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	given, scored := o.Get("pass")
	raw, hasScore := o.Get("score")
	if hasScore && raw != nil {
		most := 1.0
		if g.q.Rubric != nil || g.scaled() {
			most = 0
		}
		if v.score, err = points(raw, 0, most); err != nil {
			return verdict{}, err
		}
	}
	hasScore = hasScore && raw != nil
	switch {
	case scored && given != nil:
		ok := false
		if v.pass, ok = truth(given); !ok {
			return verdict{}, errors.New("pass is neither true nor false: " + shown(value.Stringify(given)))
		}
		if !hasScore && v.pass {
			v.score = 1
		}
	case hasScore && g.q.Threshold != nil:
		v.pass = true
	default:
		return verdict{}, errors.New("it has no pass, so there is no verdict in it")
	}
	given = v.pass
	if g.q.Threshold != nil {
		v.pass = v.pass && v.score >= *g.q.Threshold
	}
	v.reason = reasonIn(o, "Grading passed")
	if !v.pass && v.reason == "Grading passed" {
		v.reason = "Grading failed"
	}
	if given == true && !v.pass {
		v.reason += " (score " + value.FormatNumber(v.score) + " is below the threshold " + value.FormatNumber(*g.q.Threshold) + ")"
	}
	return v, nil
}

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

// specOf returns the text provider for a question. A complete provider id is used
// directly; any other name, such as a label, is resolved.
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

// isOpenEnded reports whether a provider runs user code or a user's service, which can do
// anything.
func (j *Judge) isOpenEnded(id string) bool {
	facts, _ := j.o.Providers.Of(id)
	return facts != nil && facts.OpenEnded
}

// agentOf returns the provider for a question, or an error if it is a plain model without
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

// searcherOf returns the provider for a question, with its vendor's setting for web
// search.
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
