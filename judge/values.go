package judge

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
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
	given := map[string]string{}
	for n := range s.items {
		it := &s.items[n]
		if it.values == nil {
			continue
		}
		renamed := proviso.NewObject(it.values.Len())
		var pairs []string
		for name, v := range it.values.All() {
			value, _ := v.(string)
			unique := name
			for i := 2; ; i++ {
				if old, taken := given[unique]; !taken || old == value {
					break
				}
				unique = name + " " + strconv.Itoa(i)
			}
			given[unique] = value
			renamed.Set(unique, value)
			if unique != name {
				pairs = append(pairs, "{{"+name+"}}", "{{"+unique+"}}")
			}
		}
		it.values = renamed
		if len(pairs) == 0 {
			continue
		}
		other := strings.NewReplacer(pairs...)
		it.instruction = other.Replace(it.instruction)
		for k := range it.texts {
			it.texts[k] = other.Replace(it.texts[k])
		}
	}
}
