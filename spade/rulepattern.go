package spade

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: what is
// linked into every command does nothing when it starts.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// compiled compiles a pattern that ignores case.
func compiled(expr string) *regexp.Regexp { return regexp.MustCompile("(?i)" + expr) }
