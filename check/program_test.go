package check_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// returning returns a compiler like c whose interpreter for other languages than
// JavaScript returns the result of a fixture: a value under returns, an exception
// under throws, or an error with a code under error.
func returning(c *check.Compiler, rec fixture) *check.Compiler {
	o := c.Options
	o.Code = &interpreter{Code: c.Code, result: func(...any) (any, error) {
		if e, ok := rec.At("throws").(*value.Object); ok {
			name, _ := e.At("name").(string)
			message, _ := e.At("message").(string)
			stack, _ := e.At("stack").(string)
			return nil, &proviso.ScriptError{Name: name, Message: message, Stack: stack}
		}
		if code, ok := rec.At("error").(string); ok {
			return nil, proviso.Errorf(code, "it did not run")
		}
		return revive(rec.At("returns")), nil
	}}
	return check.New(o)
}

// revive replaces objects that name values without a JSON form by these values.
func revive(v any) any {
	o, _ := v.(*value.Object)
	if kind, ok := o.At("$opaque").(string); ok {
		return &value.Opaque{Kind: kind}
	}
	switch o.At("$js") {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	}
	return v
}

// interpreter is a proviso.Code in which every function of Python and Ruby gives
// the same result.
type interpreter struct {
	proviso.Code
	result  func(args ...any) (any, error)
	sources []proviso.Source
	broken  error
}

func (i *interpreter) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if src.Language == "javascript" && i.Code != nil {
		return i.Code.Compile(ctx, src)
	}
	i.sources = append(i.sources, src)
	return called(i.result), i.broken
}

// called is a Go function in place of code.
type called func(args ...any) (any, error)

func (f called) Call(_ context.Context, args ...any) (any, error) { return f(args...) }
func (called) Close() error                                       { return nil }

func withInterpreter(i *interpreter) *check.Compiler {
	return check.New(check.Options{Code: i, Templates: template.New(template.Options{}), Files: dirFiles("testdata")})
}

// TestProgramSource checks the source that an interpreter receives for an inline
// value, and for a file.
func TestProgramSource(t *testing.T) {
	t.Parallel()
	tests := []struct{ kind, value, text, entry, file string }{
		{"python", "True", "return True", "", ""},
		{"python", "'a' in output", "return 'a' in output", "", ""},
		{"python", "n = 1\nreturn n", "n = 1\nreturn n", "", ""},
		{"python", "json.loads(output)", "return json.loads(output)", "", ""},
		{"python", "file://check.py", "", "get_assert", "check.py"},
		{"python", "file://check.py:length", "", "length", "check.py"},
		{"python", "check.py:length", "", "length", "check.py"}, // the form of a table of cases
		{"python", "check.pyx", "return check.pyx", "", ""},
		{"ruby", "output.length", "return output.length", "", ""},
		{"ruby", "x = JSON.parse(output)\nx", "require 'json'\nx = JSON.parse(output)\nx", "", ""},
		{"ruby", "JSON.parse(output)", "require 'json'; return JSON.parse(output)", "", ""},
		{"ruby", "file://check.rb", "", "get_assert", "check.rb"},
	}
	for _, tt := range tests {
		i := &interpreter{result: func(...any) (any, error) { return true, nil }}
		v := withInterpreter(i).Decide(t.Context(), &proviso.Assertion{Type: tt.kind, Value: tt.value}, &check.Row{Output: &proviso.Output{Value: "x"}})
		if v.Status != proviso.Pass || len(i.sources) != 1 {
			t.Errorf("%q: %v (%s), compiled %d times", tt.value, v.Status, v.Reason, len(i.sources))
			continue
		}
		src := i.sources[0]
		if src.Entry != tt.entry || src.File != tt.file || tt.file == "" && src.Text != tt.text || src.Language != tt.kind || src.Purpose != proviso.Deciding {
			t.Errorf("%q: got %q, entry %q, file %q", tt.value, src.Text, src.Entry, src.File)
		}
		if tt.file != "" && !strings.Contains(src.Text, "get_assert") {
			t.Errorf("%q: the file is not what is compiled: %q", tt.value, src.Text)
		}
	}
}

