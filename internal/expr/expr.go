// Package expr evaluates the conditions of a suite, `when:`, and of a watch, `where:`, in
// CEL (the Common Expression Language): without side effects or endless loops. Start at
// [Compile].
package expr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxCost bounds the work of one evaluation on a case, in CEL's cost units.
// maxEventCost bounds the work on an event, about half a millisecond: thousands of
// events arrive per second.
const (
	maxCost      = 1_000_000
	maxEventCost = 20_000
)

// dialect is the kind of condition under one key.
type dialect struct {
	key   string
	cost  uint64
	names []string // variables that a condition can use
	env   func() (*cel.Env, error)
	typed func() (*cel.Env, error) // declares the types of the variables; nil if they may have any type
}

func newDialect(key string, cost uint64, names ...string) *dialect {
	return &dialect{key: key, cost: cost, names: names, env: environment(names, func(string) *cel.Type { return cel.DynType })}
}

func environment(names []string, typeOf func(name string) *cel.Type) func() (*cel.Env, error) {
	return sync.OnceValues(func() (*cel.Env, error) {
		opts, err := standardLibrary()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			opts = append(opts, cel.Variable(name, typeOf(name)))
		}
		return cel.NewCustomEnv(opts...)
	})
}

// eventDialect is the dialect of conditions on events. Their variables have no
// static type in CEL, so that numbers compare as users expect. The actual types
// serve only to detect conditions that can never be true or false.
func eventDialect(names ...string) *dialect {
	d := newDialect("where", maxEventCost, names...)
	d.typed = environment(names, func(name string) *cel.Type {
		switch name {
		case "cost", "latency_ms":
			return cel.DoubleType
		case "usage":
			return cel.MapType(cel.StringType, cel.DoubleType)
		case "segment":
			return cel.MapType(cel.StringType, cel.StringType)
		case "metadata":
			return cel.MapType(cel.StringType, cel.DynType)
		}
		return cel.StringType
	})
	return d
}

var (
	ofCases  = newDialect("when", maxCost, "vars", "metadata")
	ofEvents = eventDialect("id", "agent", "time", "conversation", "input", "output", "context", "version", "prompt", "model", "segment", "user", "metadata", "usage", "cost", "latency_ms", "error")
)

// Condition is a compiled expression. It is safe for concurrent use.
type Condition struct {
	key     string
	text    string
	program cel.Program
}

// Compile checks the syntax of text, a condition on a case with the variables vars and
// metadata. The error is a *proviso.Error whose message names the column of the mistake.
func Compile(text string) (*Condition, error) { return ofCases.compile(text) }

// CompileWhere checks the syntax of text, a condition on an event with its members as
// variables.
func CompileWhere(text string) (*Condition, error) { return ofEvents.compile(text) }

func (d *dialect) compile(text string) (*Condition, error) {
	env, err := d.env()
	if err != nil {
		return nil, fmt.Errorf("prepare CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, d.mistake(text, issues)
	}
	if gives := d.gives(ast, text); gives != "" {
		return nil, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("%s %q is not a condition: it returns %s, not true or false", d.key, text, gives)}
	}
	program, err := env.Program(ast, cel.CostLimit(d.cost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%s %q: %w", d.key, text, err)
	}
	return &Condition{key: d.key, text: text, program: program}, nil
}

// gives describes the result of an expression that can never be true or false; ""
// if it can.
func (d *dialect) gives(ast *cel.Ast, text string) string {
	out := ast.OutputType()
	if out == cel.DynType && d.typed != nil {
		// A type error is not a mistake here: the untyped environment accepted the text.
		if env, err := d.typed(); err == nil {
			if known, issues := env.Compile(text); issues.Err() == nil {
				out = known.OutputType()
			}
		}
	}
	if root := ast.NativeRep().Expr(); root.Kind() == celast.CallKind && slices.Contains(arithmetic, root.AsCall().FunctionName()) {
		if out.Kind() == cel.DynKind {
			return "a number or a text"
		}
	}
	switch out.Kind() {
	case cel.BoolKind, cel.DynKind, cel.TypeParamKind:
		return ""
	case cel.DoubleKind, cel.IntKind, cel.UintKind:
		return "a number"
	case cel.StringKind:
		return "a text"
	case cel.MapKind:
		return "an object"
	case cel.ListKind:
		return "a list"
	}
	return "a " + out.TypeName()
}

// mistake says why a text is not an expression, in words that need no knowledge of
// the parser.
func (d *dialect) mistake(text string, issues *cel.Issues) error {
	var all []string
	for _, e := range issues.Errors() {
		message, _, _ := strings.Cut(e.Message, " (in container")
		message = plainSyntax(message)
		all = append(all, fmt.Sprintf("column %d: %s", e.Location.Column()+1, message))
	}
	return &proviso.Error{
		Code:    proviso.Invalid,
		Message: fmt.Sprintf("%s %q is not a valid condition: %s", d.key, text, strings.Join(all, "; ")),
		Valid:   d.names,
	}
}

// plainSyntax rewrites the parser's message about a text that it cannot read.
func plainSyntax(message string) string {
	rest, ok := strings.CutPrefix(message, "Syntax error: ")
	if !ok {
		return message
	}
	found := rest
	for _, before := range []string{"mismatched input ", "extraneous input ", "no viable alternative at input ", "token recognition error at: ", "missing "} {
		if f, ok := strings.CutPrefix(rest, before); ok {
			found, _, _ = strings.Cut(f, " expecting ")
			break
		}
	}
	switch {
	case strings.Contains(found, "<EOF>"):
		return "the condition ends too early"
	case found == rest:
		return rest
	}
	return "unexpected " + found
}

// Holds evaluates the condition. An unknown name, a result that is not a boolean, and
// an exceeded limit are errors.
func (c *Condition) Holds(ctx context.Context, vars, metadata *value.Object) (bool, error) {
	return c.holds(ctx, map[string]any{"vars": native(vars), "metadata": native(metadata)})
}

// HoldsOf evaluates a condition of [CompileWhere] over the members of an event.
func (c *Condition) HoldsOf(ctx context.Context, event map[string]any) (bool, error) {
	vars := make(map[string]any, len(event))
	for k, v := range event {
		vars[k] = native(v)
	}
	return c.holds(ctx, vars)
}

func (c *Condition) holds(ctx context.Context, vars map[string]any) (bool, error) {
	out, _, err := c.program.ContextEval(ctx, vars)
	if err != nil {
		return false, proviso.Errorf(proviso.Undecided, "%s %q: %w", c.key, c.text, err)
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, proviso.Errorf(proviso.Undecided, "%s %q gives a %s, not true or false", c.key, c.text, out.Type().TypeName())
	}
	return b, nil
}

// native converts v to a type that CEL reads. Numbers stay doubles, even whole
// ones.
func native(v any) any {
	switch v := v.(type) {
	case *value.Object:
		m := make(map[string]any, v.Len())
		for k, e := range v.All() {
			m[k] = native(e)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = native(e)
		}
		return list
	case value.Undefined:
		return nil
	}
	return v
}
