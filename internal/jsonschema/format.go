package jsonschema

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// format is one format of ajv-formats ("full").
type format struct {
	name    string
	text    func(string) bool             // nil if strings are not checked
	number  func(float64) bool            // nil if numbers are not checked
	compare func(a, b string) (int, bool) // nil if the format has no order
}

// formatNamed returns the format with a name; false if there is none.
func formatNamed(name string) (format, bool) {
	f := format{name: name}
	switch name {
	case "date":
		f.text, f.compare = isDate, compareDate
	case "time":
		f.text, f.compare = isTime, compareTime
	case "date-time":
		f.text, f.compare = isDateTime, compareDateTime
	case "iso-time":
		f.text, f.compare = isISOTime, compareISOTime
	case "iso-date-time":
		f.text, f.compare = isISODateTime, compareISODateTime
	case "duration":
		f.text = isDuration
	case "uri":
		f.text = isURI
	case "uri-reference":
		f.text = isURIReference
	case "url":
		f.text = isURL
	case "hostname":
		f.text = isHostname
	case "ipv6":
		f.text = isIPv6
	case "int32":
		f.number = func(v float64) bool { return typesOf(v)&typeInteger != 0 && v >= -1<<31 && v <= 1<<31-1 }
	case "int64":
		f.number = func(v float64) bool { return typesOf(v)&typeInteger != 0 }
	case "float", "double", "password", "binary", "regex":
	default:
		p, ok := textPatterns()[name]
		if ok = ok && name[0] != '/'; ok {
			f.text = p.Matches
		}
		return f, ok
	}
	return f, true
}

// format reads the keyword; it returns nil if there is nothing to check.
func (c *compiler) format(n *node, s *value.Object) (*format, error) {
	name, ok := s.At("format").(string)
	if !ok {
		return nil, nil
	}
	f, ok := formatNamed(name)
	if !ok {
		if c.Lax {
			return nil, nil
		}
		return nil, invalid("unknown format %q ignored in schema at path %q", name, n.path)
	}
	if name == "regex" {
		if c.Pattern == nil {
			return nil, proviso.Errorf(proviso.Unavailable, "JSON Schema: patterns cannot be compiled: no engine is available")
		}
		f.text = func(text string) bool { return !hasAnchorZ(text) && c.compiles(text) }
	}
	return &f, nil
}

func (c *compiler) compiles(text string) bool {
	_, err := c.Pattern(text, "")
	return err == nil
}

// hasAnchorZ finds \Z after another character, which ajv-formats treats as a mistake
// although ECMAScript reads it as a letter.
func hasAnchorZ(text string) bool {
	for i := strings.Index(text, `\Z`); i >= 0; {
		if i > 0 && text[i-1] != '\\' {
			return true
		}
		next := strings.Index(text[i+1:], `\Z`)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// formatLimit is one of formatMinimum, formatMaximum and their exclusive forms.
type formatLimit struct {
	keyword, sign, limit string
	compare              func(a, b string) (int, bool)
}

// holds reports whether v is within the limit. Values that cannot be compared are.
func (l *formatLimit) holds(v string) bool {
	order, ok := l.compare(v, l.limit)
	if !ok {
		return true
	}
	switch l.sign {
	case "<=":
		return order <= 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	}
	return order > 0
}

func (c *compiler) fillLimits(r *textRules, s *value.Object, f *format) error {
	for _, l := range []formatLimit{
		{keyword: "formatMaximum", sign: "<="}, {keyword: "formatMinimum", sign: ">="},
		{keyword: "formatExclusiveMaximum", sign: "<"}, {keyword: "formatExclusiveMinimum", sign: ">"},
	} {
		v, ok := s.Get(l.keyword)
		if !ok {
			continue
		}
		if !s.Has("format") {
			return invalid("parent schema must have dependencies of %s: format", l.keyword)
		}
		if l.limit, ok = v.(string); !ok {
			return invalid(`%s value must be "string"`, l.keyword)
		}
		if f == nil || f.name == "password" || f.name == "binary" {
			continue
		}
		if l.compare = f.compare; l.compare == nil {
			return invalid("%q: format %q does not define \"compare\" function", l.keyword, f.name)
		}
		r.limits = append(r.limits, l)
	}
	return nil
}
