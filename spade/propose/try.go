package propose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// maxTried bounds how many trials a candidate is tried on before it is kept.
const maxTried = 300

// callTimeout is the time limit of a Python candidate for one output.
const callTimeout = 5 * time.Second

// tryCandidate compiles a candidate and decides it on the trials and a few other outputs. It
// returns the results on labelled trials, the problem if the candidate cannot be used, and a
// note if it could not be tried here.
func tryCandidate(ctx context.Context, c *proviso.Candidate, compiler *check.Compiler, code proviso.Code, trials []trial.Trial) (t tried, problem, note string) {
	if f, ok := python.Of(c.Assertion); ok {
		return tryPython(ctx, c.Name, f, code, trials)
	}
	set, wrong := compiler.Compile([]*proviso.Assertion{c.Assertion})
	if len(wrong) > 0 {
		e := wrong[0]
		if e.Code == proviso.Unsupported || e.Code == proviso.Unavailable {
			return t, "", e.Message
		}
		return t, e.Error(), ""
	}
	kind, ok := check.Lookup(strings.TrimPrefix(c.Assertion.Type, "not-"))
	if !ok || kind.Needs&check.NeedsJudge != 0 {
		return t, undecidable(c, trials), ""
	}
	vars := value.NewObject(4)
	for _, name := range rules.Variables(value.Stringify(c.Assertion.Raw)) {
		vars.Set(name, "3")
	}
	verdict := func(row *check.Row) (passed bool, reason, problem string) {
		for _, v := range set.Eval(ctx, row) {
			if v.Status == proviso.Errored {
				return false, "", "it cannot be decided: " + v.Reason
			}
			passed, reason = v.Status == proviso.Pass || v.Status == proviso.Skip, v.Reason
		}
		return passed, reason, ""
	}
	for i := range trials {
		one := &trials[i]
		passed, reason, problem := verdict(&check.Row{Output: &proviso.Output{Value: one.Output}, Prompt: one.Prompt, HasPrompt: one.HasPrompt, Vars: one.Vars})
		if problem != "" {
			return t, "on output " + format.Excerpt(one.ID) + " " + problem, ""
		}
		t.add(i, one.Label, passed, reason)
	}
	if c.Assertion.When != "" {
		return t, "", "" // its context is unknown for made-up outputs
	}
	passes, fails := 0, 0
	for _, text := range probes() {
		passed, _, problem := verdict(&check.Row{Output: &proviso.Output{Value: text}, Prompt: "a prompt", HasPrompt: true, Vars: vars})
		switch {
		case problem != "":
			return t, problem, ""
		case passed:
			passes++
		case text != "":
			fails++
		}
	}
	if ctx.Err() != nil {
		return t, "", ""
	}
	return t, oneSided(c.Assertion, passes, fails), ""
}

// maxQuestion bounds a question of a judged candidate, in bytes: a longer one contains a copy
// of the material.
const maxQuestion = 1000

// undecidable finds what a judge could not decide: a question that is too long, and a variable
// that an output lacks or whose value is longer than a judge reads.
func undecidable(c *proviso.Candidate, trials []trial.Trial) string {
	names := rules.Variables(value.Stringify(c.Assertion.Raw))
	for _, x := range c.Assertion.Criteria {
		if len(x.Text) > maxQuestion {
			return fmt.Sprintf("a question has %d bytes, and at most %d are allowed: name a variable in braces, {{ name }}, and copy no text of the material", len(x.Text), maxQuestion)
		}
	}
	for i := range trials {
		size := 0
		for _, name := range names {
			v, ok := trials[i].Vars.Get(name)
			if !ok {
				return fmt.Sprintf("output %s has no variable %q, so that it cannot be decided there", format.Excerpt(trials[i].ID), format.Excerpt(name))
			}
			size += len(value.ToString(v))
		}
		if size > judge.MaxText {
			return fmt.Sprintf("the variables of output %s have %d bytes, more than a judge reads", format.Excerpt(trials[i].ID), size)
		}
	}
	return ""
}

// probes are outputs that differ in every property that a check could test. None has
// words that a candidate is likely to look for.
var probes = sync.OnceValue(func() []string {
	return append([]string{
		"x", "7", "?", "É", "\U0001F600", "ALL CAPITALS", "qzx " + strings.Repeat("vkj wpf, ", 400), strings.Repeat("Zq.\n\n", 60),
		"# Qzx\n\n**Vkj** `wpf`\n\n1. qz\n2. vk\n\n> zz", "<p>qzx</p>", "SELECT 1", "[1, 2]", "I'm sorry, I can't help with that.",
	}, rules.Probes()...)
})

// oneSided reports whether a check gives the same verdict for every output: a positive check
// that passes all probes except the empty one, or a negated one that passes none. The opposite
// proves nothing: the probes lack the text that the check searches for, or are below its
// limit.
func oneSided(a *proviso.Assertion, passes, fails int) string {
	_, not := strings.CutPrefix(a.Type, "not-")
	v, _ := a.Value.(*value.Object)
	_, exact := a.Value.(float64)
	switch {
	case v.Has("max") || exact:
	case !not && fails == 0:
		return "it passes a long output, a short one and everything else that was tried: it could never fail"
	case not && passes == 0:
		return "it fails an empty output, a long one and everything else that was tried: it could never pass"
	}
	return ""
}

// tryPython compiles a Python candidate and calls it on the trials.
func tryPython(ctx context.Context, name string, src python.Function, code proviso.Code, trials []trial.Trial) (t tried, problem, note string) {
	if code == nil {
		return t, "", "Python is not available"
	}
	f, err := code.Compile(ctx, proviso.Source{
		Language: python.Type, Name: name, Text: src.Text, Form: proviso.Module, Entry: src.Entry, Timeout: callTimeout, Purpose: proviso.Synthesised,
	})
	if err != nil {
		problem, note = runProblem("it cannot be compiled", err)
		return t, problem, note
	}
	defer f.Close()
	if len(trials) == 0 {
		trials = []trial.Trial{{Output: rules.Probes()[1], Prompt: "a prompt", Vars: value.NewObject(0)}}
	}
	for i := range trials {
		one := &trials[i]
		v, err := f.Call(ctx, one.Vars, one.Prompt, one.Text())
		if err != nil {
			where := "an example"
			if one.ID != "" {
				where = "output " + format.Excerpt(one.ID)
			}
			problem, note = runProblem("it throws on "+where, err)
			return t, problem, note
		}
		passed, ok := v.(bool)
		if !ok {
			return t, fmt.Sprintf("it returns %s where True or False is expected", python.ResultKind(v)), ""
		}
		t.add(i, one.Label, passed, "")
	}
	return t, "", ""
}

// runProblem separates errors in the code from reasons why the code cannot run here.
func runProblem(what string, err error) (problem, note string) {
	var thrown *proviso.ScriptError
	switch {
	case errors.As(err, &thrown):
		return what + ": " + format.Excerpt(thrown.Error()), ""
	case proviso.CodeOf(err) == proviso.Timeout, errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it does not come to an end within %s", callTimeout), ""
	case proviso.CodeOf(err) == proviso.Limit:
		return "it takes more than it may: " + format.Excerpt(err.Error()), ""
	}
	return "", format.Excerpt(err.Error())
}
