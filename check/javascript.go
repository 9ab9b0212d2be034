package check

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/jstoken"
	"github.com/proviso-eval/proviso/value"
)

// mustReturn is the message for a result that is not a verdict.
const mustReturn = "Custom function must return a boolean, number, or GradingResult object. Got type "

// javascript is an assertion that is decided by a function of the suite.
type javascript struct {
	scripted
	plain bool // the code does not look at context

	unread  *proviso.ScriptError // syntax error, if that fails each output; fn is nil then
	mistake *proviso.Error       // the same as a mistake
}

// newJavascript is `javascript`: an expression on one line, a function body on
// several, or a function of a file.
func newJavascript(c *Compiler, s *Spec) (Check, error) {
	text, ok := s.Value.(string)
	if !ok {
		return nil, s.badValue("a text with JavaScript")
	}
	j, err := newScripted(c, s, language{
		name: "JavaScript", id: "javascript", result: "Custom function", files: []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"},
	}, text)
	switch {
	case err != nil:
		return nil, err
	case j.file:
		return &javascript{scripted: j}, nil
	}
	j.code = strings.TrimRightFunc(j.code, value.IsSpace)
	body, inserted := scriptBody(j.code)
	err = j.compile(body, "output", "context", "process")
	made := &javascript{scripted: j, plain: ignoresContext(j.code)}
	var syntax *proviso.ScriptError
	switch {
	case err == nil:
	case !errors.As(err, &syntax) || !syntax.Syntax:
		return nil, err
	case !c.Lenient:
		return nil, misread(syntax, j.code, inserted)
	default:
		made.unread, made.mistake = syntax, misread(syntax, j.code, inserted)
	}
	return made, nil
}

// scriptBody makes a function body from an inline value, as promptfoo does, and
// returns where it inserted "return " (-1 if nowhere). Several lines are a body
// already. For declarations on one line, the last statement is returned. Anything
// else is returned as a whole, and must be an expression.
func scriptBody(code string) (body string, inserted int) {
	if strings.Contains(code, "\n") {
		return code, -1
	}
	code = strings.TrimRightFunc(code, value.IsSpace)
	code = strings.TrimRightFunc(strings.TrimRight(code, ";"), value.IsSpace)
	at := len(code) - len(strings.TrimLeftFunc(code, value.IsSpace))
	if declares(code[at:]) {
		at = lastStatement(code)
	}
	if at < 0 || at == len(code) && at > 0 {
		return code, -1
	}
	return code[:at] + "return " + code[at:], at
}

// declares reports whether code begins with const, let or var.
func declares(code string) bool {
	for _, keyword := range []string{"const", "let", "var"} {
		if rest, ok := strings.CutPrefix(code, keyword); ok && rest != strings.TrimLeftFunc(rest, value.IsSpace) {
			return true
		}
	}
	return false
}

// lastStatement returns the start of the text after the last semicolon outside of
// quotes, -1 if there is none. As in promptfoo, a quote after a backslash does not
// count, wherever it is.
func lastStatement(code string) int {
	last, backslashes := -1, 0
	var quote byte
	for i := range len(code) {
		c := code[i]
		if c == '\\' {
			backslashes++
			continue
		}
		if (c == '\'' || c == '"' || c == '`') && backslashes%2 == 0 {
			switch quote {
			case 0:
				quote = c
			case c:
				quote = 0
			}
		}
		if c == ';' && quote == 0 {
			last = i + 1
		}
		backslashes = 0
	}
	if last < 0 {
		return -1
	}
	return last + len(code[last:]) - len(strings.TrimLeftFunc(code[last:], value.IsSpace))
}

// misread reports a syntax error with its place in the value as written.
func misread(e *proviso.ScriptError, code string, inserted int) *proviso.Error {
	column := e.Column
	if e.Line == 1 && inserted >= 0 && column > inserted {
		column = max(column-len("return "), inserted+1)
	}
	message := "the JavaScript cannot be read: " + e.Message + " at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(column)
	if inserted >= 0 {
		message += advice(code[inserted:])
	}
	return &proviso.Error{Code: proviso.Invalid, Message: message}
}

// advice explains how to fix a statement on one line where an expression is expected.
func advice(code string) string {
	word, _ := jstoken.New(code).Next()
	switch code[word.Start:word.End] {
	case "return":
		return " (a single line is an expression: leave out return, or write the value on several lines)"
	case "if", "for", "while", "do", "switch", "try", "throw", "const", "let", "var":
		return " (a single line is an expression: write statements on several lines, with return)"
	}
	return ""
}

// thrownBy returns a syntax error in V8's wording, as far as that is known.
func thrownBy(e *proviso.ScriptError) string {
	if _, token, ok := strings.Cut(e.Message, "unexpected token in expression: "); ok {
		return "Unexpected token " + token
	}
	return e.Message
}

