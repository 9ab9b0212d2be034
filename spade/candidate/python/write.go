package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// pythonHead is the signature of a function in the paper's form.
const pythonHead = "async def %s(example: dict, prompt: str, response: str) -> bool:\n"

// File writes candidates as functions in the paper's form, which [Read] reads. The comments
// are at the top, one per line. left lists the candidates that cannot be written in this form,
// each with the reason; a comment in the file does too. File approximates no check: it omits a
// check that a function would decide differently.
func File(list []proviso.Candidate, comments []string) (data []byte, left []string) {
	w := pythonWriter{bound: map[string]string{}, has: map[string]bool{}}
	for i := range list {
		w.bound[list[i].Name] = list[i].Name // a helper must not have a candidate's name, unless it is that candidate
		if f, ok := Of(list[i].Assertion); ok {
			for _, s := range pythonStatements(f.Text) {
				if s.name == list[i].Name {
					w.bound[s.name] = strings.TrimRight(s.text, "\n")
				}
			}
		}
	}
	var names []string
	for i := range list {
		if problem := w.add(&list[i]); problem != "" {
			left = append(left, list[i].Name+": "+problem)
			continue
		}
		names = append(names, list[i].Name)
	}
	var b strings.Builder
	for _, c := range comments {
		b.WriteString(strings.TrimRight("# "+oneLine(c), " ") + "\n")
	}
	for _, c := range left {
		b.WriteString("# Left out: " + oneLine(c) + "\n")
	}
	if len(w.helpers) > 0 {
		b.WriteString("\n" + strings.Join(w.helpers, "\n"))
	}
	for _, f := range w.functions {
		b.WriteString("\n\n" + strings.TrimRight(f, "\n") + "\n")
	}
	b.WriteString("\n\nALL_FUNCTIONS = [" + strings.Join(names, ", ") + "]\n")
	return []byte(b.String()), left
}

// pythonWriter collects functions and the helpers that they use, each once.
type pythonWriter struct {
	helpers, functions []string
	has                map[string]bool   // texts of helpers
	bound              map[string]string // text of the helper that binds a name
}

// add writes a candidate, or returns why it cannot be written.
func (w *pythonWriter) add(c *proviso.Candidate) (problem string) {
	a := c.Assertion
	if words := python().words.FindString(c.Name); words != c.Name {
		return "its name is not a valid name in Python"
	}
	for key := range a.Raw.All() {
		if !slices.Contains([]string{"id", "description", "type", "value", "criteria", "config", "metric", "weight", "severity", "ignoreCase", wholeWords}, key) {
			return "a function has no " + key
		}
	}
	if f, ok := Of(a); ok {
		if strings.HasPrefix(a.Type, "not-") {
			return "it is a negated function"
		}
		return w.module(c.Name, f)
	}
	body, problem := pythonBody(a)
	if problem != "" {
		return problem
	}
	text := fmt.Sprintf(pythonHead, c.Name)
	if c.Description != "" {
		text += "    " + pythonString(oneLine(c.Description)) + "\n"
	}
	if a.WholeWords && !w.has[pythonWords] {
		w.has[pythonWords] = true
		w.helpers = append(w.helpers, pythonWords)
	}
	w.functions = append(w.functions, text+"    return "+body+"\n")
	return ""
}

// wholeWords is the key of assertions that match whole words.
const wholeWords = "wholeWords"

// pythonWords are functions that match whole words like package check: a word consists of
// letters, digits, marks and underscores.
const pythonWords = `def word_ends(text, at):
    import unicodedata
    inside = lambda c: c == "_" or unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd"
    return at <= 0 or at >= len(text) or not (inside(text[at - 1]) and inside(text[at]))


def has_words(text, words):
    at = text.find(words)
    while at >= 0 and not (word_ends(text, at) and word_ends(text, at + len(words))):
        at = text.find(words, at + 1)
    return at >= 0
`

