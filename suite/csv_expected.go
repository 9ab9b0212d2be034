package suite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// defaultCellThreshold is what an assertion of a CSV cell gets if it takes a
// threshold and the cell gives none.
const defaultCellThreshold = 0.75

// cellType is an assertion type that an expectation in a CSV cell may name.
type cellType struct {
	name      string
	threshold float64 // default; 0 if the type takes none in a cell
	form      cellForm
}

// cellForm says what becomes of the text after the type's colon.
type cellForm uint8

const (
	trimmedText cellForm = iota
	plainText            // kept with its white space
	listOfTexts          // split on commas
)

// cellTypes are promptfoo's types, and those of proviso whose names nobody would
// write as the text of an answer. It is sorted by name.
var cellTypes = [...]cellType{
	{name: "agent-rubric"},
	{name: "answer-relevance", threshold: defaultCellThreshold},
	{name: "bleu"},
	{name: "char-count"},
	{name: "classifier", threshold: defaultCellThreshold},
	{name: "contains"},
	{name: "contains-all", form: listOfTexts},
	{name: "contains-any", form: listOfTexts},
	{name: "contains-html"},
	{name: "contains-json", form: plainText},
	{name: "contains-sql"},
	{name: "contains-xml"},
	{name: "context-faithfulness", threshold: defaultCellThreshold},
	{name: "context-recall", threshold: defaultCellThreshold},
	{name: "context-relevance", threshold: defaultCellThreshold},
	{name: "conversation-relevance"},
	{name: "cost", threshold: defaultCellThreshold},
	{name: "ends-with"},
	{name: "equals"},
	{name: "factuality"},
	{name: "finish-reason"},
	{name: "g-eval"},
	{name: "gleu"},
	{name: "guardrails"},
	{name: "icontains"},
	{name: "icontains-all", form: listOfTexts},
	{name: "icontains-any", form: listOfTexts},
	{name: "is-html"},
	{name: "is-json", form: plainText},
	{name: "is-refusal"},
	{name: "is-sql"},
	{name: "is-valid-function-call"},
	{name: "is-valid-openai-function-call"},
	{name: "is-valid-openai-tools-call"},
	{name: "is-xml"},
	{name: "item-count"},
	{name: "javascript"},
	{name: "latency", threshold: defaultCellThreshold},
	{name: "levenshtein", threshold: defaultCellThreshold},
	{name: "line-count"},
	{name: "llm-rubric"},
	{name: "meteor"},
	{name: "model-graded-closedqa"},
	{name: "model-graded-factuality"},
	{name: "moderation"},
	{name: "perplexity", threshold: defaultCellThreshold},
	{name: "perplexity-score", threshold: defaultCellThreshold},
	{name: "pi"},
	{name: "python"},
	{name: "regex"},
	{name: "rouge-l"},
	{name: "rouge-n", threshold: defaultCellThreshold},
	{name: "ruby"},
	{name: "search-rubric"},
	{name: "sentence-count"},
	{name: "similar", threshold: 0.8},
	{name: "skill-used"},
	{name: "starts-with", threshold: defaultCellThreshold},
	{name: "token-count"},
	{name: "tool-call-f1"},
	{name: "trace-error-spans"},
	{name: "trace-span-count"},
	{name: "trace-span-duration"},
	{name: "trajectory:goal-success"},
	{name: "trajectory:step-count"},
	{name: "trajectory:tool-args-match"},
	{name: "trajectory:tool-sequence"},
	{name: "trajectory:tool-used"},
	{name: "webhook"},
	{name: "word-count"},
}

// ParseExpected reads one expectation of a CSV cell, such as "contains: Paris"
// or "similar(0.9): hello", and returns the assertion it stands for, as a suite
// would write it. A text that names no type is an equals assertion. The grammar,
// its default thresholds included, is promptfoo's (docs/suite.md).
func ParseExpected(cell string) *proviso.Object {
	for _, prefix := range [...]string{"javascript:", "fn:", "eval:"} {
		if code, ok := strings.CutPrefix(cell, prefix); ok {
			return typed("javascript", proviso.TrimSpace(code))
		}
	}
	for _, prefix := range [...]string{"grade:", "llm-rubric:"} {
		if rubric, ok := strings.CutPrefix(cell, prefix); ok {
			return typed("llm-rubric", rubric)
		}
	}
	if code, ok := strings.CutPrefix(cell, "python:"); ok {
		return typed("python", proviso.TrimSpace(code))
	}
	if name, ok := strings.CutPrefix(cell, "file://"); ok {
		switch {
		case isJavaScript(name):
			return typed("javascript", proviso.TrimSpace(cell))
		case strings.HasSuffix(name, ".py") || strings.Contains(name, ".py:"):
			return typed("python", proviso.TrimSpace(name))
		}
	}
	if a := parseTyped(cell); a != nil {
		return a
	}
	return typed("equals", cell)
}

