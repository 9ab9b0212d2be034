package candidate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// pythonParams are the parameters of a Python candidate, as in the paper.
var pythonParams = []string{"example", "prompt", "response"}

// pythonCall is appended to the value of a Python candidate to make it an ordinary
// python assertion: the body of a function of output and context.
const pythonCall = "return %s(context.get(\"vars\"), context.get(\"prompt\"), output)"

// pythonPatterns are the patterns that find things in Python code.
type pythonPatterns struct {
	definition, called, words, docString, literal *regexp.Regexp
	asksOnly                                      *regexp.Regexp // a function that only asks a model
}

// python compiles the patterns when they are first used.
var python = sync.OnceValue(func() *pythonPatterns {
	return &pythonPatterns{
		definition: regexp.MustCompile(`^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(`),
		called:     regexp.MustCompile(`(?m)^return ([A-Za-z_]\w*)\(context\.get\("vars"\), context\.get\("prompt"\), output\)\s*\z`),
		words:      regexp.MustCompile(`[A-Za-z_]\w*`),
		docString:  regexp.MustCompile(`^(?s)\s*(?:"""(.*?)"""|'''(.*?)'''|"([^"\n]*)"|'([^'\n]*)')`),
		literal:    regexp.MustCompile(`"([^"\n]*)"|'([^'\n]*)'`),
		asksOnly:   regexp.MustCompile(`(?s)^\s*(?:(\w+)\s*=\s*(\(?\s*(?:"[^"\n]*"\s*|'[^'\n]*'\s*)+\)?)\s*)?(?:(\w+)\s*=\s*)?(?:return\s+)?(not\s+)?\(?\s*await\s+ask_llm\(\s*prompt\s*,\s*response\s*,\s*((?:"[^"\n]*"\s*|'[^'\n]*'\s*)+|\w+)\s*,?\s*\)\s*\)?\s*(?:return\s+(\w+))?\s*$`),
	}
})

// pythonModule returns the module of a Python candidate without the call at its end,
// and the name of the called function; entry is used if there is no call.
func pythonModule(text, entry string) (module, name string) {
	at := python().called.FindStringSubmatchIndex(text)
	if at == nil {
		return text, entry
	}
	return strings.TrimRight(text[:at[0]], "\n") + "\n", text[at[2]:at[3]]
}

// pythonValue returns the assertion value of a Python candidate.
func pythonValue(code, entry string) string {
	return strings.TrimRight(code, " \t\r\n") + "\n\n" + fmt.Sprintf(pythonCall, entry) + "\n"
}

// maxDescription bounds the description of a Python candidate, in bytes.
const maxDescription = 1000

// maxPython bounds the code of a Python candidate, in bytes.
const maxPython = 32 << 10

// PythonOf returns the value of a python assertion made of code that a model wrote,
// with one function of the parameters of [PythonFunction]; otherwise it returns the
// problem.
func PythonOf(code string) (value, problem string) {
	code = unfenced(code)
	if code == "" {
		return "", "python needs code"
	}
	if len(code) > maxPython {
		return "", fmt.Sprintf("code has more than %d bytes", maxPython)
	}
	entry := ""
	for _, s := range pythonStatements(code) {
		if name, ok := s.candidate(); ok {
			if entry != "" {
				return "", "code has two functions of example, prompt and response: make two candidates"
			}
			entry = name
		}
	}
	if entry == "" {
		return "", "code has no function of the form: async def name(example: dict, prompt: str, response: str) -> bool"
	}
	return pythonValue(code, entry), ""
}

// unfenced removes a Markdown fence around code.
func unfenced(code string) string {
	code = strings.Trim(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	if !strings.HasPrefix(code, "```") {
		return code
	}
	_, code, _ = strings.Cut(code, "\n")
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(code, " \n"), "```"), "\n")
}

// pythonStatement is a top-level statement of a module, with the comments and
// decorators before it.
type pythonStatement struct {
	text string
	line int
	name string // the function that it defines; "" if none
}

