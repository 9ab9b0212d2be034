package rules

import (
	"regexp"
	"sync"
)

// lazyPattern is a regular expression that is compiled on first use, so that commands
// that do not need it start faster.
type lazyPattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func pattern(expr string) *lazyPattern { return &lazyPattern{expr: expr} }

func (p *lazyPattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// compiled compiles a pattern that ignores case.
func compiled(expr string) *regexp.Regexp { return regexp.MustCompile("(?i)" + expr) }
