package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// row runs one case in one column. It always returns a result; an error that
// prevented a verdict is in Error.
func (p *Plan) row(ctx context.Context, pc *prepared, col *column, m *memory) *proviso.Result {
	if p.o.RowTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.o.RowTimeout)
		defer cancel()
	}
	res := &proviso.Result{Case: pc.Case, Prompt: col.prompt, PromptIdx: col.index, Provider: col.spec, Vars: pc.Vars, Rendered: col.prompt.Raw}
	res.Vars = m.extend(pc.Vars, pc, col)
	defer func() { p.forget(res.Output.TraceID) }()
	defer noteWritten(pc, res)
	if err := p.answer(ctx, pc, col, res, m.own(pc, col)); err != nil {
		res.Error = p.explain(err)
		res.Aggregate = proviso.Aggregate{Status: proviso.Errored, Reason: res.Error}
		return res
	}
	m.remember(pc, col, res)
	p.decide(ctx, pc, res)
	if p.o.RowTimeout > 0 && ctx.Err() != nil {
		cutOff(res, "the row took longer than "+p.o.RowTimeout.String())
	}
	return res
}

// cutOff names the exceeded limit in the reasons of a row's undecided verdicts.
func cutOff(res *proviso.Result, limit string) {
	name := func(reason *string) { *reason = strings.Replace(*reason, context.DeadlineExceeded.Error(), limit, 1) }
	for _, list := range [][]proviso.Verdict{res.Verdicts, res.SetVerdict} {
		for i := range list {
			if list[i].Status == proviso.Errored {
				name(&list[i].Reason)
			}
		}
	}
	if res.Aggregate.Status == proviso.Errored {
		name(&res.Aggregate.Reason)
		name(&res.Error)
	}
}

// explain formats an error for the row and names the exceeded limit.
func (p *Plan) explain(err error) string {
	if errors.Is(err, context.DeadlineExceeded) && p.o.RowTimeout > 0 {
		return "the row took longer than " + p.o.RowTimeout.String()
	}
	return err.Error()
}

// answer fills in the output: rendered prompt, provider, transforms.
func (p *Plan) answer(ctx context.Context, pc *prepared, col *column, res *proviso.Result, own ownVars) error {
	if pc.unsupported != nil {
		return pc.unsupported
	}
	if err := p.variables(ctx, pc, res, own); err != nil {
		return err
	}
	prompt, config, err := p.writePrompt(ctx, pc, col, res, own)
	if err != nil {
		return err
	}
	res.Rendered = prompt
	if err := p.ask(ctx, pc, col, res, config, own); err != nil {
		return err
	}
	switch {
	case res.Output.Error != "":
		return errors.New(res.Output.Error)
	case noOutput(res.Output.Value):
		return errors.New("No output") //nolint:staticcheck // promptfoo's words, which reports show
	}
	return p.transformOutput(ctx, pc, col, res)
}

// variables sets the variables of the row, from the suite and its code.
func (p *Plan) variables(ctx context.Context, pc *prepared, res *proviso.Result, own ownVars) error {
	if pc.varScript != nil {
		v, err := pc.varScript.Apply(ctx, res.Vars.OrEmpty(), &check.Row{Vars: res.Vars.OrEmpty(), Output: &proviso.Output{}, Label: res.Prompt.Label})
		if err != nil {
			return err
		}
		o, ok := v.(*value.Object)
		if !ok {
			return proviso.Errorf(proviso.Undecided, "options.transformVars must return an object of variables")
		}
		res.Vars = over(res.Vars, o)
		res.Written = over(written(pc.Case), o)
	}
	return p.computeVars(ctx, pc, res, own)
}

// over returns vars overlaid with top.
func over(vars, top *value.Object) *value.Object {
	all := vars.Clone()
	for name, v := range top.All() {
		all.Set(name, v)
	}
	return all
}

// written returns the variables of a case as written in the suite.
func written(c *proviso.Case) *value.Object {
	vars, _ := c.Raw.At("vars").(*value.Object)
	return vars
}

// noteWritten keeps the variables as written in the suite, if they differ from those that the
// row used.
func noteWritten(pc *prepared, res *proviso.Result) {
	if res.Vars == pc.Vars && pc.plain {
		return
	}
	if res.Written == nil {
		res.Written = written(pc.Case)
	}
	if res.Written == nil || sameVars(res.Written, res.Vars) {
		res.Written = nil
	}
}

// sameVars reports whether two cases have the same variables.
func sameVars(a, b *value.Object) bool {
	if a.Len() != b.Len() {
		return false
	}
	for name, v := range a.All() {
		w, ok := b.Get(name)
		if text, isText := v.(string); isText && text != w || !ok {
			return false
		} else if !isText && value.Stringify(v) != value.Stringify(w) {
			return false
		}
	}
	return true
}

func noOutput(v any) bool {
	switch v.(type) {
	case nil, value.Undefined:
		return true
	}
	return false
}

