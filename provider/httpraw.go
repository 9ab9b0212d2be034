package provider

import (
	"errors"
	"fmt"
	"strings"
)

// rawRequest is a request in the form of HTTP/1.1 (RFC 9112). Its target,
// values and body may be templates.
type rawRequest struct {
	method, target, host string
	header               []rawHeader
	body                 string
}

type rawHeader struct{ name, value string }

// maxRawHeaders bounds the headers of a raw request.
const maxRawHeaders = 200

// parseRawRequest reads a request. Lines may end in LF alone, and the version
// may be missing. Headers that belong to the connection, except Host, are left
// out.
func parseRawRequest(text string) (*rawRequest, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	head, body, _ := strings.Cut(strings.TrimLeft(text, "\n\t "), "\n\n")
	first, rest, _ := strings.Cut(head, "\n")
	r := &rawRequest{body: strings.TrimRight(body, "\n\t ")}
	var ok bool
	if r.method, r.target, ok = strings.Cut(strings.TrimSpace(first), " "); !ok || !token(r.method) {
		return nil, errors.New("expected a first line such as POST /path HTTP/1.1")
	}
	r.target = strings.TrimSpace(r.target)
	if target, version, ok := cutAtLast(r.target, " "); ok && strings.HasPrefix(version, "HTTP/") {
		r.target = strings.TrimSpace(target)
	}
	if !strings.HasPrefix(r.target, "/") && !strings.HasPrefix(r.target, "http://") && !strings.HasPrefix(r.target, "https://") {
		return nil, fmt.Errorf("expected a path that begins with /, found %q", excerpt([]byte(r.target)))
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !token(name) {
			return nil, fmt.Errorf("expected a header such as Content-Type: text/plain, found %q", excerpt([]byte(line)))
		}
		switch strings.ToLower(name) {
		case "host":
			r.host = value
		case "content-length", "transfer-encoding", "connection", "keep-alive", "accept-encoding", "te", "trailer", "upgrade", "expect":
		default:
			r.header = append(r.header, rawHeader{name, value})
		}
		if len(r.header) > maxRawHeaders {
			return nil, fmt.Errorf("it has more than %d headers", maxRawHeaders)
		}
	}
	return r, nil
}

// token reports whether s is a token (RFC 9110, section 5.6.2), the form of methods and header
// names.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
