package server_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/web"
)

const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// TestPages: every path of the app serves the same page, which contains no data and runs only
// its own script.
func TestPages(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	browser := "Accept: text/html,application/xhtml+xml"
	page := f.ask("GET", "/", "").body
	for _, want := range []string{`<html lang="en">`, "<title>proviso</title>", "<noscript>", `src="/assets/app.js"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for path, status := range map[string]int{
		"/": 200, "/runs": 200, "/runs/run_1": 200, "/runs/run_1/cases/%3Cscript%3E?p=1": 200, "/compare?base=a&head=b": 200, "/assertions": 200,
		"/assertions/a%2Fb": 200, "/judges": 200, "/prompts": 200, "/label": 200, "/label/my%20queue?done=label_1": 200, "/playground": 200, "/playground/x": 404, "/settings": 200, "/login": 200, "/nothing": 404, "/settings/x": 404, "/runs/": 404, "/runs/../x": 404,
	} {
		got := f.ask("GET", path, "", browser)
		if got.status != status || got.body != page {
			t.Errorf("%s: %d %.100s", path, got.status, got.body)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": appPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cache-Control": "no-cache", "Content-Type": "text/html; charset=utf-8", "Access-Control-Allow-Origin": "",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
		if strings.Contains(got.body, "<script>") || strings.Contains(got.body, "style=") {
			t.Errorf("%s: inline script or style", path)
		}
	}
	// Any other path stays a problem, even for a browser.
	for path, status := range map[string]int{"/v1/nothing": 404, "/v1/evaluate": 405, "/assets/nothing.js": 404, "/assets/../app.html": 404} {
		if got := f.ask("GET", path, "", browser); got.status != status || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := f.ask("POST", "/runs", "{}", browser); got.status != 404 && got.status != 405 {
		t.Errorf("POST of a page: %d", got.status)
	}
	if got := f.ask("HEAD", "/runs", ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
}

// TestPagesNeedThisHost: pages are only served under the server's names. A link on another site
// opens a page but reads no data.
func TestPagesNeedThisHost(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Hosts: []string{"localhost"}})
	link := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	for _, path := range []string{"/", "/runs", "/assets/app.js", "/docs", "/v1/session"} {
		if got := f.ask("GET", path, "", "Host: attacker.example"); got.status != 421 {
			t.Errorf("%s of another host: %d", path, got.status)
		}
		if got := f.ask("GET", path, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"); got.status != 403 {
			t.Errorf("%s as a script of another site: %d", path, got.status)
		}
		want := 403
		if path == "/" || path == "/runs" {
			want = 200
		}
		if got := f.ask("GET", path, "", link...); got.status != want {
			t.Errorf("%s by a link: %d, want %d", path, got.status, want)
		}
		if got := f.ask("GET", path, "", link[0], link[1], "Sec-Fetch-Dest: iframe"); got.status != 403 {
			t.Errorf("%s in a frame: %d", path, got.status)
		}
	}
}

// TestAssets: files are compressed once, and a browser that has one gets 304.
func TestAssets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	for _, name := range web.Names() {
		if !strings.HasPrefix(name, "app") {
			if got := f.ask("GET", "/assets/"+name, "", "Accept-Encoding: identity"); got.status != 404 {
				t.Errorf("%s, which is no file of the app: %d", name, got.status)
			}
			continue
		}
		want, _ := web.File(name)
		plain := f.ask("GET", "/assets/"+name, "", "Accept-Encoding: gzip;q=0, br")
		if plain.status != 200 || plain.body != string(want) || plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %d %v", name, plain.status, plain.header)
		}
		packed := f.ask("GET", "/assets/"+name, "", "Accept-Encoding: br, gzip")
		if packed.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %v", name, packed.header)
		}
		r, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(r); err != nil || string(data) != string(want) {
			t.Errorf("%s: %d bytes of %d", name, len(data), len(want))
		}
		for tag, status := range map[string]int{packed.header.Get("ETag"): 304, "W/" + packed.header.Get("ETag"): 304, `"x", ` + packed.header.Get("ETag"): 304, plain.header.Get("ETag"): 200, `"x"`: 200} {
			got := f.ask("GET", "/assets/"+name, "", "Accept-Encoding: gzip", "If-None-Match: "+tag)
			if got.status != status || status == 304 && got.body != "" {
				t.Errorf("%s with %s: %d", name, tag, got.status)
			}
		}
		kept := "no-cache"
		if strings.Count(name, "-") > 1 {
			kept = "public, max-age=31536000, immutable"
		}
		if got := packed.header.Get("Cache-Control"); got != kept {
			t.Errorf("%s: %s", name, got)
		}
		if strings.HasSuffix(name, ".js") && packed.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%s: %s", name, packed.header.Get("Content-Type"))
		}
	}
}

// TestPagesNeedNoKey: the pages need no key, the data do.
func TestPagesNeedNoKey(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	for path, want := range map[string]int{"/": 200, "/login": 200, "/assets/app.js": 200, "/docs": 401, "/openapi.json": 401, "/v1/session": 401, "/v1/runs": 401, "/v1/settings": 401} {
		if got := f.ask("GET", path, ""); got.status != want {
			t.Errorf("%s: %d, want %d", path, got.status, want)
		}
	}
}

// TestDocsInBrowser: a browser without a session is sent to the login page, and back after the
// login; programs get a problem.
func TestDocsInBrowser(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{"/docs": "303 /login?next=%2Fdocs", "/docs?a=b": "303 /login?next=%2Fdocs%3Fa%3Db", "/openapi.json": "401 ", "/v1/runs": "401 "} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", f.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html,application/xhtml+xml")
		got, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if answer := fmt.Sprint(got.StatusCode, " ", got.Header.Get("Location")); answer != want {
			t.Errorf("%s: %s, want %s", path, answer, want)
		}
	}
}
