package proviso

import (
	"context"
	"time"
)

// Code turns source text into functions. It is the only way to run JavaScript and
// Python: in process with QuickJS, or in sandboxed workers. Implementations are safe
// for concurrent use.
type Code interface {
	// Compile checks the syntax and returns a function. A syntax error is a
	// *ScriptError; a language that cannot be run here is a *Error with the code
	// Unavailable or Unsupported.
	Compile(ctx context.Context, src Source) (Function, error)
}

// Source is a piece of code and the way it becomes a function.
type Source struct {
	Language string // "javascript", "python" or "ruby"
	Name     string // file name for messages, or a description such as "assertion"
	Text     string
	Form     Form
	Params   []string      // parameter names of the function made from an Expression or Body
	Entry    string        // Module: the exported function; "" is the default one
	Timeout  time.Duration // limit for one call; 0 means the implementation's default
	Pointer  string        // place in the suite, for messages
	File     string        // file that Text was read from, under the suite's folder; "" if it is inline. Imports are resolved beside it
	Purpose  Purpose       // purpose of the code, which limits its permissions; 0 is Deciding
}

// Purpose is what a suite's code is used for. Code that decides about outputs needs only
// its arguments. Code that answers prompts or prepares a run may need the network.
type Purpose uint8

// The purposes, in order of increasing permissions.
const (
	Synthesised Purpose = iota + 1 // written by a model: it never gets any permission
	Deciding                       // assertions, transforms, scores, filters
	Acting                         // providers, hooks, and generators of prompts, cases and variables
)

// Form is how source text becomes a function.
type Form uint8

// The forms.
const (
	Expression Form = iota // one expression, whose value is returned
	Body                   // statements with an explicit return
	Module                 // a file whose export, Entry, is called
)

// Function is compiled code. It is safe for concurrent use. Calls do not see each
// other's changes to globals.
type Function interface {
	// Call runs the function and awaits promises and coroutines. An exception in the
	// code is a *ScriptError. An exceeded limit is a *Error with the code Limit or
	// Timeout. The result is a value of this package; a result without such a form (a
	// function, a symbol) is an *Opaque.
	Call(ctx context.Context, args ...any) (any, error)
	// Close frees the resources of the function. The code that compiled the function
	// must close it. Closing the engine that runs the function also closes it.
	Close() error
}

// Series is a [Function] that makes many calls faster than one by one.
type Series interface {
	Function
	// CallSeries makes one call per argument list, in order. It passes what Call would
	// return to each, on the caller's goroutine. each must not call code: that call may
	// wait for the end of the series.
	CallSeries(ctx context.Context, args [][]any, each func(i int, result any, err error))
}

// ScriptError is an exception of user code, or a syntax error in it.
type ScriptError struct {
	Name    string // such as "TypeError"
	Message string
	Stack   string
	Line    int // from 1 in the user's text; 0 if unknown
	Column  int
	Syntax  bool // the text did not compile
}

// Error returns name and message.
func (e *ScriptError) Error() string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}
