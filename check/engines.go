package check

import (
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/internal/sqlparser"
)

// Engines match patterns and parse SQL for any number of compilers. Each starts
// when it is first needed, takes memory from then on, and keeps it until Close.
// Whoever makes engines closes them. They are safe for concurrent use.
type Engines struct {
	patterns *regex.Engine
	sql      sqlparser.Parser
}

// NewEngines returns engines that have not started.
func NewEngines() *Engines { return &Engines{patterns: regex.New(regex.Options{})} }

// Close frees what the engines hold. Nothing may use them any more.
func (e *Engines) Close() error { return errors.Join(e.patterns.Close(), e.sql.Close()) }

// Close frees the scripts that were compiled, and the engines unless they came
// with the options. Nothing that was compiled may be used any more.
func (c *Compiler) Close() error {
	c.mu.Lock()
	var compiled []proviso.Function
	for _, f := range c.functions {
		if <-f.done; f.fn != nil {
			compiled = append(compiled, f.fn)
		}
	}
	clear(c.functions)
	c.mu.Unlock()
	var errs []error
	for _, fn := range compiled {
		errs = append(errs, fn.Close())
	}
	if c.own {
		errs = append(errs, c.Engines.Close())
	}
	return errors.Join(errs...)
}
