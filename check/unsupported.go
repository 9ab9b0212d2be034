package check

import "slices"

// unsupported are promptfoo's types that this version cannot decide, with what
// they need, sorted.
var unsupported = []struct{ Type, Needs string }{
	{"human", "a person"},
	{"pi", "a remote service"},
}

// Unsupported returns what a type of promptfoo that this version does not have
// would need; ok is false for any other type.
func Unsupported(base string) (needs string, ok bool) {
	i := slices.IndexFunc(unsupported, func(u struct{ Type, Needs string }) bool { return u.Type == base })
	if i < 0 {
		return "", false
	}
	return unsupported[i].Needs, true
}
