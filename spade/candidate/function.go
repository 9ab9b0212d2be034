package candidate

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Python is a candidate that is a Python function as in the SPADE paper: async
// def f(example: dict, prompt: str, response: str) -> bool.
type Python struct {
	Text      string
	Entry     string // name of the function
	AsksModel bool   // it uses ask_llm
}

// pythonFunction finds a function with the three parameters.
var pythonFunction = pattern.Of(`(?m)^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(\s*example\b[^()]*,\s*prompt\b[^()]*,\s*response\b`)

// askLLM is the function that such a candidate calls to ask a model.
const askLLM = "ask_llm"

// PythonFunction returns the function of a python candidate whose value ends with a call
// of one that it defines, as [Read] and [PythonOf] write it, or defines a function with
// the parameters example, prompt and response, the first if there are several. Other values of that type are expressions, bodies and files, as in suites.
func PythonFunction(a *proviso.Assertion) (Python, bool) {
	text, ok := a.Value.(string)
	if !ok || strings.TrimPrefix(a.Type, "not-") != PythonType || strings.HasPrefix(text, "file://") {
		return Python{}, false
	}
	first := ""
	if m := pythonFunction.Get().FindStringSubmatch(text); m != nil {
		first = m[1]
	}
	text, entry := pythonModule(text, first)
	if entry == "" {
		return Python{}, false
	}
	return Python{Text: text, Entry: entry, AsksModel: strings.Contains(text, askLLM) && slices.Contains(pythonNames(text), askLLM)}, true
}

// The types whose value is more than a plain value.
const (
	JudgeType  = proviso.TypeJudge
	PythonType = "python"
)

// ResultKind names the kind of what a Python candidate returned.
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
