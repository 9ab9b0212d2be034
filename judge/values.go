package judge

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// The value of a variable may contain a prompt injection. So it is never inserted into
// the text of a criterion or an instruction: the text keeps a marker such as {{name}},
// and the value is in a separate part of the prompt, which the judge must treat as
// material.

// validValues returns values as valid texts for a call.
func validValues(values *value.Object) *value.Object {
	if values.Len() == 0 {
		return nil
	}
	o := value.NewObject(values.Len())
	for name, v := range values.All() {
		o.Set(validText(name), validText(value.ToString(v)))
	}
	return o
}

func validText(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

// nameValues renames markers if two assertions of the session use the same name for
// different values, such as the variable of two loops.
func (s *session) nameValues() {
	all := value.NewObject(0)
	for n := range s.items {
		it := &s.items[n]
		if it.values.Len() == 0 {
			continue
		}
		named, rename := check.Distinct(it.values, all)
		it.values, it.instruction = named, rename.Replace(it.instruction)
		for k, text := range it.texts {
			it.texts[k] = rename.Replace(text)
		}
	}
}
