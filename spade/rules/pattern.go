package rules

import "regexp"

// compiled compiles a pattern that ignores case.
func compiled(expr string) *regexp.Regexp { return regexp.MustCompile("(?i)" + expr) }
