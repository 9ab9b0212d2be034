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

// language holds the differences of the languages of scripted assertions.
type language struct {
	name   string // as in messages
	id     string // as in [proviso.Source]
	result string // begins the reason of a verdict that is only a boolean or a number
	none   string // name of its null value
	files  []string
}

// scripted is an assertion that is decided by a function of the suite.
type scripted struct {
	*Spec
	language
	c      *Compiler
	fn     proviso.Function // nil until the code is compiled
	code   string           // for reasons: the text, or the reference to the file
	file   bool
	traced bool // the code looks at the trace in its context
}

// newScripted reads the value of an assertion: the function of a file, which is compiled, or
// code, which may be in a .txt file.
func newScripted(c *Compiler, s *Spec, l language, text string) (scripted, error) {
	j := scripted{Spec: s, language: l, c: c, code: text}
	if name, isFile := c.programFile(text, l); isFile {
		file, entry := splitEntry(name)
		switch id := LanguageOf(file); {
		case id == "" && strings.EqualFold(path.Ext(file), ".txt"):
			data, err := c.readFile(file)
			if err != nil {
				return j, err
			}
			j.code = value.TrimSpace(string(data))
		case id != l.id:
			return j, &proviso.Error{Code: proviso.Invalid, Message: file + " is not a " + l.name + " file", Valid: append(l.files, ".txt")}
		default:
			var err error
			j.file = true
			j.fn, j.traced, err = c.compileFile(scriptFile{language: l.id, file: file, entry: entry, standard: verdictEntry})
			return j, err
		}
	}
	if c.Code == nil {
		return j, proviso.Errorf(proviso.Unavailable, "no interpreter for %s is available", l.id)
	}
	return j, nil
}

// compile compiles code as the body of a function.
func (j *scripted) compile(body string, params ...string) (err error) {
	j.fn, err = j.c.function(proviso.Source{
		Language: j.id, Name: "assertion", Text: body, Form: proviso.Body, Params: params, Pointer: j.Pointer, Purpose: proviso.Deciding,
	})
	j.traced = j.c.mentionsTrace(j.id, j.code)
	return err
}

// context is the second argument of the function.
func (j *scripted) context(ctx context.Context, s *Subject) (*value.Object, error) {
	second := scriptContext(j.Assertion, s)
	if !j.traced {
		return second, nil
	}
	return second, j.c.addTrace(ctx, second, s, j.Base)
}

// needs returns what a script needs in addition to an interpreter.
func (j *scripted) needs() Needs {
	if j.traced {
		return NeedsTrace
	}
	return 0
}

func (j *scripted) truth(v bool) Finding {
	f := found(v != j.Not) // the score follows the verdict, which is inverted later
	f.Pass = v
	return j.explain(f)
}

func (j *scripted) number(v float64) Finding {
	pass := v > 0
	if j.HasThreshold {
		pass = v >= j.Threshold
	}
	return j.explain(Finding{Pass: pass, Score: v})
}

// explain adds the reason to a verdict that is only a boolean or number.
func (j *scripted) explain(f Finding) Finding {
	if f.Pass == j.Not {
		f.Reason = j.result + " returned " + strconv.FormatBool(f.Pass) + "\n" + j.code
	}
	return f
}

// reported completes a verdict that a script returned with its reason.
func (j *scripted) reported(f Finding) Finding {
	if j.Not && f.Pass {
		f.Reason = j.result + " returned true"
	}
	f.Always = !j.Not
	return f
}

// verdictEntry is the function of a file that returns the verdict, unless the suite
// names another.
const verdictEntry = "get_assert"

// program is an assertion that is decided by a function in Python or Ruby.
type program struct{ scripted }

// newPython is `python`.
func newPython(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Python", id: "python", result: "Python code", none: "None", files: []string{".py"}})
}

// newRuby is `ruby`.
func newRuby(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Ruby", id: "ruby", result: "Ruby code", none: "nil", files: []string{".rb"}})
}

// newProgram is `python` and `ruby`: an expression on one line, a function body
// on several, or a function of a file.
func newProgram(c *Compiler, s *Spec, l language) (Check, error) {
	text, ok := s.Value.(string)
	if !ok || value.TrimSpace(text) == "" {
		return nil, s.badValue("a text with " + l.name)
	}
	j, err := newScripted(c, s, l, text)
	switch {
	case err != nil:
		return nil, err
	case j.file:
		return &program{j}, nil
	}
	body := programBody(j.code, l)
	if err := j.compile(body.text, "output", "context"); err != nil {
		return nil, body.misread(err, l)
	}
	return &program{j}, nil
}

// programFile returns the file that a value names. A CSV file of cases drops
// file:// in front of Python files, and a bare file name is never a verdict.
func (c *Compiler) programFile(text string, l language) (string, bool) {
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		return name, true
	}
	file, _ := splitEntry(text)
	if l.id == "javascript" || LanguageOf(file) != l.id || strings.ContainsAny(text, " \t\n()\"'=,[]{}") {
		return "", false
	}
	_, err := c.readFile(file)
	return text, err == nil
}

// programText is an inline value in the form for the interpreter, and how far
// places in it are shifted from those in the value.
type programText struct {
	text     string
	lines    int  // lines added before the value
	columns  int  // columns added before its first line
	returned bool // the value is an expression that is returned
}

// programBody makes a function body from an inline value. The body for Ruby loads
// the library json; for Python the interpreter does that.
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
	second, err := p.context(ctx, s)
	if err != nil {
		return Finding{}, err
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
	return p.reported(f)
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
