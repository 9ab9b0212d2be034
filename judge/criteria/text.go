package criteria

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Text lists templates with their parameters for a person.
func Text(list []Template) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n    %s\n", t.Name, t.Doc)
		for _, p := range t.Params {
			fmt.Fprintf(&b, "    %-12s %s\n", p.Name, p.Text())
		}
		if len(t.OneOf) > 0 {
			fmt.Fprintf(&b, "    exactly one of %s\n", strings.Join(t.OneOf, ", "))
		}
	}
	return b.String()
}

// Text returns the type and the valid values of a parameter, and its doc.
func (p Param) Text() string {
	kind := p.Type
	switch {
	case len(p.Values) > 0:
		kind = strings.Join(p.Values, " | ")
	case p.Min != nil:
		kind += " from " + value.FormatNumber(*p.Min)
	}
	switch {
	case p.Required:
		kind += ", required"
	case p.Default != nil:
		kind += ", default " + value.Stringify(p.Default)
	}
	return fmt.Sprintf("(%s) %s", kind, p.Doc)
}
