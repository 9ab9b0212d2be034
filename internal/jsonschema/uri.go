package jsonschema

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

const (
	alnum     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	nameChars = alnum + "-._~!$&'()*+,;="
)

// uriClasses are the characters of the parts of a URI (RFC 3986). References
// may also hold double quotes, as in the pattern of ajv-formats.
type uriClasses struct{ scheme, user, host, path, query class }

var (
	strictURI  = sync.OnceValue(func() *uriClasses { return newURIClasses("") })
	relaxedURI = sync.OnceValue(func() *uriClasses { return newURIClasses(`"`) })
)

func newURIClasses(extra string) *uriClasses {
	return &uriClasses{
		scheme: classOf(alnum + "+-."),
		user:   classOf(nameChars + ":"),
		host:   classOf(nameChars + extra),
		path:   classOf(nameChars + ":@/" + extra),
		query:  classOf(nameChars + ":@/?" + extra),
	}
}

// made reports whether s consists of members of c and percent escapes.
func (c *class) made(s string) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case c.has(s[i]):
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			i += 2
		default:
			return false
		}
	}
	return true
}

// isURI is an absolute URI of RFC 3986 with something behind the scheme.
func isURI(s string) bool {
	c := strictURI()
	_, rest, ok := cutScheme(s, c)
	if !ok {
		return false
	}
	rest, ok = cutTail(rest, c)
	return ok && rest != "" && hierarchy(rest, c)
}

// isURIReference is a URI or a relative reference.
func isURIReference(s string) bool {
	c := relaxedURI()
	rest, ok := cutTail(s, c)
	if !ok {
		return false
	}
	if _, behind, has := cutScheme(rest, c); has && hierarchy(behind, c) {
		return true
	}
	return hierarchy(rest, c)
}

// cutScheme splits off the scheme with its colon.
func cutScheme(s string, c *uriClasses) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(s, ":")
	if !ok || scheme == "" || scheme[0]|0x20 < 'a' || scheme[0]|0x20 > 'z' {
		return "", s, false
	}
	for i := range len(scheme) {
		if !c.scheme.has(scheme[i]) {
			return "", s, false
		}
	}
	return scheme, rest, true
}

// cutTail splits off query and fragment.
func cutTail(s string, c *uriClasses) (rest string, ok bool) {
	rest, fragment, _ := strings.Cut(s, "#")
	rest, query, _ := strings.Cut(rest, "?")
	return rest, c.query.made(fragment) && c.query.made(query)
}

// hierarchy is what stands between scheme and query: a path, or an authority
// with a path. ajv-formats lets one slash introduce the authority, too.
func hierarchy(s string, c *uriClasses) bool {
	return c.path.made(s) ||
		strings.HasPrefix(s, "//") && authority(s[2:], c) ||
		strings.HasPrefix(s, "/") && authority(s[1:], c)
}

// authority is user@host:port with the path behind it.
func authority(s string, c *uriClasses) bool {
	host, path := s, ""
	if at := strings.IndexByte(s, '/'); at >= 0 {
		host, path = s[:at], s[at:]
	}
	if at := strings.IndexByte(host, '@'); at >= 0 {
		if !c.user.made(host[:at]) {
			return false
		}
		host = host[at+1:]
	}
	if !c.path.made(path) {
		return false
	}
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		return end > 0 && isLiteral(host[1:end]) && isPort(host[end+1:])
	}
	name, port, _ := strings.Cut(host, ":")
	return c.host.made(name) && all(port, isDigit)
}

func isPort(s string) bool { return s == "" || s[0] == ':' && all(s[1:], isDigit) }

// isLiteral is what stands between brackets: an IPv6 address, or a future one.
func isLiteral(s string) bool {
	if s != "" && s[0]|0x20 == 'v' {
		version, rest, ok := strings.Cut(s[1:], ".")
		future := classOf(nameChars + ":")
		return ok && version != "" && all(version, isHex) && rest != "" && all(rest, future.has)
	}
	return isIPv6(s) || isIPv6Padded(s)
}

