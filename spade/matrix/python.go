package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
)

// pythonTryer runs a Python function with no grants other than installed packages.
type pythonTryer struct {
	fn       proviso.Function
	not      bool
	packages bool // packages are granted
}

// compilePython prepares the function of a candidate. Where Python cannot run at all,
// the mistake has the code Unavailable or Unsupported.
func (p *trying) compilePython(ctx context.Context, a *proviso.Assertion, f python.Function) (tryer, []*proviso.Error) {
	if p.o.Code == nil {
		return nil, []*proviso.Error{proviso.Errorf(proviso.Unavailable, "Python is not available")}
	}
	fn, err := p.o.Code.Compile(ctx, proviso.Source{
		Language: "python", Name: "candidate", Text: f.Text, Form: proviso.Module, Entry: f.Entry, Pointer: a.Pointer, Purpose: proviso.Synthesised,
	})
	if err == nil {
		return &pythonTryer{fn: fn, not: strings.HasPrefix(a.Type, "not-"), packages: p.o.Packages}, nil
	}
	var known *proviso.Error
	var script *proviso.ScriptError
	switch {
	case errors.As(err, &script):
		return nil, []*proviso.Error{proviso.Errorf(proviso.Invalid, "the Python cannot be read: %s at line %d", script.Error(), script.Line)}
	case errors.As(err, &known):
		return nil, []*proviso.Error{known}
	}
	return nil, []*proviso.Error{proviso.Errorf(proviso.Unavailable, "%v", err)}
}

func (t *pythonTryer) close() { _ = t.fn.Close() }

// seriesTryer decides one candidate on many outputs faster than one by one. It calls each in
// order.
type seriesTryer interface {
	trySeries(ctx context.Context, rows []*batchRow, each func(i int, s said))
}

func (t *pythonTryer) trySeries(ctx context.Context, rows []*batchRow, each func(i int, s said)) {
	series, ok := t.fn.(proviso.Series)
	if !ok {
		for i, r := range rows {
			each(i, t.try(ctx, &r.trial, r.row))
		}
		return
	}
	args := make([][]any, len(rows))
	for i, r := range rows {
		args[i] = []any{r.row.Vars, r.trial.Prompt, r.trial.Text()}
	}
	series.CallSeries(ctx, args, func(i int, out any, err error) { each(i, t.said(out, err)) })
}

// try calls the function.
func (t *pythonTryer) try(ctx context.Context, trial *trial.Trial, row *check.Row) said {
	return t.said(t.fn.Call(ctx, row.Vars, trial.Prompt, trial.Text()))
}

// said converts the result of a call. An exception is a fail, as in the paper and for every
// script; so is a result other than True or False.
func (t *pythonTryer) said(out any, err error) said {
	var thrown *proviso.ScriptError
	switch {
	case errors.As(err, &thrown) && (thrown.Name == "ModuleNotFoundError" || thrown.Name == "ImportError"):
		return said{cell: Undecided, reason: thrown.Error() + t.missing()} // the function gave no result
	case errors.As(err, &thrown) && thrown.Name == "TypeError" && strings.HasSuffix(thrown.Message, notJSON):
		return said{cell: Failed, threw: true, reason: "it returned something that is neither True nor False: " + thrown.Message}
	case errors.As(err, &thrown):
		return said{cell: Failed, threw: true, reason: thrown.Error()}
	case err != nil:
		return said{cell: Undecided, reason: err.Error()}
	}
	good, ok := out.(bool)
	if !ok {
		return said{cell: Failed, threw: true, reason: fmt.Sprintf("it returned %s, which is neither True nor False", python.ResultKind(out))}
	}
	if good != t.not {
		return said{cell: Passed}
	}
	return said{cell: Failed}
}

// notJSON ends Python's error message for a result that is not JSON, such as the match of a
// pattern.
const notJSON = "is not JSON serializable"

// missing explains how to make a missing module available.
func (t *pythonTryer) missing() string {
	if t.packages {
		return "; the package is not installed for this Python"
	}
	return "; installed packages need --grant packages"
}

// Synthesised runs code without any grants, whatever its purpose. It is for candidates,
// because a model may have written them.
func Synthesised(code proviso.Code) proviso.Code { return synthesised{code} }

type synthesised struct{ proviso.Code }

// Compile compiles src as code written by a model.
func (s synthesised) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	src.Purpose = proviso.Synthesised
	return s.Code.Compile(ctx, src)
}

// Wrong is a mistake that was found when a candidate was compiled.
type Wrong struct {
	Name    string         // name of the candidate
	Err     *proviso.Error // its pointer is into the file of candidates; "" if unknown
	Nearest string         // the valid name that was probably meant; "" if none is near
}

// InvalidError is the error of [Try] if candidates cannot be tried at all. It holds all of
// their mistakes and has the code Invalid.
type InvalidError struct{ Wrong []Wrong }

// Error lists each candidate with its mistake, one per line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Wrong))
	for i, w := range e.Wrong {
		lines[i] = proviso.Mistake{Message: w.Name + ": " + w.Err.Error(), Nearest: w.Nearest}.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes as one error.
func (e *InvalidError) Unwrap() error { return proviso.Errorf(proviso.Invalid, "%s", e.Error()) }

// nearestOf returns the valid name that was probably meant by the type of an assertion, or by
// the key that a mistake points at.
func nearestOf(a *proviso.Assertion, e *proviso.Error) string {
	name := strings.TrimSuffix(e.Pointer, "#")
	name = name[strings.LastIndex(name, "/")+1:]
	if name == "type" || name == "" {
		name = a.Type
	}
	return format.Near(name, e.Valid)
}