// ask gets the output: from the case itself, or from the provider.
func (p *Plan) ask(ctx context.Context, pc *prepared, col *column, res *proviso.Result, config *value.Object, own ownVars) error {
	if pc.HasOutput {
		res.Output = proviso.Output{Value: value.Of(pc.Output), TraceID: namedTrace(pc.Metadata)}
		return nil
	}
	target := col.provider
	if pc.provider != nil {
		target = pc.provider
	}
	if col.broken != nil || target == nil {
		return orUnknown(col.broken)
	}
	ask := proviso.Ask{
		Prompt: res.Rendered, Label: col.prompt.Label, Vars: res.Vars, Case: pc.Case,
		Config: settings(config, pc.Options.Extra), Sample: proviso.Sample{Repeat: pc.Repeat},
	}
	if !provider.Computes(target) {
		ask.Own = own.vars()
	}
	ctx, trace, tc := p.follow(ctx, pc, col.prompt, target, &ask)
	ask.Trace = tc
	ctx = transport.WithRun(ctx, own.run, evalID)
	start := time.Now()
	out, err := target.Answer(ctx, ask)
	if err != nil {
		p.forget(trace)
		return err
	}
	switch {
	case out.Latency == nil && !out.Cached:
		out.Latency = p.took(start)
	case p.o.Replay != nil:
		out.Replayed = true
	}
	if out.TraceID = traceOf(&out, pc.Case, trace); out.TraceID != trace {
		p.forget(trace)
	}
	out.Value = value.Of(out.Value)
	res.Output = out
	return nil
}

func orUnknown(err error) error {
	if err == nil {
		return proviso.Errorf(proviso.Unavailable, "the provider of this case could not be opened")
	}
	return err
}

// settings merges the case's options over those of the prompt.
func settings(prompt, extra *value.Object) *value.Object {
	if prompt.Len() == 0 {
		return extra
	}
	if extra.Len() == 0 {
		return prompt
	}
	all := prompt.Clone()
	for k, v := range extra.All() {
		all.Set(k, v)
	}
	return all
}

// transformOutput runs the provider's transform, then the case's.
func (p *Plan) transformOutput(ctx context.Context, pc *prepared, col *column, res *proviso.Result) error {
	for _, t := range []*check.Transform{col.transform, pc.transform} {
		if t == nil {
			continue
		}
		v, err := t.Apply(ctx, res.Output.Value, p.subject(pc, res))
		if err != nil {
			return err
		}
		if t == pc.transform {
			res.Output.Untransformed = res.Output.Value
		}
		res.Output.Value = v
	}
	return nil
}

func (p *Plan) subject(pc *prepared, res *proviso.Result) *check.Row {
	return &check.Row{
		Output: &res.Output, Prompt: res.Rendered, HasPrompt: true, Vars: res.Vars, Case: pc.Case,
		Provider: res.Provider, Label: res.Prompt.Label,
	}
}

// decide evaluates the case's assertions and the suite's assertion set.
func (p *Plan) decide(ctx context.Context, pc *prepared, res *proviso.Result) {
	set := pc.set
	if s, ok := pc.byPrompt[res.Prompt]; ok {
		set = s
	}
	row := p.subject(pc, res)
	res.Verdicts, res.SetVerdict = check.EvalBoth(ctx, row, set, pc.criteria)
	res.Aggregate = set.Aggregate(ctx, row, res.Verdicts, pc.Threshold)
	if pc.criteria != nil {
		p.evaluate(pc, res)
	}
	if res.Aggregate.Status == proviso.Errored {
		res.Error = res.Aggregate.Reason
	}
}

// prepareCriteria compiles the suite's assertion set.
func (p *Plan) prepareCriteria(ctx context.Context, pc *prepared) *check.Set {
	set, mistakes := p.compiler.CompileContext(ctx, pc.Set)
	pc.mistakes = append(pc.mistakes, mistakes...)
	return set
}

// evaluate combines the result of the assertion set with the case's own. A case that has both
// passes if both pass, and fails if either fails. A result in which every assertion was skipped
// is ignored; if that is true of both, nothing was checked.
func (p *Plan) evaluate(pc *prepared, res *proviso.Result) {
	e := check.Evaluate(res.SetVerdict, p.Suite.Threshold, false)
	a := &res.Aggregate
	own := a.Status
	if len(pc.Assert) == 0 {
		a.Score = 0
		if e.Score != nil {
			a.Score = *e.Score
		}
	}
	a.Evaluation = &e
	switch {
	case own == proviso.Fail:
	case e.Status == proviso.Fail:
		a.Status, a.Reason = proviso.Fail, reasonOf(res.SetVerdict, proviso.Fail)
	case own == proviso.Errored:
	case e.Status == proviso.Errored:
		a.Status, a.Reason = proviso.Errored, reasonOf(res.SetVerdict, proviso.Errored)
	case e.Status == proviso.Skip && (own == proviso.Skip || len(pc.Assert) == 0):
		a.Status, a.Reason = proviso.Skip, "Nothing was checked: every assertion was skipped"
	case own == proviso.Skip || len(pc.Assert) == 0:
		a.Status, a.Reason = proviso.Pass, "All assertions passed"
	}
	if a.Unscored = a.Status == proviso.Fail && (a.Unscored || own == proviso.Errored || e.Errors > 0 && e.Score == nil); a.Unscored {
		a.Score = 0
	}
}

func reasonOf(verdicts []proviso.Verdict, s proviso.Status) string {
	for i := range verdicts {
		if verdicts[i].Status == s {
			return verdicts[i].Reason
		}
	}
	return ""
}