// isIPv6Padded allows leading zeros in the IPv4 part, as RFC 3986 patterns do.
func isIPv6Padded(s string) bool {
	at := strings.LastIndexByte(s, ':')
	if at < 0 || strings.Count(s[at:], ".") != 3 {
		return false
	}
	for part := range strings.SplitSeq(s[at+1:], ".") {
		if !isOctet(part) {
			return false
		}
	}
	return isIPv6(s[:at+1] + "0.0.0.0")
}

// isURITemplate is RFC 6570.
func isURITemplate(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 || !isExpression(s[i+1:i+end]) {
				return false
			}
			i += end
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
		case c <= 0x20 || strings.IndexByte("\"'<>\\^`|}", c) >= 0:
			return false
		}
	}
	return true
}

// isExpression is what stands between the braces of a template.
func isExpression(s string) bool {
	if s != "" && strings.IndexByte("+#./;?&=,!@|", s[0]) >= 0 {
		s = s[1:]
	}
	for v := range strings.SplitSeq(s, ",") {
		name, limit, limited := strings.Cut(v, ":")
		if limited {
			if limit == "" || len(limit) > 4 || limit[0] == '0' || !all(limit, isDigit) {
				return false
			}
		} else {
			name = strings.TrimSuffix(name, "*")
		}
		chars := classOf(alnum + "_")
		if name == "" || !chars.made(name) {
			return false
		}
	}
	return true
}

// isURL is an http, https or ftp address with a public-looking dotted host.
func isURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "ftp") {
		return false
	}
	if strings.ContainsFunc(rest, value.IsSpace) {
		return false
	}
	if isPublic(rest) {
		return true
	}
	for i := 1; i < len(rest); i++ {
		if rest[i] == '@' && isPublic(rest[i+1:]) {
			return true
		}
	}
	return false
}

// isPublic is host, port and path of a URL.
func isPublic(s string) bool {
	end := strings.IndexAny(s, ":/@")
	host := s
	if end >= 0 {
		host, s = s[:end], s[end:]
		if s[0] == ':' {
			n := leadingDigits(s[1:])
			if n < 2 || n > 5 {
				return false
			}
			s = s[1+n:]
		}
		if s != "" && s[0] != '/' {
			return false
		}
	}
	return isPublicIPv4(host) || isDomain(host)
}

// isDomain is a dotted name of letters, digits and single hyphens, any script,
// whose last label is letters only.
func isDomain(s string) bool {
	at := strings.LastIndexByte(s, '.')
	if at < 0 || utf8.RuneCountInString(s[at+1:]) < 2 {
		return false
	}
	for _, r := range s[at+1:] {
		if r < utf8.RuneSelf && (isDigit(byte(r)) || !isAlnum(byte(r))) || !isNameRune(r) {
			return false
		}
	}
	for label := range strings.SplitSeq(s[:at], ".") {
		for run := range strings.SplitSeq(label, "-") {
			if run == "" || strings.ContainsFunc(run, func(r rune) bool { return !isNameRune(r) }) {
				return false
			}
		}
	}
	return true
}

func isNameRune(r rune) bool {
	return r < utf8.RuneSelf && isAlnum(byte(r)) || r >= 0xa1 && r <= 0xffff
}

// isPublicIPv4 leaves out the private, local and multicast networks.
func isPublicIPv4(s string) bool {
	var octets [4]int
	n := 0
	for part := range strings.SplitSeq(s, ".") {
		if n == 4 || !isOctet(part) {
			return false
		}
		if outer := n == 0 || n == 3; part[0] == '0' && (outer || len(part) == 3) {
			return false
		}
		octets[n] = int(value.ToNumber(part))
		n++
	}
	a, b := octets[0], octets[1]
	switch {
	case n != 4, a < 1 || a > 223, octets[3] < 1 || octets[3] > 254:
		return false
	case a == 10, a == 127, a == 169 && b == 254, a == 192 && b == 168, a == 172 && b >= 16 && b <= 31:
		return false
	}
	return true
}
