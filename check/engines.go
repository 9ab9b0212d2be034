package check

import (
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/internal/sqlparser"
)

// Engines match patterns and parse SQL for any number of compilers. Each engine
// starts at its first use and keeps its memory until Close. The creator must close
// them. They are safe for concurrent use.
type Engines struct {
	patterns *regex.Engine
	sql      sqlparser.Parser
}

// NewEngines returns engines. They start at their first use.
func NewEngines() *Engines { return &Engines{patterns: regex.New(regex.Options{})} }

// Close frees the engines. They must not be used afterwards.
func (e *Engines) Close() error { return errors.Join(e.patterns.Close(), e.sql.Close()) }

// Close frees the compiled scripts, and the engines unless the options provided them.
// Compiled assertions must not be used afterwards.
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
