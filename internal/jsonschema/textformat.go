package jsonschema

import (
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Parts of the patterns of ajv-formats. Letters are listed in both cases, because
// ignoring case would add letters outside ASCII.
const (
	hex    = `[0-9A-Fa-f]`
	escape = `%` + hex + `{2}`
	octet  = `(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	padded = `(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`
	atom   = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+" // atext of RFC 5322
	label  = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
	short  = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?` // label of RFC 1123
	step   = `(?:/(?:[^~/]|~[01])*)*`                        // RFC 6901
	base64 = `[A-Za-z0-9+/]`
	begins = `(?:^|[\n\r\x{2028}\x{2029}])`
	ends   = `(?:$|[\n\r\x{2028}\x{2029}])`
	name   = `A-Za-z0-9._~!$&'()*+,;=-` // characters of the parts of a URI (RFC 3986)
	word   = `(?:[A-Za-z0-9_]|` + escape + `)+(?::[1-9]\d{0,3}|\*)?`
	run    = `[A-Za-z0-9\x{a1}-\x{ffff}]+` // letters and digits of any script
)

// uri returns the pattern of a URI that begins with a scheme and has a path, in
// which the characters of more are also allowed. Its group is the text in brackets
// in place of a host. Like ajv-formats, it also accepts a single slash before the
// authority.
func uri(scheme, path, more string) string {
	chars := func(others string) string { return `(?:[` + others + name + `]|` + escape + `)` }
	host := `(?:\[(?:[vV]` + hex + `+\.[:` + name + `]+|([^\]]+))\]|` + chars(more) + `*)`
	authority := `(?:` + chars(":") + `*@)?` + host + `(?::\d*)?(?:/` + chars(":@/"+more) + `*)?`
	tail := chars(":@/?"+more) + `*`
	return `^` + scheme + `(?:` + chars(":@/"+more) + path + `|//?` + authority + `)(?:\?` + tail + `)?(?:#` + tail + `)?$`
}

const scheme = `[A-Za-z][A-Za-z0-9+.-]*:`

// textPatterns are the formats that a pattern decides, and patterns used in
// deciding others.
var textPatterns = sync.OnceValue(func() map[string]*pattern.Lazy {
	all := map[string]*pattern.Lazy{}
	for name, expr := range map[string]string{
		"email":                     `^` + atom + `(?:\.` + atom + `)*@(?:` + label + `\.)+` + label + `$`,
		"ipv4":                      `^(?:` + octet + `\.){3}` + octet + `$`,
		"uuid":                      `^(?:[Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:)?` + hex + `{8}-(?:` + hex + `{4}-){3}` + hex + `{12}$`,
		"json-pointer":              `^` + step + `$`,
		"relative-json-pointer":     `^(?:0|[1-9]\d*)(?:#|` + step + `)$`,
		"json-pointer-uri-fragment": `^#(?:/(?:[A-Za-z0-9_.!$&'()*+,;:=@-]|` + escape + `|~[01])*)*$`,
		"uri-template":              "^(?:[^\\x00-\\x20\"'<>%\\\\^`{|}]|" + escape + `|\{[+#./;?&=,!@|]?` + word + `(?:,` + word + `)*\})*$`,
		// ajv-formats accepts any one line of padded base64.
		"byte": begins + `(?:` + base64 + `{4})*(?:` + base64 + `{2}==|` + base64 + `{3}=)?` + ends,

		"/uri":           uri(scheme, `+`, ``),
		"/uri-reference": uri(`(?:`+scheme+`)?`, `*`, `"`),
		"/hostname":      `^` + short + `(?:\.` + short + `)*\.?$`,
		"/duration":      `^P(?:(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|\d+W)$`,
		"/padded":        `^(.*:)(?:` + padded + `\.){3}` + padded + `$`,
		"/url":           `^([^:/@]*)(?::\d{2,5})?(?:/(?s:.*))?$`,
		"/domain":        `^(?:` + run + `(?:-` + run + `)*\.)+[A-Za-z\x{a1}-\x{ffff}]{2,}$`,
		"/address":       `^(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])$`,
		"/private":       `^(?:(?:10|127)\.|(?:169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.)`,
	} {
		all[name] = pattern.Of(expr)
	}
	return all
})

func matches(pattern, s string) bool { return textPatterns()[pattern].Matches(s) }

// isURI is an absolute URI of RFC 3986 with something after the scheme.
func isURI(s string) bool { return hasURI("/uri", s) }

// isURIReference is a URI or a relative reference.
func isURIReference(s string) bool { return hasURI("/uri-reference", s) }

// hasURI matches a pattern made by uri, and checks the address in brackets.
func hasURI(pattern, s string) bool {
	m := textPatterns()[pattern].Get().FindStringSubmatch(s)
	return m != nil && (m[1] == "" || isIPv6(m[1]) || isIPv6Padded(m[1]))
}

// isIPv6Padded allows leading zeros in the IPv4 part, as RFC 3986 patterns do.
func isIPv6Padded(s string) bool {
	m := textPatterns()["/padded"].Get().FindStringSubmatch(s)
	return m != nil && isIPv6(m[1]+"0.0.0.0")
}

// isHostname is RFC 1123: labels of at most 63 characters, at most 253 in total.
func isHostname(s string) bool {
	return len(strings.TrimSuffix(s, ".")) <= 253 && matches("/hostname", s)
}

// isDuration is RFC 3339 appendix A: P with units in order, at least one, or weeks
// alone; years, months and days in the middle may be missing.
func isDuration(s string) bool {
	return s != "P" && !strings.HasSuffix(s, "T") && matches("/duration", s)
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
	// The pattern of ajv-formats allows a gap of zero groups only at the ends, and IPv4
	// after at most six groups.
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
			return n + 2, matches("ipv4", part)
		}
		if part == "" || len(part) > 4 || strings.Trim(part, "0123456789abcdefABCDEF") != "" || more && rest == "" {
			return 0, false
		}
		n++
		s = rest
	}
	return n, true
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

// isPublic reads the host, port and path of a URL. The host is a dotted name of
// letters of any script, digits and single hyphens, whose last label has letters
// only, or an address outside the private, local and multicast networks.
func isPublic(s string) bool {
	m := textPatterns()["/url"].Get().FindStringSubmatch(s)
	return m != nil && (matches("/domain", m[1]) || matches("/address", m[1]) && !matches("/private", m[1]))
}
