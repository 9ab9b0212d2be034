// Package check decides assertions. [Compiler.Compile] turns the assertions of a case
// into a [Set] before a run. [Set.Eval] is the only place where outputs are decided,
// and [Set.Aggregate] combines the verdicts.
//
// The features that all types share are here, around the check: when, scope,
// transform, templates in values, negation, weight, severity and metric names. The
// code of each type is in the file of its family; table.go lists the types.
package check

import (
	"context"
	"net/http"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Templates renders the templates in values and metric names.
type Templates interface {
	// Render renders text with vars.
	Render(ctx context.Context, text string, vars *value.Object) (string, error)
	// Check reports a syntax error in text.
	Check(text string) error
	// Mark is Render for a question to a model: it replaces each value by a marker
	// {{name}}, and returns the values as texts under these names. A missing value is
	// an error.
	Mark(ctx context.Context, text string, vars *value.Object) (string, *value.Object, error)
	// Needs returns the variables that text, a question to a model, requires, or an
	// error if it is not a template for Mark.
	Needs(text string) ([]string, error)
}

// Options are the resources of checks. If one is missing, the checks that need it
// are undecided.
type Options struct {
	Code      proviso.Code
	Files     proviso.Files
	Templates Templates
	Grader    proviso.Grader
	Spans     proviso.Spans
	// CommandTools are names of tools that run commands, in addition to the known
	// ones.
	CommandTools []string
	Client       *http.Client // for webhooks
	Env          proviso.Env
	Providers    proviso.Providers // formats in which providers write function calls

	// Expand returns the parts of a criterion at a pointer, if it names a shipped
	// one, and the mistakes in the name or the parameters.
	Expand func(c proviso.Criterion, pointer string) ([]Part, []*proviso.Error)

	// Engines are shared with other compilers. If nil, the compiler starts its own.
	Engines *Engines

	// Lenient accepts what promptfoo accepts, with a warning: an assertion without
	// effect gets promptfoo's verdict, and inline JavaScript with a syntax error
	// fails each output. Otherwise these are mistakes.
	Lenient bool
	// Frozen means that the objects in assertions never change, as in a suite. What was
	// compiled from an object is then looked up by the object's identity.
	Frozen bool
	// LaxSchemas accepts unknown JSON Schema keywords.
	LaxSchemas bool
}

// Check decides one output for one assertion. It is safe for concurrent use.
type Check interface {
	// Decide returns its finding, before negation. An error means that the question
	// could not be decided.
	Decide(ctx context.Context, s *Subject) (Finding, error)
}

// Func is a [Check] made of a function.
type Func func(ctx context.Context, s *Subject) (Finding, error)

// Decide calls f.
func (f Func) Decide(ctx context.Context, s *Subject) (Finding, error) { return f(ctx, s) }

// Finding is the answer of a [Check] before negation.
type Finding struct {
	Pass  bool
	Score float64

	// Reason explains the verdict if it is a fail. A check that knows that it will
	// pass leaves it empty. Always shows it on a pass too.
	Reason string
	Always bool

	// Final prevents negation by `not-`, because the question itself was not
	// answered, such as when a script threw.
	Final bool

	// Threw means that it fails because a script threw, or returned no verdict.
	Threw bool

	Evidence   []proviso.Evidence
	Components []proviso.Verdict
	Criteria   []proviso.CriterionVerdict
	Named      []proviso.NamedScore
	Usage      proviso.Usage
	Cost       float64
	Cached     bool
	Judge      string
}

// found is the finding of a check that is either right or wrong.
func found(pass bool) Finding {
	if pass {
		return Finding{Pass: true, Score: 1}
	}
	return Finding{}
}

// expects is the finding of a check that is either right or wrong. what says what the output
// is expected to be or do.
func (s *Spec) expects(pass bool, what string) Finding {
	f := found(pass)
	if pass == s.Not {
		f.Reason = "Expected output to " + s.not() + what
	}
	return f
}

// Spec is an assertion in the form for the constructor of its type: file references
// loaded, templates rendered.
type Spec struct {
	*proviso.Assertion
	Base string // the type without "not-"
	// Not is only for the wording of reasons; the caller of the check negates.
	Not          bool
	Value        any // Undefined if absent
	Threshold    float64
	HasThreshold bool

	// vacuous is the reason why the check returns the same result for every output;
	// it is empty otherwise. trivial is the same for a value that is a mistake in the
	// suite but may come from a variable.
	vacuous, trivial string

	kind *Kind
	ctx  context.Context // limits compiling; may be nil
}

// context returns the context that limits compiling.
func (s *Spec) context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// threshold returns the threshold, or the default of the type.
func (s *Spec) threshold() float64 {
	if s.HasThreshold {
		return s.Threshold
	}
	return s.kind.Default
}

// not returns "not " for reasons of negated assertions.
func (s *Spec) not() string {
	if s.Not {
		return "not "
	}
	return ""
}

// badValue is the error for a value of the wrong kind.
func (s *Spec) badValue(want string) error {
	return proviso.Errorf(proviso.Invalid, "%q needs %s as its value, found %s", s.Type, want, kindOf(s.Value))
}

// kindOf names the kind of a value for messages.
func kindOf(v any) string {
	switch v {
	case value.Undefined{}:
		return "none"
	case "":
		return "an empty text"
	}
	return kind.Of(v)
}

// Row is one output with all data that assertions may use. It belongs to one
// evaluation and is not shared between goroutines.
type Row struct {
	Output    *proviso.Output
	Prompt    string
	HasPrompt bool
	Vars      *value.Object
	Case      *proviso.Case
	Provider  *proviso.ProviderSpec
	Label     string // label of the prompt
	// Background is what judged assertions may look at in addition to prompt and
	// output; "" if there is none.
	Background string

	memo  []memoized
	whole Subject         // input of the assertions without a transform
	of    *proviso.Output // output from which whole was made
}

// memoized is a value that checks of a row share. A row has few of them.
type memoized struct{ key, value any }

// Subject is the input of one check: the output after transform and scope.
type Subject struct {
	Text  string // the output as text
	Value any    // the output; equal to Text if scope selected a part
	Row   *Row
}

// memo returns the value that make computed for key earlier in this row, so that
// checks with the same preparation share it.
func memo[T any](s *Subject, key any, make func() T) T {
	for i := range s.Row.memo {
		if m := &s.Row.memo[i]; m.key == key {
			return m.value.(T)
		}
	}
	v := make()
	s.Row.memo = append(s.Row.memo, memoized{key, v})
	return v
}

// splitType separates "not-" from the type it negates.
func splitType(t string) (base string, not bool) {
	if rest, ok := strings.CutPrefix(t, "not-"); ok {
		return rest, true
	}
	return t, false
}
