package check

import "github.com/proviso-eval/proviso"

// unsupported are promptfoo's types that this version cannot decide, with their
// requirements, sorted.
var unsupported = []struct {
	Type, Needs string
	Cell        proviso.CellForm
}{
	{"human", "a person", proviso.CellNone},
	{"pi", "a remote service", proviso.CellText},
}

// Unsupported returns the requirements of a promptfoo type that this version does not
// support; ok is false for any other type.
func Unsupported(base string) (needs string, ok bool) {
	for _, u := range unsupported {
		if u.Type == base {
			return u.Needs, true
		}
	}
	return "", false
}
