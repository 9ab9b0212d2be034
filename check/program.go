package check

import (
	"context"
	"errors"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// language holds the differences of the two languages of program assertions.
type language struct {
	name  string // as in messages
	id    string // as in [proviso.Source]
	none  string // name of its null value
	files []string
}

// verdictEntry is the function of a file that returns the verdict, unless the suite
// names another.
const verdictEntry = "get_assert"

// program is an assertion that is decided by a function in Python or Ruby.
type program struct {
	*Spec
	language
	fn   proviso.Function
	code string // for reasons: the text, or the reference to the file
	file bool

	c      *Compiler
	traced bool // the code looks at the trace in its context
}

// newPython is `python`.
func newPython(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Python", id: "python", none: "None", files: []string{".py"}})
}

// newRuby is `ruby`.
func newRuby(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Ruby", id: "ruby", none: "nil", files: []string{".rb"}})
}

// newProgram is `python` and `ruby`: an expression on one line, a function body
// on several, or a function of a file.
func newProgram(c *Compiler, s *Spec, l language) (Check, error) {
	text, ok := s.Value.(string)
	if !ok || value.TrimSpace(text) == "" {
		return nil, s.badValue("a text with " + l.name)
	}
	name, isFile := c.programFile(text, l)
	if isFile {
		file, entry := splitEntry(name)
		if LanguageOf(file) != "" || !strings.EqualFold(path.Ext(file), ".txt") {
			return newProgramFile(c, s, l, file, entry)
		}
		data, err := c.readFile(file)
		if err != nil {
			return nil, err
		}
		text = value.TrimSpace(string(data))
	}
	if c.Code == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "no interpreter for %s here", l.id)
	}
	body := programBody(text, l)
	fn, err := c.function(proviso.Source{
		Language: l.id, Name: "assertion", Text: body.text, Form: proviso.Body,
		Params: []string{"output", "context"}, Pointer: s.Pointer, Purpose: proviso.Deciding,
	})
	if err != nil {
		return nil, body.misread(err, l)
	}
	return &program{Spec: s, language: l, fn: fn, code: text, c: c, traced: c.mentionsTrace(s.Base, text)}, nil
}

// programFile returns the file that a value names. A table of cases drops file:// in
// front of Python files, and the name of a file alone is never a verdict.
func (c *Compiler) programFile(text string, l language) (string, bool) {
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		return name, true
	}
	file, _ := splitEntry(text)
	if LanguageOf(file) != l.id || strings.ContainsAny(text, " \t\n()\"'=,[]{}") {
		return "", false
	}
	_, err := c.readFile(file)
	return text, err == nil
}

func newProgramFile(c *Compiler, s *Spec, l language, file, entry string) (Check, error) {
	if LanguageOf(file) != l.id {
		return nil, &proviso.Error{
			Code: proviso.Invalid, Message: file + " is not a " + l.name + " file",
			Valid: append(l.files, ".txt"),
		}
	}
	fn, traced, err := c.compileFile(scriptFile{language: l.id, file: file, entry: entry, standard: verdictEntry})
	if err != nil {
		return nil, err
	}
	return &program{Spec: s, language: l, fn: fn, code: s.Value.(string), file: true, c: c, traced: traced}, nil
}

// programText is an inline value in the form for the interpreter, and the offset of
// places in it from those in the value.
type programText struct {
	text     string
	lines    int  // before the value
	columns  int  // before its first line
	returned bool // the value is an expression that is returned
}

// programBody makes a function body from an inline value. Ruby loads the library json
// for it; for Python the interpreter does that.
func programBody(code string, l language) programText {
	b := programText{text: code}
	if !strings.Contains(code, "\n") {
		b = programText{text: "return " + code, columns: len("return "), returned: true}
	}
	const load = "require 'json'"
	switch {
	case l.id != "ruby" || !strings.Contains(code, "JSON"):
	case b.returned:
		b.text, b.columns = load+"; "+b.text, b.columns+len(load)+2
	default:
		b.text, b.lines = load+"\n"+b.text, 1
	}
	return b
}

// misread reports a syntax error with its place in the value as written.
func (b programText) misread(err error, l language) error {
	var e *proviso.ScriptError
	if !errors.As(err, &e) || !e.Syntax {
		return err
	}
	line, column := e.Line-b.lines, e.Column
	if line <= 1 {
		line, column = 1, max(column-b.columns, 1)
	}
	message := "the " + l.name + " cannot be read: " + e.Message + " at line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
	if b.returned {
		message += " (a single line is an expression; write statements, with return, on several lines)"
	}
	return &proviso.Error{Code: proviso.Invalid, Message: message}
}

// Decide implements [Check].
func (p *program) Decide(ctx context.Context, s *Subject) (Finding, error) {
	second := scriptContext(p.Assertion, s)
	if p.traced {
		if err := p.c.addTrace(ctx, second, s, p.Base); err != nil {
			return Finding{}, err
		}
	}
	out, err := p.fn.Call(ctx, s.Value, second)
	if err == nil {
		return p.judge(out), nil
	}
	thrown := exception(err)
	switch {
	case thrown == nil:
		return Finding{}, err
	case lacksModule(thrown):
		return Finding{}, proviso.Errorf(proviso.Undecided, "%s: %w", p.code, err)
	}
	return p.threw(thrown), nil
}