// candidate returns the name of the function if it can be a candidate.
func (s *pythonStatement) candidate() (string, bool) {
	if s.name == "" {
		return "", false
	}
	head := s.text[strings.Index(s.text, s.name+"(")+len(s.name)+1:] // nobody writes blanks before (
	params, _, _ := strings.Cut(head, ")")
	var names []string
	for p := range strings.SplitSeq(params, ",") {
		p, _, _ = strings.Cut(p, ":")
		p, _, _ = strings.Cut(p, "=")
		if p = strings.TrimSpace(p); p != "" {
			names = append(names, p)
		}
	}
	return s.name, slices.Equal(names, pythonParams)
}

// pythonStatements cuts a module into its top-level statements: at each line without
// indentation that is outside of strings and brackets.
func pythonStatements(code string) []pythonStatement {
	var list []pythonStatement
	t := pythonText{}
	decorated, number := false, 0
	for line := range strings.Lines(code) {
		number++
		bare := strings.TrimRight(line, " \t\r\n")
		top := t.between() && bare != "" && !strings.ContainsAny(bare[:1], " \t)]}") && !(bare[0] == '#')
		if top && !decorated {
			list = append(list, pythonStatement{line: number})
		}
		if top {
			decorated = bare[0] == '@'
			if m := python().definition.FindStringSubmatch(bare); m != nil {
				list[len(list)-1].name = m[1]
				line = python().definition.ReplaceAllStringFunc(line, func(s string) string { return strings.TrimRight(s[:len(s)-1], " \t") + "(" })
			}
		}
		if len(list) > 0 {
			list[len(list)-1].text += line
		}
		t.read(line)
	}
	return list
}

// pythonText tracks strings and brackets through a text.
type pythonText struct {
	quote     string // the quotation mark of the open string
	depth     int    // open brackets
	continued bool   // the previous line ended with a backslash
}

func (t *pythonText) between() bool { return t.quote == "" && t.depth == 0 && !t.continued }