// module writes a candidate that is already Python.
func (w *pythonWriter) module(name string, f Function) (problem string) {
	text := f.Text
	if f.Entry != name {
		entry := regexp.MustCompile(`\b` + f.Entry + `\b`)
		if len(entry.FindAllString(text, -1)) != len(entry.FindAllString(pythonCode(text), -1)) {
			return "its function is called " + f.Entry + ", also in a text"
		}
		text = entry.ReplaceAllString(text, name)
	}
	file := &pythonFile{by: map[string][]int{}, used: map[int]bool{}}
	file.read(text)
	var helpers []pythonPart
	function := ""
	for _, s := range file.all {
		if s.name == name {
			function = s.text
			if len(s.parameters()) != len(pythonParams) {
				return "its function does not take three arguments"
			}
			continue
		}
		if slices.Contains(s.binds, askLLM) {
			return "it defines ask_llm itself"
		}
		for _, bound := range s.binds {
			if other, ok := w.bound[bound]; ok && other != strings.TrimRight(s.text, "\n") {
				return bound + " means something else in another function"
			}
		}
		if len(s.binds) == 0 && len(s.uses) == 0 {
			continue // a string
		}
		if len(s.binds) == 0 || strings.HasPrefix(s.text, "from __future__") {
			return "it has a statement that would run for the other functions, too"
		}
		helpers = append(helpers, s)
	}
	if function == "" {
		return "it defines no function of its name"
	}
	for _, s := range helpers {
		text := strings.TrimRight(s.text, "\n")
		for _, bound := range s.binds {
			w.bound[bound] = text
		}
		if !w.has[text] {
			w.has[text] = true
			w.helpers = append(w.helpers, text+"\n")
		}
	}
	if function = strings.TrimRight(function, "\n"); !w.has[function] {
		w.has[function] = true
		w.functions = append(w.functions, function)
	}
	return ""
}

// pythonBody returns the expression that decides an assertion, or why there is none.
func pythonBody(a *proviso.Assertion) (expression, problem string) {
	kind, not := strings.CutPrefix(a.Type, "not-")
	if !not {
		kind = a.Type
	}
	negated := func(text string) string {
		if not {
			return "not (" + text + ")"
		}
		return text
	}
	if strings.Contains(value.Stringify(a.Raw), "{{") || strings.Contains(value.Stringify(a.Raw), "file://") {
		return "", "it has a template or a file"
	}
	if kind == proviso.TypeJudge {
		return judgedBody(a, not)
	}
	row, _ := check.Lookup(kind)
	text, fold := "response", ""
	ignore := a.Raw.At("ignoreCase")
	if _, isBool := ignore.(bool); ignore != nil && !isBool {
		return "", "ignoreCase is not true or false"
	}
	if row.FoldsCase || ignore == true {
		text, fold = "response.lower()", ".lower()"
	}
	has := func(part string) string { return pythonString(part) + fold + " in " + text }
	ends := func(string) string { return "" } // further condition on the start or the end
	if a.WholeWords {
		has = func(part string) string { return "has_words(" + text + ", " + pythonString(part) + fold + ")" }
		ends = func(at string) string { return " and word_ends(" + text + ", " + at + ")" }
	}
	one, isText := a.Value.(string)
	list, isList := a.Value.([]any)
	switch {
	case isText && row.Match == proviso.MatchPart:
		return negated(has(one)), ""
	case isText && row.Match == proviso.MatchStart:
		return negated(text + ".startswith(" + pythonString(one) + fold + ")" + ends("len("+pythonString(one)+fold+")")), ""
	case isText && row.Match == proviso.MatchEnd:
		return negated(text + ".endswith(" + pythonString(one) + fold + ")" + ends("len("+text+") - len("+pythonString(one)+fold+")")), ""
	case isList && len(list) > 0 && (row.Match == proviso.MatchEvery || row.Match == proviso.MatchAnyOne):
		var parts []string
		for _, v := range list {
			s, ok := v.(string)
			if !ok {
				return "", "it looks for what is not a text"
			}
			parts = append(parts, has(s))
		}
		if row.Match == proviso.MatchEvery {
			return negated(strings.Join(parts, " and ")), ""
		}
		return negated(strings.Join(parts, " or ")), ""
	}
	return "", a.Type + " has no exact form in Python"
}

// judgedBody returns the expression of a judged assertion.
func judgedBody(a *proviso.Assertion, not bool) (expression, problem string) {
	if len(a.Criteria) != 1 || a.Raw.Has("value") {
		return "", "a function asks about one criterion"
	}
	question, ok := strings.CutPrefix(a.Criteria[0].Text, questionStart)
	if !ok {
		question = "Does the response meet this criterion: " + question
	}
	ask := "await ask_llm(prompt, response, " + pythonString(question) + ")"
	if not {
		ask = "not " + ask
	}
	return ask, ""
}

// pythonString returns a Python string literal.
func pythonString(s string) string {
	literal := value.Stringify(s)
	if strings.Contains(s, `"`) && !strings.Contains(s, "'") && literal == `"`+strings.ReplaceAll(s, `"`, `\"`)+`"` {
		return "'" + s + "'"
	}
	return literal
}

// oneLine returns a text with each run of white space replaced by a space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
