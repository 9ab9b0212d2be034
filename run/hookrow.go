package run

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// rowWithHooks runs a row with the hooks before and after it.
func (e *execution) rowWithHooks(ctx context.Context, pc *prepared, col *column) *proviso.Result {
	if len(e.p.hooks) == 0 {
		return e.p.row(ctx, pc, col, e.memory)
	}
	changed, err := e.beforeEach(ctx, pc)
	if err != nil {
		res := &proviso.Result{Case: pc.Case, Prompt: col.prompt, PromptIdx: col.index, Provider: col.spec, Vars: pc.Vars, Rendered: col.prompt.Raw, Error: err.Error()}
		res.Aggregate = proviso.Aggregate{Status: proviso.Errored, Reason: res.Error}
		return res
	}
	res := e.p.row(ctx, changed, col, e.memory)
	if err := e.afterEach(ctx, res); err != nil && ctx.Err() == nil {
		if res.Aggregate.Status == proviso.Fail { // an error after the verdict does not change it
			res.Aggregate.Reason += "; " + err.Error()
			return res
		}
		res.Error = err.Error()
		res.Aggregate.Status, res.Aggregate.Score, res.Aggregate.Reason = proviso.Errored, 0, res.Error
	}
	return res
}

// beforeEach returns the case as changed by the hooks.
func (e *execution) beforeEach(ctx context.Context, pc *prepared) (*prepared, error) {
	test := testObject(pc.Case)
	var last *hook
	for _, h := range e.p.hooks {
		out, err := h.call(ctx, beforeEach, value.ObjectOf("test", test))
		if err != nil {
			return nil, err
		}
		if changed, ok := out.At("test").(*value.Object); ok {
			test, last = changed, h
		}
	}
	source, can := e.p.Suite.CaseSource.(proviso.CaseRewriter)
	if last == nil || !can {
		return pc, nil
	}
	c, err := source.Rewrite(pc.Case, test, last.Pointer, last.name())
	if err != nil || c == pc.Case {
		return pc, err
	}
	changed := e.p.prepare(ctx, c)
	for _, m := range changed.mistakes {
		if !m.Warning && !e.p.o.SkipUnsupported {
			return nil, fromCode(c, m)
		}
	}
	return changed, nil
}

// afterEach lets the hooks add named scores and metadata to a finished row.
func (e *execution) afterEach(ctx context.Context, res *proviso.Result) error {
	for _, h := range e.p.hooks {
		if h.only != "" && h.only != afterEach {
			continue
		}
		row, err := value.ParseJSON(string(report.AppendRow(nil, e.index(res), res, e.meta)))
		if err != nil {
			return err
		}
		out, err := h.call(ctx, afterEach, value.ObjectOf("test", testObject(res.Case), "result", row))
		if err != nil {
			return err
		}
		result, _ := out.At("result").(*value.Object)
		addScores(res, result)
		addMetadata(res, result)
	}
	return nil
}

// addScores sets the named scores that a hook returned, if they are finite.
func addScores(res *proviso.Result, result *value.Object) {
	scores, _ := result.At("namedScores").(*value.Object)
	for name, v := range scores.All() {
		score, ok := v.(float64)
		if !ok || score-score != 0 {
			continue
		}
		known := false
		for i := range res.Aggregate.Named {
			if n := &res.Aggregate.Named[i]; n.Name == name {
				n.Value, known = score, true
			}
		}
		if !known {
			res.Aggregate.Named = append(res.Aggregate.Named, proviso.NamedScore{Name: name, Value: score, Weight: 1})
		}
	}
}

// addMetadata merges the metadata that a hook returned over that of the output.
func addMetadata(res *proviso.Result, result *value.Object) {
	response, _ := result.At("response").(*value.Object)
	for _, v := range []any{result.At("metadata"), response.At("metadata")} {
		own, _ := v.(*value.Object)
		for key, v := range own.All() {
			if res.Output.Metadata.At(key) == v || res.Case.Metadata.Has(key) && value.Stringify(res.Case.Metadata.At(key)) == value.Stringify(v) {
				continue
			}
			res.Output.Metadata = res.Output.Metadata.Clone()
			res.Output.Metadata.Set(key, v)
		}
	}
}