// read processes one line.
func (t *pythonText) read(line string) {
	line = strings.TrimRight(line, "\r\n")
	t.continued = false
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch {
		case t.quote != "" && rest[0] == '\\':
			i++
		case t.quote != "" && strings.HasPrefix(rest, t.quote):
			i += len(t.quote) - 1
			t.quote = ""
		case t.quote != "":
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			t.quote, i = rest[:3], i+2
		case rest[0] == '"' || rest[0] == '\'':
			t.quote = rest[:1]
		case rest[0] == '#':
			i = len(line)
		case strings.IndexByte("([{", rest[0]) >= 0:
			t.depth++
		case strings.IndexByte(")]}", rest[0]) >= 0:
			t.depth = max(0, t.depth-1)
		case rest == `\`:
			t.continued = true
		}
	}
	if len(t.quote) == 1 && !strings.HasSuffix(line, `\`) {
		t.quote = "" // an unclosed one-line string
	}
}

// readPython reads candidates from a Python file: each top-level function whose
// parameters are example, prompt and response, with the imports, constants and other
// functions of the file before it. A function that only asks a model becomes a judged
// candidate. If two functions have the same name, the later one counts, as in Python.
func readPython(file string, data []byte) ([]proviso.Candidate, proviso.Mistakes) {
	code := format.UnixLines(string(data))
	wrong := func(line int, warning bool, format string, args ...any) proviso.Mistake {
		return proviso.Mistake{Place: proviso.Place{File: file, Line: line}, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Warning: warning}
	}
	if strings.ContainsRune(code, 0) {
		return nil, proviso.Mistakes{wrong(0, false, "it is no text")}
	}
	var mistakes proviso.Mistakes
	var found []pythonStatement
	var before []pythonStatement
	names := map[string]bool{}
	for _, s := range pythonStatements(code) {
		name, ok := s.candidate()
		if !ok {
			before = append(before, s)
			continue
		}
		if names[name] {
			mistakes = append(mistakes, wrong(s.line, true, "a function %s stands before; this one counts", name))
			found = slices.DeleteFunc(found, func(f pythonStatement) bool { return f.name == name })
		}
		names[name] = true
		found = append(found, s)
	}
	if len(found) == 0 {
		return nil, append(mistakes, wrong(0, false, "no candidate is in it: a function name(example, prompt, response) is expected"))
	}
	preamble := preambleOf(before, names)
	if len(preamble)*len(found) > maxPreambles {
		return nil, append(mistakes, wrong(0, false, "%d candidates with %d bytes of other code before each are too much: at most %d MiB", len(found), len(preamble), maxPreambles>>20))
	}
	entries := make([]any, len(found))
	for i, s := range found {
		o, note := pythonCandidate(&s, preamble)
		if note != "" {
			mistakes = append(mistakes, wrong(s.line, true, "%s %s", s.name, note))
		}
		entries[i] = o
	}
	assertions, errs := suite.DecodeSet(check.Facts(), entries, "")
	for _, e := range errs {
		mistakes = append(mistakes, wrong(0, false, "%s", e.Error()))
	}
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	list := make([]proviso.Candidate, len(assertions))
	for i, a := range assertions {
		list[i] = Of(a)
	}
	return list, mistakes
}

// maxPreambles bounds how much of the file all candidates together repeat, in bytes.
const maxPreambles = 64 << 20

// preambleOf returns what the functions of a file may need of the rest of it:
// everything except ask_llm and statements that name a candidate, such as a list of all
// of them.
func preambleOf(list []pythonStatement, candidates map[string]bool) string {
	var b strings.Builder
	for _, s := range list {
		uses := slices.ContainsFunc(python().words.FindAllString(s.text, -1), func(w string) bool { return candidates[w] })
		isImport := strings.HasPrefix(s.text, "import ") || strings.HasPrefix(s.text, "from ")
		asks := s.name == askLLM || isImport && strings.Contains(s.text, askLLM)
		if !uses && !asks && !strings.HasPrefix(s.text, `"""`) {
			b.WriteString(strings.TrimRight(s.text, "\n") + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// pythonCandidate makes an assertion from a function; the note is for the user.
func pythonCandidate(s *pythonStatement, preamble string) (o *value.Object, note string) {
	body := bodyOf(s.text)
	description := ""
	if m := python().docString.FindStringSubmatch(body); m != nil {
		description = strings.Join(strings.Fields(strings.Join(m[1:], "")), " ")
		body = body[len(m[0]):]
	}
	o = value.ObjectOf("id", s.name)
	if description != "" {
		o.Set("description", excerpt.Head(description, maxDescription))
	}
	if question, not, ok := onlyAsks(body); ok {
		kind := JudgeType
		if not {
			kind = "not-" + JudgeType
		}
		o.Set("type", kind)
		o.Set("criteria", []any{"The answer to this question about the output is yes: " + question})
		return o, ""
	}
	if strings.Contains(body, askLLM) {
		note = "calls ask_llm, which a suite does not have: make its question a judged candidate if it is selected"
	}
	o.Set("type", PythonType)
	o.Set("value", pythonValue(preamble+s.text, s.name))
	return o, note
}

// bodyOf returns the body of a function.
func bodyOf(text string) string {
	t := pythonText{}
	at := 0
	started := false
	for line := range strings.Lines(text) {
		at += len(line)
		started = started || python().definition.MatchString(line)
		t.read(line)
		code, _, _ := strings.Cut(strings.TrimRight(line, " \t\r\n"), "  #")
		if started && t.between() && strings.HasSuffix(code, ":") {
			return text[at:]
		}
	}
	return ""
}

// onlyAsks reads a body that only asks a model a question, and whether the expected
// answer is no.
func onlyAsks(body string) (question string, not, ok bool) {
	m := python().asksOnly.FindStringSubmatch(body)
	if m == nil || strings.Contains(body, "#") {
		return "", false, false
	}
	literal := m[5]
	if !strings.ContainsAny(literal[:1], `"'`) {
		if literal != m[1] {
			return "", false, false
		}
		literal = m[2]
	}
	var b strings.Builder
	for _, part := range python().literal.FindAllStringSubmatch(literal, -1) {
		b.WriteString(part[1] + part[2])
	}
	question = strings.TrimSpace(b.String())
	if strings.ContainsAny(question, `\{`) || question == "" || m[3] != m[6] {
		return "", false, false
	}
	return question, m[4] != "", true
}