// TestProgramMistakes: mistakes are found before anything is decided, with their place.
func TestProgramMistakes(t *testing.T) {
	t.Parallel()
	syntax := func(line, column int) error {
		return &proviso.ScriptError{Name: "SyntaxError", Message: "invalid syntax", Syntax: true, Line: line, Column: column}
	}
	tests := []struct {
		value  any
		kind   string
		broken error
		code   string
		want   string
	}{
		{"retrun x", "python", syntax(1, 15), proviso.Invalid, "at line 1, column 8 (a single line is an expression"},
		{"x = 1\ny = (\nreturn x", "python", syntax(2, 5), proviso.Invalid, "invalid syntax at line 2, column 5"},
		{"JSON.parse(", "ruby", syntax(1, 34), proviso.Invalid, "at line 1, column 11"},
		{"x = JSON\ny = (\nx", "ruby", syntax(3, 5), proviso.Invalid, "invalid syntax at line 2, column 5"},
		{"file://check.py", "python", syntax(3, 5), proviso.Invalid, "check.py:3:5: SyntaxError: invalid syntax"},
		{"file://check.py", "python", &proviso.ScriptError{Name: "ModuleNotFoundError", Message: "No module named 'numpy'", Line: 1}, proviso.Unavailable, "check.py:1: ModuleNotFoundError: No module named 'numpy'"},
		{"file://check.py", "python", proviso.Errorf(proviso.Unavailable, "python is not installed"), proviso.Unavailable, "check.py: python is not installed"},
		{"file://none.py", "python", nil, proviso.Invalid, "none.py"},
		{"file://check.rb", "python", nil, proviso.Invalid, "check.rb is not a Python file"},
		{"file://check.py", "ruby", nil, proviso.Invalid, "check.py is not a Ruby file"},
		{3.0, "python", nil, proviso.Invalid, `"python" needs a text with Python as its value, found a number`},
		{" ", "ruby", nil, proviso.Invalid, `"ruby" needs a text with Ruby`},
		{value.Undefined{}, "python", nil, proviso.Invalid, "found none"},
	}
	for _, tt := range tests {
		i := &interpreter{result: func(...any) (any, error) { return true, nil }, broken: tt.broken}
		_, mistakes := withInterpreter(i).Compile([]*proviso.Assertion{{Type: tt.kind, Value: tt.value, Pointer: "/a"}})
		if len(mistakes) != 1 || mistakes[0].Code != tt.code || !strings.Contains(mistakes[0].Error(), tt.want) || mistakes[0].Pointer != "/a/value" {
			t.Errorf("%v: got %v, want %q", tt.value, mistakes, tt.want)
		}
	}
	c := check.New(check.Options{Files: dirFiles("testdata")})
	_, mistakes := c.Compile([]*proviso.Assertion{{Type: "python", Value: "True"}, {Type: "python", Value: "file://check.py"}})
	if len(mistakes) != 2 || mistakes[0].Code != proviso.Unavailable || mistakes[1].Code != proviso.Unavailable {
		t.Errorf("without an interpreter: %v", mistakes)
	}
}

// TestProgramArguments checks the arguments of the code.
func TestProgramArguments(t *testing.T) {
	t.Parallel()
	var got []any
	i := &interpreter{result: func(args ...any) (any, error) { got = args; return true, nil }}
	row := &check.Row{Output: &proviso.Output{Value: []any{1.0}}, Prompt: "p", HasPrompt: true, Vars: value.ObjectOf("a", 1.0)}
	withInterpreter(i).Decide(t.Context(), &proviso.Assertion{Type: "python", Value: "True", Config: value.ObjectOf("min", 2.0)}, row)
	if len(got) != 2 {
		t.Fatalf("called with %v", got)
	}
	context := got[1].(*value.Object)
	if value.Stringify(got[0]) != "[1]" || context.At("prompt") != "p" || context.At("vars") != any(row.Vars) || context.At("config").(*value.Object).At("min") != 2.0 {
		t.Errorf("called with %s, %s", value.Stringify(got[0]), value.Stringify(context))
	}
}