// ignoresContext reports whether code cannot use its second argument. The argument
// is then not built.
func ignoresContext(code string) bool {
	for _, way := range []string{"context", "arguments", "eval", `\u`} {
		if strings.Contains(code, way) {
			return false
		}
	}
	return true
}

// Decide implements [Check].
func (j *javascript) Decide(ctx context.Context, s *Subject) (Finding, error) {
	if j.unread != nil {
		return j.threw(thrownBy(j.unread), ""), nil
	}
	var second any = value.Undefined{}
	if !j.plain {
		var err error
		if second, err = j.context(ctx, s); err != nil {
			return Finding{}, err
		}
	}
	out, err := j.fn.Call(ctx, s.Value, second, value.Undefined{})
	thrown := exception(err)
	switch {
	case err == nil:
		return j.judge(out), nil
	case j.file:
		return Finding{}, proviso.Errorf(proviso.Undecided, "%s: %w", j.code, err)
	case thrown != nil:
		return j.threw(thrown.Message, thrown.Stack), nil
	}
	return Finding{}, err
}

// judge makes a finding from the function's result.
func (j *javascript) judge(out any) Finding {
	switch v := out.(type) {
	case bool:
		return j.truth(v)
	case float64:
		return j.number(v)
	case *value.Object:
		if f, ok := grading(v, j.Assertion, 0); ok {
			return j.reported(f)
		}
	default:
		if _, list := out.([]any); j.file && !list {
			return j.threw("Invariant failed: Javascript assertion script must return a boolean, number, or object ("+j.code+")", "")
		}
	}
	kind, text := shown(out)
	return j.threw(mustReturn+kind+": "+text, "")
}

// threw returns the finding for a script that did not return a verdict.
func (j *javascript) threw(message, stack string) Finding {
	reason := "Custom function threw error: " + message
	if stack != "" {
		reason += "\nStack Trace: " + strings.TrimRight(stack, "\n")
	}
	return Finding{Final: true, Threw: true, Reason: reason + "\n" + j.code}
}

// shown returns the typeof of a value and its JSON text.
func shown(v any) (kind, text string) {
	switch v := v.(type) {
	case string:
		return "string", value.Stringify(v)
	case value.Undefined:
		return "undefined", "undefined"
	case *value.Opaque:
		return v.Kind, "undefined"
	}
	return "object", value.Stringify(v)
}

// maxComponents limits the nesting of components in a reported result.
const maxComponents = 100

// namedScores reads the scores that a script reported, each with its weight.
func namedScores(scores *value.Object, weights any) []proviso.NamedScore {
	var named []proviso.NamedScore
	given, _ := weights.(*value.Object)
	for name, v := range scores.All() {
		n, ok := v.(float64)
		if !ok {
			continue
		}
		weight := 1.0
		if w, ok := given.At(name).(float64); ok {
			weight = w
		}
		named = append(named, proviso.NamedScore{Name: name, Value: n, Weight: weight})
	}
	return named
}

// grading reads a verdict that a script reported as an object: {pass, score, reason,
// namedScores, componentResults}. It returns false if o is not a verdict.
func grading(o *value.Object, a *proviso.Assertion, depth int) (Finding, bool) {
	pass, passOK := o.At("pass").(bool)
	score, scoreOK := o.At("score").(float64)
	reason, reasonOK := o.At("reason").(string)
	if !passOK || !scoreOK || !reasonOK || depth > maxComponents {
		return Finding{}, false
	}
	f := Finding{Pass: pass, Score: score, Reason: reason}
	if named, ok := o.Get("namedScores"); ok && !absent(named) {
		scores, ok := named.(*value.Object)
		if !ok {
			return Finding{}, false
		}
		f.Named = namedScores(scores, o.At("namedScoreWeights"))
	}
	if parts, ok := o.Get("componentResults"); ok && !absent(parts) {
		list, ok := parts.([]any)
		if !ok {
			return Finding{}, false
		}
		for _, part := range list {
			if p, ok := part.(*value.Object); ok {
				f.Components = appendComponent(f.Components, p, a, depth+1)
			}
		}
	}
	return f, true
}

// appendComponent adds one component of a reported result. One that names no
// assertion belongs to the script.
func appendComponent(list []proviso.Verdict, o *value.Object, a *proviso.Assertion, depth int) []proviso.Verdict {
	f, ok := grading(o, a, depth)
	if !ok {
		return list
	}
	if own, ok := o.At("assertion").(*value.Object); ok {
		a = assertion.Of(own, "")
	}
	v := proviso.Verdict{Assertion: a, Status: proviso.Fail, Score: f.Score, Reason: f.Reason, Named: f.Named, Components: f.Components}
	if f.Pass {
		v.Status = proviso.Pass
	}
	return append(list, v)
}

func absent(v any) bool {
	_, undefined := v.(value.Undefined)
	return undefined
}
