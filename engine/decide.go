package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// Answer is an output to decide about, with what assertions may use besides it.
type Answer struct {
	Output   proviso.Output // Value is a text, or a structure
	Prompt   string         // the request
	Context  string         // texts for judged assertions, such as the sources of the output
	Vars     *value.Object  // for templates and conditions
	Metadata *value.Object  // for conditions
}

// Assertions are compiled assertions. They are safe for concurrent use.
type Assertions struct {
	set      *check.Set
	compiler *check.Compiler
}

// Compile prepares assertions, so that they can decide about many answers. As in a suite,
// values may be templates over [Answer.Vars]. The error is [judge.Mistakes], all at once, with
// pointers such as /1/value for the second assertion. The caller must call [Assertions.Close].
func (e *Engine) Compile(ctx context.Context, assertions ...*proviso.Assertion) (*Assertions, error) {
	var wrong judge.Mistakes
	var compares []string // pointers of assertions that only a suite can decide
	list := make([]*proviso.Assertion, len(assertions))
	for i, given := range assertions {
		a := *given
		if a.Pointer == "" {
			a.Pointer = "/" + strconv.Itoa(i)
		}
		list[i] = &a
		if kind, ok := check.Lookup(strings.TrimPrefix(a.Type, "not-")); ok && kind.Needs&check.NeedsGroup != 0 {
			compares = append(compares, a.Pointer+"/")
			wrong = append(wrong, &proviso.Error{Code: proviso.Invalid, Pointer: a.Pointer + "/type", Message: strconv.Quote(a.Type) + " compares the outputs of several providers, which only a suite has"})
		}
	}
	compiler := check.New(e.checkOptions())
	set, mistakes := compiler.CompileContext(ctx, list)
	for _, m := range append(mistakes, set.Prepare(&proviso.Case{}, true)...) {
		if !m.Warning && !slices.ContainsFunc(compares, func(p string) bool { return strings.HasPrefix(m.Pointer, p) }) {
			wrong = append(wrong, m)
		}
	}
	if len(wrong) > 0 {
		_ = compiler.Close() // only frees memory
		return nil, wrong
	}
	return &Assertions{set, compiler}, nil
}

// Decide decides every assertion about one answer. Verdicts are in the order of the assertions.
// Aggregate is the verdict on all of them: they must all pass, and it is an error if undecided
// ones leave it open.
func (a *Assertions) Decide(ctx context.Context, answer Answer) *proviso.Result {
	c := &proviso.Case{Vars: answer.Vars, Metadata: answer.Metadata}
	row := &check.Row{
		Output: &answer.Output, Prompt: answer.Prompt, HasPrompt: answer.Prompt != "", Background: answer.Context, Vars: answer.Vars, Case: c,
	}
	r := &proviso.Result{Case: c, Rendered: answer.Prompt, Vars: answer.Vars, Output: answer.Output}
	r.Verdicts = a.set.Eval(ctx, row)
	r.Aggregate = a.set.Aggregate(ctx, row, r.Verdicts, nil)
	return r
}

// Close frees the compiled assertions.
func (a *Assertions) Close() error { return a.compiler.Close() }

// Decide compiles assertions and decides them about one answer: see [Engine.Compile] and
// [Assertions.Decide].
func (e *Engine) Decide(ctx context.Context, answer Answer, assertions ...*proviso.Assertion) (*proviso.Result, error) {
	a, err := e.Compile(ctx, assertions...)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Decide(ctx, answer), nil
}