// TestScriptsOfOtherLanguages covers values, transforms and scores in Python.
func TestScriptsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	result := any("x")
	var err error
	i := &interpreter{result: func(...any) (any, error) { return result, err }}
	c := withInterpreter(i)
	row := &check.Row{Output: &proviso.Output{Value: "x"}}
	val := &proviso.Assertion{Type: "equals", Value: "file://check.py"}
	if v := c.Decide(t.Context(), val, row); v.Status != proviso.Pass || i.sources[0].Entry != "get_assert" {
		t.Errorf("value: %v (%s), entry %q", v.Status, v.Reason, i.sources[0].Entry)
	}
	for _, wrong := range []any{true, nil, &value.Opaque{Kind: "coroutine"}, value.ObjectOf("pass_", true)} {
		result = wrong
		if v := c.Decide(t.Context(), val, row); v.Status != proviso.Errored {
			t.Errorf("value %v: %v (%s)", wrong, v.Status, v.Reason)
		}
	}
	result = 7.0
	tr, compileErr := c.Transform("file://check.py")
	if compileErr != nil || i.sources[1].Entry != "get_transform" {
		t.Fatalf("transform: %v, entry %q", compileErr, i.sources[1].Entry)
	}
	if v, err := tr.Apply(t.Context(), "x", row); v != 7.0 || err != nil {
		t.Errorf("transform: %v, %v", v, err)
	}
	set, _ := c.Compile([]*proviso.Assertion{{Type: "equals", Value: "x", Metric: "m"}})
	if err := c.UseScoring(set, "file://check.py"); err != nil || i.sources[2].Entry != "func" {
		t.Fatalf("scoring: %v, entry %q", err, i.sources[2].Entry)
	}
	result = value.ObjectOf("pass_", true, "score", 0.25, "reason", "mine", "named_scores", value.ObjectOf("own", 3.0))
	verdicts := set.Eval(t.Context(), row)
	if a := set.Aggregate(t.Context(), row, verdicts, nil); a.Status != proviso.Pass || a.Score != 0.25 || a.Reason != "mine" || len(a.Named) != 1 || a.Named[0].Name != "own" {
		t.Errorf("scoring: %+v", a)
	}
	err = &proviso.ScriptError{Name: "KeyError", Message: "'x'"}
	if a := set.Aggregate(t.Context(), row, verdicts, nil); a.Status != proviso.Fail || a.Reason != "Scoring function error: KeyError: 'x'" {
		t.Errorf("scoring that throws: %+v", a)
	}
	broken := []proviso.Verdict{{Assertion: &proviso.Assertion{Type: "equals"}, Status: proviso.Fail}, {Assertion: &proviso.Assertion{Type: "cost"}, Reason: "no cost"}}
	if a := set.Aggregate(t.Context(), row, broken, nil); a.Status != proviso.Errored || a.Unscored || a.Reason != "no cost" {
		t.Errorf("scoring decides alone, so that nothing is certain while something is undecided: %+v", a)
	}
	err = proviso.Errorf(proviso.Timeout, "it took too long")
	if a := set.Aggregate(t.Context(), row, verdicts, nil); a.Status != proviso.Errored {
		t.Errorf("scoring that takes too long: %+v", a)
	}
}

// TestRefusedCode: refused code does not decide about the output, regardless of its
// exception.
func TestRefusedCode(t *testing.T) {
	t.Parallel()
	i := &interpreter{result: func(...any) (any, error) {
		return nil, proviso.Because(&proviso.ScriptError{Name: "PermissionError", Message: "x"}, proviso.Refused, "blocked by the sandbox: open('x')")
	}}
	v := withInterpreter(i).Decide(t.Context(), &proviso.Assertion{Type: "not-python", Value: "open('x')"}, &check.Row{Output: &proviso.Output{Value: "x"}})
	if v.Status != proviso.Errored || v.Reason != "blocked by the sandbox: open('x')" {
		t.Errorf("got %v (%s)", v.Status, v.Reason)
	}
}

// TestFailedCompilation: compilation is tried again the next time.
func TestFailedCompilation(t *testing.T) {
	t.Parallel()
	i := &interpreter{result: func(...any) (any, error) { return true, nil }, broken: errors.New("not yet")}
	c := withInterpreter(i)
	a := &proviso.Assertion{Type: "python", Value: "True"}
	row := &check.Row{Output: &proviso.Output{Value: "x"}}
	if v := c.Decide(t.Context(), a, row); v.Status != proviso.Errored {
		t.Errorf("got %v", v.Status)
	}
	i.broken = nil
	for range 2 {
		if v := c.Decide(t.Context(), a, row); v.Status != proviso.Pass {
			t.Errorf("got %v (%s)", v.Status, v.Reason)
		}
	}
	if len(i.sources) != 2 {
		t.Errorf("compiled %d times, want 2", len(i.sources))
	}
}
