// Package mathjs evaluates the expressions of derived metrics. Start at [New].
//
// Arithmetic on numbers, the most common case, is done in Go ([arithmetic.go]).
// mathjs 15.2.0 does the rest, in JavaScript under limits of time and memory. The
// results are the same. Loading mathjs takes about a quarter of a second, once,
// with the first expression that needs it.
package mathjs

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for the JavaScript source
	"errors"
	"io"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

//go:embed mathjs.js.gz
var bundle []byte

//go:embed engine.js
var engineSource string

// maxLength bounds an expression, in bytes.
const maxLength = 64 << 10

// Options bound an engine. The zero value works.
type Options struct {
	// Timeout bounds one evaluation; 0 means one second.
	Timeout time.Duration
	// Memory bounds the JavaScript engine, in bytes; 0 means 64 MiB.
	Memory int64
}

// Engine evaluates expressions. It is safe for concurrent use.
type Engine struct{ library *script.Library }

// New returns an engine. It does not start JavaScript; see [Engine.Close].
func New(o Options) *Engine {
	return &Engine{script.NewLibrary(script.LibraryOptions{
		Name:    "mathjs",
		Program: program,
		Timeout: o.Timeout,
		Memory:  o.Memory,
		MaxVMs:  1, // loading costs more than evaluating in parallel saves
	})}
}

// Close frees the JavaScript engine, if it was started.
func (e *Engine) Close() error { return e.library.Close() }

// program is compiled once for all engines.
var program = script.NewProgram(source)

// source is the JavaScript that the engine runs at its start. The bundle is
// embedded in the program, so a read error is not expected; it would show as a
// mistake in the source.
func source() string {
	z, err := gzip.NewReader(bytes.NewReader(bundle))
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return err.Error()
	}
	return string(text) + engineSource
}

// Check reports a syntax mistake in expr, as a *[proviso.Error] with the code
// Invalid and mathjs' message. It cannot know which names the scope will have.
func (e *Engine) Check(expr string) error {
	if _, ok := arithmetic(expr, nil); ok {
		return nil
	}
	if err := tooLong(expr); err != nil {
		return err
	}
	_, err := e.library.Call(context.Background(), "checkExpression", expr)
	return wrap(proviso.Invalid, err)
}

// Eval evaluates expr with the members of scope as variables. The result is a
// number (NaN and infinities included), a boolean, a text, nil, a list (for
// matrices, too), an object, or a *[value.Opaque] for a function; units and complex
// numbers are texts. The error is a *[proviso.Error]: its code is Undecided if
// mathjs refuses the expression, for example for an unknown name, and Timeout or
// Limit if evaluation exceeds a limit.
func (e *Engine) Eval(ctx context.Context, expr string, scope *value.Object) (any, error) {
	if scope == nil {
		scope = &value.Object{}
	}
	if v, ok := arithmetic(expr, scope); ok {
		return v, nil
	}
	if err := tooLong(expr); err != nil {
		return nil, err
	}
	v, err := e.library.Call(ctx, "evaluateExpression", expr, scope)
	return v, wrap(proviso.Undecided, err)
}

func tooLong(expr string) error {
	if len(expr) <= maxLength {
		return nil
	}
	return proviso.Errorf(proviso.Limit, "the expression is longer than %d bytes", maxLength)
}

// wrap adds a code to an exception.
func wrap(code string, err error) error {
	var known *proviso.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return proviso.Errorf(code, "expression: %w", err)
}