// parseTyped reads "type(threshold): value"; it returns nil for anything else.
func parseTyped(cell string) *proviso.Object {
	name := strings.TrimPrefix(cell, "not-")
	kind, rest, ok := cutCellType(name)
	if !ok {
		return nil
	}
	threshold, rest, ok := cutThreshold(rest)
	if !ok || (rest != "" && rest[0] != ':') {
		return nil
	}
	a := proviso.NewObject(3)
	a.Set("type", cell[:len(cell)-len(name)]+kind.name)
	if rest != "" {
		a.Set("value", kind.form.value(rest[1:]))
	}
	switch {
	case kind.threshold == 0:
	case threshold != nil:
		a.Set("threshold", *threshold)
	default:
		a.Set("threshold", kind.threshold)
	}
	return a
}

// cutCellType returns the type that text begins with and what follows it. Where
// one type is the beginning of another, the one that is followed by a
// parenthesis, a colon or the end is meant.
func cutCellType(text string) (cellType, string, bool) {
	end := strings.IndexAny(text, "(:")
	if end < 0 {
		end = len(text)
	}
	if strings.HasPrefix(text, "trajectory:") {
		end = len(text)
		if i := strings.IndexAny(text[len("trajectory:"):], "(:"); i >= 0 {
			end = len("trajectory:") + i
		}
	}
	i, ok := slices.BinarySearchFunc(cellTypes[:], text[:end], func(t cellType, name string) int {
		return strings.Compare(t.name, name)
	})
	if !ok {
		return cellType{}, "", false
	}
	return cellTypes[i], text[end:], true
}

// cutThreshold reads a number in parentheses, such as "(0.5)", if there is one.
func cutThreshold(text string) (threshold *float64, rest string, ok bool) {
	if text == "" || text[0] != '(' {
		return nil, text, true
	}
	number, rest, closed := strings.Cut(text[1:], ")")
	whole, fraction, dotted := strings.Cut(number, ".")
	if !closed || !isDigits(whole) || (dotted && !isDigits(fraction)) {
		return nil, "", false
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, rest, true
	}
	return &f, rest, true
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

func (f cellForm) value(text string) any {
	switch f {
	case plainText:
		return text
	case listOfTexts:
		if list, ok := splitList(text); ok && text != "" {
			return list
		}
		return text // an assertion that is compiled says what is wrong with it
	default:
		return proviso.TrimSpace(text)
	}
}

func typed(kind, value string) *proviso.Object {
	return proviso.ObjectOf("type", kind, "value", value)
}

// isJavaScript reports whether a file name ends as a script that QuickJS or Node
// would load.
func isJavaScript(name string) bool {
	for _, ext := range [...]string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}

// splitList splits a text on commas as the -all and -any assertions do: members
// are trimmed and empty ones dropped; a member in double quotes keeps its commas
// and white space, with "", \" and \\ as escapes. It reports false if a quote is
// not closed, or not followed by a comma.
func splitList(text string) ([]any, bool) {
	list := []any{}
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return r == ',' || proviso.IsSpace(r) })
		if text == "" {
			return list, true
		}
		if text[0] != '"' {
			member, rest, _ := strings.Cut(text, ",")
			list = append(list, proviso.TrimSpace(member))
			text = rest
			continue
		}
		member, rest, ok := cutQuoted(text[1:])
		rest = strings.TrimLeftFunc(rest, proviso.IsSpace)
		if !ok || (rest != "" && rest[0] != ',') {
			return nil, false
		}
		list = append(list, member)
		text = rest
	}
}

// cutQuoted reads up to the closing quote and returns what follows it.
func cutQuoted(text string) (member, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '\\' && (next == '"' || next == '\\'), c == '"' && next == '"':
			b.WriteByte(next)
			i++
		case c == '"':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