// exception returns the exception of the code; nil if err is something that prevented
// a result: a limit, a sandbox, a missing module.
func exception(err error) *proviso.ScriptError {
	var known *proviso.Error
	var thrown *proviso.ScriptError
	if errors.As(err, &known) || !errors.As(err, &thrown) {
		return nil
	}
	return thrown
}

// lacksModule reports whether code did not run because something is not installed,
// which does not depend on the output.
func lacksModule(e *proviso.ScriptError) bool {
	switch e.Name {
	case "ModuleNotFoundError", "ImportError", "LoadError":
		return true
	}
	return strings.HasPrefix(e.Message, "Cannot find module") || strings.HasPrefix(e.Message, "Cannot find package")
}

// threw returns the finding for code that raised an exception.
func (p *program) threw(e *proviso.ScriptError) Finding {
	reason := p.name + " code execution failed: " + e.Error()
	if p.file {
		reason = "Error running " + p.name + " script: " + e.Error()
	}
	if e.Stack != "" {
		reason += "\n" + strings.TrimRight(e.Stack, "\n")
	}
	return Finding{Final: true, Threw: true, Reason: reason}
}

// judge makes a finding from the function's result.
func (p *program) judge(out any) Finding {
	switch v := out.(type) {
	case bool:
		return p.truth(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return p.unusable(out)
		}
		return p.number(v)
	case string:
		return p.text(v)
	case *value.Object:
		return p.graded(v)
	}
	return p.unusable(out)
}

func (p *program) truth(v bool) Finding {
	f := found(v != p.Not) // the score follows the verdict, which is inverted later
	f.Pass = v
	return p.explain(f)
}

func (p *program) number(v float64) Finding {
	pass := v > 0
	if p.HasThreshold {
		pass = v >= p.Threshold
	}
	return p.explain(Finding{Pass: pass, Score: v})
}

// text reads a verdict in a text: true or false, an object as JSON, or a number at
// the beginning.
func (p *program) text(v string) Finding {
	switch strings.ToLower(v) {
	case "true":
		return p.truth(true)
	case "false":
		return p.truth(false)
	}
	if strings.HasPrefix(v, "{") {
		o, err := value.ParseJSON(v)
		if err != nil {
			return p.failed("Invalid JSON: " + err.Error() + " when parsing result: " + v)
		}
		return p.graded(o.(*value.Object)) // text with this beginning can only be an object
	}
	if f, ok := value.LeadingNumber(v); ok {
		return p.number(f)
	}
	return p.unusable(v)
}

// graded reads a verdict with a score and a reason.
func (p *program) graded(o *value.Object) Finding {
	f, ok := grading(camelCase(o, 0), p.Assertion, 0)
	if !ok {
		return p.unusable(o)
	}
	if p.HasThreshold && f.Score < p.Threshold {
		below := p.name + " score " + value.FormatNumber(f.Score) + " is less than threshold " + value.FormatNumber(p.Threshold)
		if f.Reason != "" {
			below += ": " + f.Reason
		}
		f.Pass, f.Reason = false, below
	}
	if p.Not && f.Pass {
		f.Reason = p.name + " code returned true"
	}
	f.Always = !p.Not
	return f
}

// camelCase renames the keys of a verdict to those of JavaScript.
func camelCase(o *value.Object, depth int) *value.Object {
	out := o.Clone()
	for snake, camel := range map[string]string{
		"pass_": "pass", "named_scores": "namedScores", "named_score_weights": "namedScoreWeights",
		"component_results": "componentResults", "tokens_used": "tokensUsed",
	} {
		if v, ok := out.Get(snake); ok && !out.Has(camel) {
			out.Set(camel, v)
		}
	}
	parts, ok := out.At("componentResults").([]any)
	if !ok || depth > maxComponents {
		return out
	}
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
		if inner, ok := part.(*value.Object); ok {
			list[i] = camelCase(inner, depth+1)
		}
	}
	out.Set("componentResults", list)
	return out
}

// explain adds the reason to a verdict that is only a boolean or number.
func (p *program) explain(f Finding) Finding {
	if f.Pass == p.Not {
		f.Reason = p.name + " code returned " + strconv.FormatBool(f.Pass) + "\n" + p.code
	}
	return f
}

func (p *program) failed(message string) Finding {
	return Finding{Final: true, Threw: true, Reason: p.name + " code execution failed: " + message}
}

// maxShown limits how much of an invalid result is shown, in bytes.
const maxShown = 2 << 10

// unusable returns the finding for a result that is not a verdict.
func (p *program) unusable(out any) Finding {
	got := ""
	switch v := out.(type) {
	case nil:
		got = p.none + ", as code without return does"
	case float64: // NaN and infinities
		got = strings.ToLower(value.FormatNumber(v))
	case *value.Opaque:
		got = v.Kind
		if v.Kind == "coroutine" {
			got += " that was never awaited"
		}
	default:
		got = value.Stringify(v)
	}
	return p.failed(p.name + " assertion must return a boolean, number, or {pass, score, reason} object. Instead got:\n" + excerpt.Bytes(got, maxShown))
}
