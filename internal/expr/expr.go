// Package expr evaluates the conditions of a suite, `when:`, in CEL (the Common
// Expression Language): without side effects or endless loops. Start at [Compile].
package expr

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxCost bounds the work of one evaluation, in CEL's own units.
const maxCost = 1_000_000

// names are the variables that a condition can use.
var names = []string{"vars", "metadata"}

var environment = sync.OnceValues(func() (*cel.Env, error) {
	opts, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		opts = append(opts, cel.Variable(name, cel.DynType))
	}
	return cel.NewCustomEnv(opts...)
})

// Condition is a compiled expression. It is safe for concurrent use.
type Condition struct {
	text    string
	program cel.Program
}

// Compile checks the syntax of text. The error is a *proviso.Error whose message names
// the column of the mistake.
func Compile(text string) (*Condition, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, mistake(text, issues)
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "when %q: %w", text, err)
	}
	return &Condition{text: text, program: program}, nil
}

func mistake(text string, issues *cel.Issues) error {
	var all []string
	for _, e := range issues.Errors() {
		message, _, _ := strings.Cut(e.Message, " (in container")
		all = append(all, fmt.Sprintf("column %d: %s", e.Location.Column()+1, message))
	}
	return &proviso.Error{
		Code:    proviso.Invalid,
		Message: fmt.Sprintf("when %q is no valid condition: %s", text, strings.Join(all, "; ")),
		Valid:   names,
	}
}

// Holds evaluates the condition. An unknown name, a result that is not a boolean, and
// an exceeded limit are errors.
func (c *Condition) Holds(ctx context.Context, vars, metadata *value.Object) (bool, error) {
	out, _, err := c.program.ContextEval(ctx, map[string]any{"vars": native(vars), "metadata": native(metadata)})
	if err != nil {
		return false, proviso.Errorf(proviso.Undecided, "when %q: %w", c.text, err)
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, proviso.Errorf(proviso.Undecided, "when %q gives a %s, not true or false", c.text, out.Type().TypeName())
	}
	return b, nil
}

// native converts v to what CEL reads. Numbers stay doubles, whole or not.
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
