package proviso

import (
	"context"
	"time"
)

// Code turns source text into functions. It is the only way to JavaScript and
// Python: in process it is QuickJS, in workers the sandbox. Implementations are
// safe for concurrent use.
type Code interface {
	// Compile checks the syntax and returns a function. A syntax error is a
	// *ScriptError; a language that cannot be run here is a *Error with the code
	// Unavailable or Unsupported.
	Compile(ctx context.Context, src Source) (Function, error)
}

// Source is a piece of code and how it becomes a function.
type Source struct {
	Language string // "javascript", "python" or "ruby"
	Name     string // file name for messages, or what the text is, such as "assertion"
	Text     string
	Form     Form
	Params   []string      // parameter names of the function made of an Expression or Body
	Entry    string        // Module: the exported function; "" is the default one
	Timeout  time.Duration // for one call; 0 means the implementation's default
	Pointer  string        // where the suite says it, for messages
	File     string        // file that Text was read from, under the suite's folder; "" if it is inline. Imports are found beside it
	Purpose  Purpose       // what the code is for, which bounds what it may be granted; 0 is Deciding
}

// Purpose says what code of a suite is for. What decides about outputs needs
// nothing but its arguments; what answers or prepares a run may need the network.
type Purpose uint8

// The purposes, from the least that may be granted to the most.
const (
	Synthesised Purpose = iota + 1 // a model wrote it: it is granted nothing, ever
	Deciding                       // assertions, transforms, scores, filters
	Acting                         // providers, hooks, and generators of prompts, cases and variables
)

// Form says how source text becomes a function.
type Form uint8

// The forms.
const (
	Expression Form = iota // one expression, whose value is returned
	Body                   // statements with an explicit return
	Module                 // a file whose export, Entry, is called
)

// Function is compiled code. It is safe for concurrent use; calls do not see
// each other's changes to globals.
type Function interface {
	// Call runs the function; promises and coroutines are awaited. What the code
	// throws is a *ScriptError. A limit is a *Error with the code Limit or
	// Timeout. The result is a value of this package; what has none (functions,
	// symbols) is an *Opaque.
	Call(ctx context.Context, args ...any) (any, error)
	// Close frees the resources of the function. The code that compiled it must close
	// it; closing the engine that runs it also closes it.
	Close() error
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

// Opaque is a result that is no data, such as a function.
type Opaque struct {
	Kind string // what JavaScript's typeof, or Python's type, calls it
}
