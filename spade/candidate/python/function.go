// Package python reads and writes candidates that are Python functions, as in the SPADE
// paper. Start at [Of] and [Read].
package python

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Function is a candidate that is a Python function: async
// def f(example: dict, prompt: str, response: str) -> bool.
type Function struct {
	Text      string
	Entry     string // name of the function
	AsksModel bool   // uses ask_llm
}

// pythonFunction finds a function with the three parameters.
var pythonFunction = pattern.Of(`(?m)^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(\s*example\b[^()]*,\s*prompt\b[^()]*,\s*response\b`)

// askLLM is the function with which such a candidate asks a model.
const askLLM = "ask_llm"

// Of returns the function of a Python candidate. Its value ends with a call of a function that
// it defines, as [Read] and [Value] write it, or it defines a function with the parameters
// example, prompt and response (the first one counts). Other values of the type are
// expressions, bodies and files, as in suites.
func Of(a *proviso.Assertion) (Function, bool) {
	text, ok := a.Value.(string)
	if !ok || strings.TrimPrefix(a.Type, "not-") != Type || strings.HasPrefix(text, "file://") {
		return Function{}, false
	}
	first := ""
	if m := pythonFunction.Get().FindStringSubmatch(text); m != nil {
		first = m[1]
	}
	text, entry := pythonModule(text, first)
	if entry == "" {
		return Function{}, false
	}
	return Function{Text: text, Entry: entry, AsksModel: strings.Contains(text, askLLM) && slices.Contains(pythonNames(text), askLLM)}, true
}

// Type is the type of these assertions.
const Type = "python"

// ResultKind names the kind of a Python candidate's result.
func ResultKind(v any) string {
	switch v := v.(type) {
	case nil, value.Undefined:
		return "None"
	case string:
		return "a text"
	case float64:
		return "a number"
	case []any:
		return "a list"
	case *value.Opaque:
		return "a value of type " + v.Kind
	}
	return "an object"
}
