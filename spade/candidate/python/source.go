package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// pythonParams are the parameters of a Python candidate, as in the paper.
var pythonParams = []string{"example", "prompt", "response"}

// pythonCall is appended to the value of a Python candidate to make it an ordinary python
// assertion: the body of a function with output and context.
const pythonCall = "return %s(context.get(\"vars\"), context.get(\"prompt\"), output)"

// pythonPatterns are the patterns for Python code.
type pythonPatterns struct {
	definition, called, words, docString, literal *regexp.Regexp
	asksOnly                                      *regexp.Regexp // matches a function that only asks a model
}

// python compiles the patterns on first use.
var python = sync.OnceValue(func() *pythonPatterns {
	return &pythonPatterns{
		definition: regexp.MustCompile(`^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(`),
		called:     regexp.MustCompile(`(?m)^return ([A-Za-z_]\w*)\(context\.get\("vars"\), context\.get\("prompt"\), output\)\s*\z`),
		words:      regexp.MustCompile(`[A-Za-z_]\w*`),
		docString:  regexp.MustCompile(`^(?s)\s*(?:"""(.*?)"""|'''(.*?)'''|"([^"\n]*)"|'([^'\n]*)')`),
		literal:    regexp.MustCompile(`"([^"\n]*)"|'([^'\n]*)'`),
		asksOnly:   regexp.MustCompile(`(?s)^\s*(?:(\w+)\s*=\s*(\(?\s*(?:"[^"\n]*"\s*|'[^'\n]*'\s*)+\)?)\s*)?(?:(\w+)\s*=\s*)?(?:return\s+)?(not\s+)?\(?\s*await\s+ask_llm\(\s*(\w+)\s*,\s*(\w+)\s*,\s*((?:"[^"\n]*"\s*|'[^'\n]*'\s*)+|\w+)\s*,?\s*\)\s*\)?\s*(?:return\s+(\w+))?\s*$`),
	}
})

// pythonModule returns the module of a Python candidate without the final call, and the name
// of the called function; entry is used if there is no call.
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

// Value returns the value of a python assertion for code that a model wrote and that has one
// function with the parameters of [Of]; otherwise it returns the problem.
func Value(code string) (value, problem string) {
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
	name string // name of the function that it defines; "" if none
}

// candidate returns the name of the function if it has the parameters of a candidate.
func (s *pythonStatement) candidate() (string, bool) {
	return s.name, slices.Equal(s.parameters(), pythonParams)
}

// parameters returns the names of the function's required positional parameters; nil if it
// takes any number.
func (s *pythonStatement) parameters() []string {
	code := pythonCode(s.text)
	at := strings.Index(code, s.name+"(") // nobody writes spaces before (
	if s.name == "" || at < 0 {
		return nil
	}
	var names []string
	depth := 0
	begin := at + len(s.name) + 1
	for i := begin; i < len(code); i++ {
		switch c := code[i]; {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0 && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			p := strings.TrimSpace(code[begin:i])
			begin = i + 1
			switch {
			case p == "/" || p == "":
			case p == "*":
				return names // the rest is keyword-only
			case p[0] == '*':
				return nil
			case !strings.Contains(p, "="):
				name, _, _ := strings.Cut(p, ":")
				names = append(names, strings.TrimSpace(name))
			}
			if c == ')' {
				return names
			}
		}
	}
	return names
}

// pythonStatements splits a module into its top-level statements: at each line without
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

	code  *strings.Builder // receives the code without comments and string contents; nil receives nothing
	value bool             // the open string is an f-string
	holes int              // open braces in the f-string
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
			t.quote, t.value, t.holes = "", false, 0
		case t.quote != "":
			t.hole(rest[0])
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			t.open(rest[:3], line[:i])
			i += 2
		case rest[0] == '"' || rest[0] == '\'':
			t.open(rest[:1], line[:i])
		case rest[0] == '#':
			i = len(line)
		case strings.IndexByte("([{", rest[0]) >= 0:
			t.depth++
			t.write(rest[0])
		case strings.IndexByte(")]}", rest[0]) >= 0:
			t.depth = max(0, t.depth-1)
			t.write(rest[0])
		case rest == `\`:
			t.continued = true
		default:
			t.write(rest[0])
		}
	}
	if len(t.quote) == 1 && !strings.HasSuffix(line, `\`) {
		t.quote = "" // an unterminated one-line string
	}
}

func (t *pythonText) write(c byte) {
	if t.code != nil {
		t.code.WriteByte(c)
	}
}

// open starts a string, whose prefix may make it an f-string.
func (t *pythonText) open(quote, before string) {
	t.quote, t.holes = quote, 0
	prefix := before[len(strings.TrimRight(before, "rRbBuUfFtT")):]
	t.value = strings.ContainsAny(prefix, "fFtT")
}

// hole reads a character of a string.
func (t *pythonText) hole(c byte) {
	if !t.value {
		return
	}
	if c == '{' {
		t.holes++
	}
	if t.holes > 0 {
		t.write(c)
	}
	if c == '}' {
		t.holes = max(0, t.holes-1)
		t.write(' ')
	}
}

// pythonCandidate makes an assertion from a function. Unless the assertion is judged, the
// caller completes it.
func pythonCandidate(s *pythonStatement) (o *value.Object, judged bool) {
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
	question, not, ok := onlyAsks(body, s.parameters())
	if !ok {
		return o, false
	}
	kind := proviso.TypeJudge
	if not {
		kind = "not-" + proviso.TypeJudge
	}
	o.Set("type", kind)
	o.Set("criteria", []any{questionStart + question})
	return o, true
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

// withoutComments returns code without its comment lines.
func withoutComments(code string) string {
	if !strings.Contains(code, "#") {
		return code
	}
	var b strings.Builder
	t := pythonText{}
	for line := range strings.Lines(code) {
		if t.quote != "" || !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			b.WriteString(line)
			t.read(line)
		}
	}
	return b.String()
}

// onlyAsks reads a body that only asks a model a question; not means that the expected answer
// is no.
func onlyAsks(body string, params []string) (question string, not, ok bool) {
	m := python().asksOnly.FindStringSubmatch(withoutComments(body))
	if m == nil || len(params) != 3 || m[5] != params[1] || m[6] != params[2] {
		return "", false, false
	}
	literal := m[7]
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
	if strings.ContainsAny(question, `\{`) || question == "" || m[3] != m[8] {
		return "", false, false
	}
	return question, m[4] != "", true
}

// questionStart starts the criterion of a function that only asks a model.
const questionStart = "The answer to this question about the output is yes: "
