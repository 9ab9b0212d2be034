package provider

import (
	"strings"
	"testing"
)

func TestParseRawRequest(t *testing.T) {
	t.Parallel()
	r, err := parseRawRequest("\n  POST /a b?c={{ d }} HTTP/1.1\r\nHost: h:1\r\nX-A:  b: c \r\nConnection: close\r\n\r\nline\r\n\r\nmore\r\n")
	if err != nil || r.method != "POST" || r.target != "/a b?c={{ d }}" || r.host != "h:1" || r.body != "line\n\nmore" {
		t.Errorf("%+v, %v", r, err)
	}
	if len(r.header) != 1 || r.header[0] != (rawHeader{"X-A", "b: c"}) {
		t.Errorf("headers %+v", r.header)
	}
	if r, err := parseRawRequest("GET https://h/p"); err != nil || r.target != "https://h/p" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"", "GET", "GET  HTTP/1.1", "G(T / HTTP/1.1", "GET x HTTP/1.1", "GET / HTTP/1.1\nno header",
		"GET / HTTP/1.1\na b: c", "GET / HTTP/1.1\n" + strings.Repeat("a: b\n", 300)} {
		if r, err := parseRawRequest(text); err == nil {
			t.Errorf("%.40q gives %+v", text, r)
		}
	}
}

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                nil,
		"  ":                              nil,
		" python  chain.py":               {"python", "chain.py"},
		`node x.js "a b" c\ d 'e "f"' ''`: {"node", "x.js", "a b", `c\`, "d", `e "f"`, ""},
		`a"b c"d "open`:                   {"ab cd", "open"},
	} {
		if got := splitCommand(text); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q splits into %q, want %q", text, got, want)
		}
	}
}

func FuzzRawRequest(f *testing.F) {
	f.Add("POST /a HTTP/1.1\nHost: h\nX: y\n\nbody")
	f.Add("GET http://x HTTP/1.1\r\n\r\n")
	f.Add("G / \n:")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRawRequest(text)
		if err != nil {
			return
		}
		if !token(r.method) || r.target == "" || strings.Contains(r.target, "\n") {
			t.Fatalf("%q gives %+v", text, r)
		}
		for _, h := range r.header {
			if !token(h.name) || strings.ContainsAny(h.value, "\n") {
				t.Fatalf("%q has the header %+v", text, h)
			}
		}
	})
}
