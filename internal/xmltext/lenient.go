package xmltext

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// cutSpace separates the name of a tag from what follows its first white space.
func cutSpace(s string) (name, rest string, ok bool) {
	i := strings.IndexFunc(s, value.IsSpace)
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeftFunc(s[i:], value.IsSpace), true
}

// safeName returns the name that an element gets, which differs from its own for
// members of every JavaScript object.
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

// attributeNames returns the names in the text of a tag behind its own name.
// Without a quoted value, name, = and value are names each.
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
