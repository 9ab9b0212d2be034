package matrix

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Wrong is a mistake in a candidate that is found when it is compiled.
type Wrong struct {
	Name    string         // of the candidate
	Err     *proviso.Error // its pointer is that of the file of the candidates; "" if unknown
	Nearest string         // the valid name that was probably meant; "" if none is near
}

// InvalidError is the error of [Try] if candidates cannot be tried at all. It has all of
// their mistakes, and the code Invalid.
type InvalidError struct{ Wrong []Wrong }

// Error names each candidate with its mistake, in a line each.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Wrong))
	for i, w := range e.Wrong {
		lines[i] = w.Name + ": " + w.Err.Error()
		if w.Nearest != "" {
			lines[i] += " (did you mean " + value.Stringify(w.Nearest) + "?)"
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes as one error.
func (e *InvalidError) Unwrap() error { return proviso.Errorf(proviso.Invalid, "%s", e.Error()) }

// nearestOf returns the valid name that was meant by the type of an assertion, or by the
// key that a mistake points at.
func nearestOf(a *proviso.Assertion, e *proviso.Error) string {
	name := strings.TrimSuffix(e.Pointer, "#")
	name = name[strings.LastIndex(name, "/")+1:]
	if name == "type" || name == "" {
		name = a.Type
	}
	if near := document.Nearest(name, e.Valid); near != "" {
		return near
	}
	for _, v := range e.Valid { // a name of which only the beginning was given
		if len(name) > 3 && strings.HasPrefix(v, name) {
			return v
		}
	}
	return ""
}
