package check

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// scriptContext is the second argument of scripts: promptfoo's context.
func scriptContext(a *proviso.Assertion, s *Subject) *value.Object {
	row := s.Row
	ctx := value.NewObject(8)
	if row.HasPrompt {
		ctx.Set("prompt", row.Prompt)
	} else {
		ctx.Set("prompt", value.Undefined{})
	}
	ctx.Set("vars", row.Vars.OrEmpty())
	ctx.Set("test", testOf(row))
	ctx.Set("logProbs", numbers(row.Output.LogProbs))
	ctx.Set("provider", providerOf(row))
	ctx.Set("providerResponse", responseOf(row.Output))
	if a.Config != nil {
		ctx.Set("config", a.Config)
	}
	if row.Output.Metadata != nil {
		ctx.Set("metadata", row.Output.Metadata)
	}
	return ctx
}

func testOf(row *Row) any {
	if row.Case != nil && row.Case.Raw != nil {
		return row.Case.Raw
	}
	return value.ObjectOf("vars", row.Vars.OrEmpty())
}

func providerOf(row *Row) any {
	if row.Provider == nil {
		return value.Undefined{}
	}
	return value.ObjectOf("id", row.Provider.ID, "label", row.Provider.Label, "config", proviso.Redacted(row.Provider.Config).OrEmpty())
}

func numbers(list []float64) any {
	if list == nil {
		return value.Undefined{}
	}
	out := make([]any, len(list))
	for i, f := range list {
		out[i] = f
	}
	return out
}

// responseOf returns an output in the shape of promptfoo's provider response, for
// scripts and reports.
func responseOf(o *proviso.Output) *value.Object {
	r := o.Raw.Clone()
	r.Set("output", o.Value)
	set := func(key string, present bool, v any) {
		if present {
			r.Set(key, v)
		}
	}
	set("error", o.Error != "", o.Error)
	if o.Cost != nil {
		r.Set("cost", *o.Cost)
	}
	if o.Latency != nil {
		r.Set("latencyMs", float64(o.Latency.Milliseconds()))
	}
	set("cached", o.Cached, true)
	set("finishReason", o.FinishReason != "", o.FinishReason)
	set("logProbs", o.LogProbs != nil, numbers(o.LogProbs))
	set("isRefusal", o.Refused, true)
	set("guardrails", o.Guardrails != nil, o.Guardrails)
	set("metadata", o.Metadata != nil, o.Metadata)
	if o.Usage != (proviso.Usage{}) {
		r.Set("tokenUsage", value.ObjectOf("total", float64(o.Usage.Total), "prompt", float64(o.Usage.Prompt),
			"completion", float64(o.Usage.Completion), "cached", float64(o.Usage.Cached), "numRequests", float64(o.Usage.Requests)))
	}
	return r
}

// scoreScript is a script that replaces the mean of the assertions
// (promptfoo: assertScoringFunction).
type scoreScript struct {
	name string
	fn   proviso.Function
}

// UseScoring makes the script at ref, `file://x.js[:function]`, compute the verdict
// of the set. Without a function name it is the default export, or func in Python and
// Ruby.
func (c *Compiler) UseScoring(s *Set, ref string) error {
	fn, err := c.score("assertScoringFunction", ref)
	if err != nil {
		return err
	}
	s.scoring = &scoreScript{name: ref, fn: fn}
	return nil
}

// Metric compiles a derived metric that is a function: a function in a file, found as
// in [Compiler.UseScoring], or the text of a JavaScript function.
func (c *Compiler) Metric(ref string) (proviso.Function, error) {
	if !strings.HasPrefix(ref, "file://") {
		if c.Code == nil {
			return nil, proviso.Errorf(proviso.Unavailable, "no JavaScript interpreter is available")
		}
		return c.function(proviso.Source{
			Language: "javascript", Name: "metric", Text: "return (" + ref + "\n)(scores, context)", Form: proviso.Body,
			Params: []string{"scores", "context"}, Purpose: proviso.Deciding,
		})
	}
	return c.score("a derived metric that is a function", ref)
}

// score compiles a function of a file that computes a score.
func (c *Compiler) score(what, ref string) (proviso.Function, error) {
	name, ok := strings.CutPrefix(ref, "file://")
	file, entry := splitEntry(name)
	language := LanguageOf(file)
	if !ok || language == "" {
		return nil, proviso.Errorf(proviso.Invalid, "%s needs file:// and a script (.js, .ts, .py, .rb), found %q", what, ref)
	}
	fn, _, err := c.compileFile(scriptFile{language: language, file: file, entry: entry, standard: "func"})
	return fn, err
}

// apply calls the script with the named scores and their components. As in promptfoo,
// an exception fails the row. If the script cannot run, the row is undecided.
func (f *scoreScript) apply(ctx context.Context, verdicts []proviso.Verdict, a proviso.Aggregate, threshold *float64) proviso.Aggregate {
	scores := value.NewObject(len(a.Named))
	for _, n := range a.Named {
		scores.Set(n.Name, n.Value)
	}
	info := value.ObjectOf("componentResults", components(verdicts), "tokensUsed", value.NewObject(0))
	if threshold != nil {
		info.Set("threshold", *threshold)
	}
	out, err := f.fn.Call(ctx, scores, info)
	thrown := exception(err)
	switch {
	case err != nil && (thrown == nil || lacksModule(thrown)):
		a.Status, a.Score, a.Reason = proviso.Errored, 0, f.name+": "+err.Error()
		return a
	case err != nil:
		a.Status, a.Score, a.Reason = proviso.Fail, 0, "Scoring function error: "+err.Error()
		return a
	}
	o, _ := out.(*value.Object)
	found, ok := grading(camelCase(o, 0), &proviso.Assertion{}, 0)
	if !ok {
		a.Status, a.Score, a.Reason = proviso.Fail, 0, "Scoring function error: "+f.name+" must return {pass: boolean, score: number, reason: text}, found "+value.Stringify(out)
		return a
	}
	a.Status, a.Score, a.Reason = proviso.Fail, found.Score, found.Reason
	if found.Pass {
		a.Status = proviso.Pass
	}
	if found.Named != nil {
		a.Named = found.Named
	}
	return a
}

func components(verdicts []proviso.Verdict) []any {
	list := make([]any, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		list[i] = value.ObjectOf("pass", v.Status == proviso.Pass, "score", v.Score, "reason", v.Reason, "assertion", v.Assertion.Raw)
	}
	return list
}
