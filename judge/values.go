package judge

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// What a variable holds may be meant for the judge. So the value of a variable never
// stands in the sentence of a criterion or an instruction: the sentence keeps a
// marker such as {{name}}, and the value stands in a part of its own, which the judge
// is told to take for material.

// validValues are values as they stand in a call. A value that is the same for the
// judge has the same text.
func validValues(values *proviso.Object) *proviso.Object {
	if values.Len() == 0 {
		return nil
	}
	o := proviso.NewObject(values.Len())
	for name, v := range values.All() {
		o.Set(validText(name), validText(proviso.ToString(v)))
	}
	return o
}

func validText(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

// nameValues gives markers other names where two assertions of the session use one
// name for different values, such as the variable of two loops.
func (s *session) nameValues() {
	all := proviso.NewObject(0)
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
