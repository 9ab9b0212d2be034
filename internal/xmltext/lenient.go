package xmltext

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// cutSpace separates the name of a tag from the text after its first white space.
func cutSpace(s string) (name, rest string) {
	i := strings.IndexFunc(s, value.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeftFunc(s[i:], value.IsSpace)
}

// safeName returns the name under which an element is stored. It differs from the
// element's own if every JavaScript object has a member with that name.
func safeName(name string) (string, error) {
	switch name {
	case "__proto__", "constructor", "prototype":
		return "", &SyntaxError{Message: "invalid name: " + name}
	case "hasOwnProperty", "toString", "valueOf",
		"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__":
		return "__" + name, nil
	}
	return name, nil
}

// attributeNames returns the names in the text of a tag after its own name. Without
// a quoted value, name, = and value each count as a name.
func attributeNames(s string) []string {
	var names []string
	for s != "" {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '=' || value.IsSpace(r) })
		end := strings.IndexFunc(s, func(r rune) bool { return r == '=' || value.IsSpace(r) })
		if end < 0 {
			end = len(s)
		}
		if end == 0 {
			break
		}
		names = append(names, s[:end])
		s = skipValue(s[end:])
	}
	return names
}

// skipValue skips = and a quoted value, if they come next.
func skipValue(s string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(s, value.IsSpace), "=")
	if !ok {
		return s
	}
	rest = strings.TrimLeftFunc(rest, value.IsSpace)
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return s
	}
	n := strings.IndexByte(rest[1:], rest[0])
	if n < 0 {
		return s
	}
	return rest[n+2:]
}
