// Package mathjs evaluates the expressions of derived metrics. Start at [New].
//
// Arithmetic on numbers, which is most of what people write, is done in Go
// ([arithmetic.go]); all else by mathjs 15.2.0, in JavaScript under limits of time
// and memory. The results are the same. Loading mathjs takes about a quarter of
// a second, once, with the first expression that needs it.
package mathjs

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for the JavaScript
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

// New returns an engine. It does no work; see [Engine.Close].
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

// source is what the JavaScript engine starts with. The bundle is part of the
// program: that it cannot be read is not expected, and would show as a mistake
// in the source.
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

// Check reports a mistake in the syntax of expr, as a *[proviso.Error] with the
// code Invalid and mathjs' message. It cannot know which names will be there.
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
// matrices, too), an object, or a *[value.Opaque] for a function; units and
// complex numbers are texts. The error is a *[proviso.Error] with the code
// Undecided for what mathjs refuses, such as an unknown name, and with the code
// Timeout or Limit for what takes too much.
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

// wrap gives an exception a code.
func wrap(code string, err error) error {
	var known *proviso.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return proviso.Errorf(code, "expression: %w", err)
}
