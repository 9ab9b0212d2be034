// Package pattern compiles regular expressions at their first use, so that commands
// that do not need them start faster. Start at [Of].
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is a regular expression that is compiled on first use. It is safe for concurrent
// use.
type Lazy struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// Of returns the regular expression; [Lazy.Get] panics if it is invalid.
func Of(expr string) *Lazy { return &Lazy{expr: expr} }

// Get returns the compiled expression.
func (p *Lazy) Get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// Matches reports whether the expression occurs in a text.
func (p *Lazy) Matches(text string) bool { return p.Get().MatchString(text) }
