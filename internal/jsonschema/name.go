package jsonschema

import (
	"strings"
	"unicode/utf8"
)

// class is a set of ASCII characters.
type class [2]uint64

func classOf(members string) (c class) {
	for i := range len(members) {
		c[members[i]>>6] |= 1 << (members[i] & 63)
	}
	return c
}

func (c *class) has(b byte) bool { return b < 128 && c[b>>6]&(1<<(b&63)) != 0 }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
func isHex(b byte) bool   { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }
func isAlnum(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z' }

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

// isEmail wants a dotted domain and an unquoted local part.
func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || !strings.Contains(domain, ".") {
		return false
	}
	for part := range strings.SplitSeq(local, ".") {
		if part == "" || !all(part, isAtom) {
			return false
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isAtom is atext of RFC 5322.
func isAtom(b byte) bool {
	return isAlnum(b) || strings.IndexByte("!#$%&'*+/=?^_`{|}~-", b) >= 0
}

// isLabel is a name of letters and digits with hyphens inside.
func isLabel(s string) bool {
	return s != "" && isAlnum(s[0]) && isAlnum(s[len(s)-1]) && all(s, func(b byte) bool { return isAlnum(b) || b == '-' })
}

// isHostname is RFC 1123: labels of at most 63 characters, 253 in all.
func isHostname(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) > 63 || !isLabel(label) {
			return false
		}
	}
	return true
}

// isIPv4 is four decimal numbers without leading zeros.
func isIPv4(s string) bool {
	n := 0
	for part := range strings.SplitSeq(s, ".") {
		if n++; n > 4 || len(part) > 1 && part[0] == '0' || !isOctet(part) {
			return false
		}
	}
	return n == 4
}

func isOctet(s string) bool {
	if s == "" || len(s) > 3 || !all(s, isDigit) {
		return false
	}
	v := 0
	for i := range len(s) {
		v = v*10 + int(s[i]-'0')
	}
	return v < 256
}

// isIPv6 is RFC 4291 text without a zone; the last 32 bits may be written as
// IPv4.
func isIPv6(s string) bool {
	head, tail, compressed := strings.Cut(s, "::")
	front, ok := groups(head, !compressed)
	if !ok {
		return false
	}
	if !compressed {
		return front == 8
	}
	back, ok := groups(tail, true)
	// The pattern of ajv-formats has no form with a gap of no groups but at the
	// ends, and wants IPv4 after at most six.
	return ok && front+back <= 7
}

// groups counts the 16-bit groups of a part of an address.
func groups(s string, ipv4 bool) (int, bool) {
	if s == "" {
		return 0, true
	}
	n := 0
	for s != "" {
		part, rest, more := strings.Cut(s, ":")
		if !more && ipv4 && strings.Contains(part, ".") {
			return n + 2, isIPv4(part)
		}
		if part == "" || len(part) > 4 || !all(part, isHex) || more && rest == "" {
			return 0, false
		}
		n++
		s = rest
	}
	return n, true
}

// isUUID is RFC 4122 text, with or without urn:uuid:.
func isUUID(s string) bool {
	if len(s) > 9 && strings.EqualFold(s[:9], "urn:uuid:") {
		s = s[9:]
	}
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isJSONPointer is RFC 6901.
func isJSONPointer(s string) bool {
	return s == "" || s[0] == '/' && tildes(s)
}

// tildes reports whether each ~ is an escape.
func tildes(s string) bool {
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

// isRelativePointer is a number of steps up, then # or a pointer.
func isRelativePointer(s string) bool {
	n := leadingDigits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	return s[n:] == "#" || isJSONPointer(s[n:])
}

// isPointerFragment is an RFC 6901 pointer as the fragment of a URI.
func isPointerFragment(s string) bool {
	if s == "" || s[0] != '#' || len(s) > 1 && s[1] != '/' {
		return false
	}
	c := classOf(alnum + "_-.!$&'()*+,;:=@/~")
	return c.made(s[1:]) && tildes(s)
}

// isBase64 reports whether a line of s is padded base64, which is how
// ajv-formats understands "byte".
func isBase64(s string) bool {
	for {
		end := strings.IndexAny(s, "\n\r\u2028\u2029")
		if end < 0 {
			return isBase64Line(s)
		}
		if isBase64Line(s[:end]) {
			return true
		}
		_, width := utf8.DecodeRuneInString(s[end:])
		s = s[end+width:]
	}
}

func isBase64Line(s string) bool {
	body := strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	return len(s)%4 == 0 && all(body, func(b byte) bool { return isAlnum(b) || b == '+' || b == '/' })
}
