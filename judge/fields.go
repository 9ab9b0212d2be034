package judge

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// gradedObject returns the one JSON object of a reply that has any of the keys. The
// object may be surrounded by text. Several different objects are an error, because one
// of them may come from a prompt injection. An object with a duplicate key is an error,
// too, because it is ambiguous.
func gradedObject(reply string, keys ...string) (*value.Object, error) {
	var found *value.Object
	var results []jsonValue
	for _, v := range gradedObjects(reply) {
		o, _ := v.value.(*value.Object)
		if !slices.ContainsFunc(keys, o.Has) {
			continue
		}
		if v.twice != nil {
			return nil, v.twice
		}
		if found != nil && value.Stringify(found) != value.Stringify(o) {
			return nil, errors.New("there is more than one answer in it")
		}
		found, results = o, append(results, v)
	}
	if found == nil {
		return nil, errors.New("there is no JSON object with " + strings.Join(keys, " or ") + " in it")
	}
	if pass, ok := truth(found.At("pass")); ok && slices.Contains(keys, "pass") {
		says := func(o opinion) bool { return o == saysMet && pass || o == saysNotMet && !pass }
		if opinionBeside(found, saysNothing) == saysTwo || takenBack(behind(reply, results), says) {
			return nil, errOverruled
		}
	}
	return found, nil
}

// gradedObjects returns the top-level JSON objects in a text. It skips a malformed object
// with everything in it: a verdict that a judge quotes from the material without escaping
// it is not the judge's own.
func gradedObjects(text string) []jsonValue {
	var list []jsonValue
	at := 0
	for range maxTries {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text, at = text[start:], at+start
		v, n, err := value.ParseUniqueJSON(text)
		if twice := duplicate(err); err == nil || twice != nil {
			list = append(list, jsonValue{value: v, twice: twice, start: at, end: at + n})
			text, at = text[n:], at+n
			continue
		}
		end := braced(text)
		if end < 0 {
			break
		}
		text, at = text[end:], at+end
	}
	return list
}

// maxTries bounds the number of braces that are tried as the start of an object.
const maxTries = 1000

// braced returns the index after the brace that closes the first brace, or -1.
func braced(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// truth parses a verdict: a boolean, or exactly one of the words for one.
func truth(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes", "pass", "passed", "y":
			return true, true
		case "false", "no", "fail", "failed", "n":
			return false, true
		}
	}
	return false, false
}

// points parses a number from least to most, or a text with one. If most is not above
// least, any finite number is valid.
func points(v any, least, most float64) (float64, error) {
	f := math.NaN()
	switch v := v.(type) {
	case float64:
		f = v
	case string:
		if strings.TrimSpace(v) != "" {
			f = value.ToNumber(v)
		}
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, errors.New("the score is no number: " + value.Stringify(v))
	case most > least && (f < least || f > most):
		return 0, errors.New("the score " + value.FormatNumber(f) + " is not from " + value.FormatNumber(least) + " to " + value.FormatNumber(most))
	}
	return f, nil
}

// reasonIn returns the reason in a reply, or def if there is none.
func reasonIn(o *value.Object, def string) string {
	for _, key := range []string{"reason", "reasoning", "explanation"} {
		if text, ok := o.At(key).(string); ok && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return def
}

// textsIn reads a list of texts.
func textsIn(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("expected a list of texts: found " + shown(value.Stringify(v)))
	}
	texts := make([]string, 0, len(list))
	for _, e := range list {
		text, ok := e.(string)
		if !ok || strings.TrimSpace(text) == "" {
			return nil, errors.New("expected a list of texts: found " + shown(value.Stringify(e)) + " in it")
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	return texts, nil
}

// givenVars returns the variables of the case merged with pairs of names and values. If a
// name is in both, pairs take precedence if over is true; otherwise the case does.
func givenVars(vars *value.Object, over bool, pairs ...any) *value.Object {
	out := value.NewObject(vars.Len() + len(pairs)/2)
	given := value.ObjectOf(pairs...)
	layers := []*value.Object{given, vars}
	if over {
		layers = []*value.Object{vars, given}
	}
	for _, layer := range layers {
		for name, v := range layer.All() {
			out.Set(name, v)
		}
	}
	return out
}

// flattened returns the variables for a prompt from the suite. As in promptfoo, objects
// and list members that are objects become JSON texts. Unlike in promptfoo, a value whose
// members the prompt uses is left unchanged: otherwise {{ item.question }} would be
// empty, and the judge would grade without the question.
func flattened(vars *value.Object, source string) *value.Object {
	out := value.NewObject(vars.Len())
	for name, v := range vars.All() {
		text := flat(v)
		_, list := v.([]any)
		if !looksInto(source, name, list) {
			v = text
		}
		out.Set(name, v)
	}
	return out
}

// looksInto reports whether a template uses a member of a variable or, for a list, a
// member of an element.
func looksInto(source, name string, list bool) bool {
	const member = `\s*(\.\s*\w|\[)`
	variable := `(^|[^\w.])` + regexp.QuoteMeta(name)
	if !list {
		return regexp.MustCompile(variable + member).MatchString(source)
	}
	if regexp.MustCompile(variable + `\s*\[[^\]]*\]` + member).MatchString(source) {
		return true
	}
	for _, loop := range regexp.MustCompile(`\bfor\s+(\w+)\s+in\s+`+regexp.QuoteMeta(name)+`\b`).FindAllStringSubmatch(source, -1) {
		if looksInto(source, loop[1], false) {
			return true
		}
	}
	return false
}

func flat(v any) any {
	switch v := v.(type) {
	case *value.Object:
		return value.Stringify(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = e
			switch e.(type) {
			case *value.Object, []any:
				out[i] = value.Stringify(e)
			}
		}
		return out
	}
	return v
}

// parsedOr returns the parsed value if text is JSON, and text otherwise.
func parsedOr(text string) any {
	if v, err := value.ParseJSON(text); err == nil {
		return v
	}
	return text
}
