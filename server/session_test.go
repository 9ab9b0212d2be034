package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// browser is a client with the cookie of a session.
type browser struct {
	*fixture
	cookie string // name=value
}

// cookieOf returns the cookie that a response sets.
func cookieOf(t *testing.T, got answer) *http.Cookie {
	t.Helper()
	cookie, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatalf("%v: %d %s %v", err, got.status, got.body, got.header)
	}
	return cookie
}

func (f *fixture) origin() string { return "Origin: " + f.url }

const ownPage = "X-Proviso: 1"

// login opens a session.
func (f *fixture) login(secret string) browser {
	f.t.Helper()
	got := f.ask("POST", "/v1/session", `{"key": "`+secret+`"}`, f.origin(), ownPage)
	if got.status != 200 {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	c := cookieOf(f.t, got)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || c.Domain != "" || strings.Contains(c.Value, secret) || len(c.Value) < 40 {
		f.t.Errorf("cookie %+v", c)
	}
	return browser{f, "Cookie: " + c.Name + "=" + c.Value}
}

func TestSession(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Runner: suites(t, nil), LogContents: true})
	secret, key := f.key(store.NewKey{Project: "a", Scopes: []store.Scope{store.Read, store.Evaluate}})
	b := f.login(secret)
	if got := f.ask("GET", "/v1/session", "", b.cookie); got.status != 200 || got.body != `{"scopes":["read","evaluate"],"project":"a","mode":"serve"}`+"\n" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/v1/session", "", bearer(secret)); got.status != 200 {
		t.Errorf("with a key: %d", got.status)
	}
	// The key's scopes and project apply.
	if got := f.ask("GET", "/v1/suites?project=b", "", b.cookie); got.status != 403 {
		t.Errorf("another project: %d", got.status)
	}
	if got := f.ask("POST", "/v1/runs", runText(1), ndjson, b.cookie, f.origin(), ownPage); got.status != 403 {
		t.Errorf("without the scope edit: %d", got.status)
	}
	// Requests that change something need the origin and the header.
	for _, tt := range []struct {
		status  int
		headers []string
	}{
		{403, nil}, {403, []string{f.origin()}}, {403, []string{ownPage}}, {403, []string{ownPage, "Origin: http://attacker.example"}}, {403, []string{ownPage, "Origin: null"}},
		{403, []string{ownPage, f.origin(), "Sec-Fetch-Site: same-site"}}, {403, []string{"X-Proviso: 0", f.origin()}}, {201, []string{ownPage, f.origin()}},
	} {
		if got := f.ask("POST", "/v1/suites", plainSuite, append(tt.headers, b.cookie)...); got.status != tt.status {
			t.Errorf("%v: %d %s", tt.headers, got.status, got.body)
		}
	}
	// The cookie of another port, a modified cookie and a key are not sessions.
	name, value, _ := strings.Cut(strings.TrimPrefix(b.cookie, "Cookie: "), "=")
	for _, cookie := range []string{"proviso_1=" + value, name + "=" + value + "A", name + "=" + secret, name + "=", name + "=" + key.ID} {
		if got := f.ask("GET", "/v1/session", "", "Cookie: "+cookie); got.status != 401 {
			t.Errorf("%s: %d", cookie, got.status)
		}
	}
	if got := f.ask("DELETE", "/v1/session", "", b.cookie); got.status != 403 {
		t.Errorf("logged out by another page: %d", got.status)
	}
	got := f.ask("DELETE", "/v1/session", "", b.cookie, f.origin(), ownPage)
	if c := cookieOf(t, got); got.status != 204 || c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("logout: %d %+v", got.status, c)
	}
	if got := f.ask("GET", "/v1/session", "", b.cookie); got.status != 401 {
		t.Errorf("after the logout: %d", got.status)
	}
	// A failed login is logged, without its body.
	if got := f.ask("POST", "/v1/session", `{"key": "`+secret+`"}`, "X-Request-Id: refused"); got.status != 403 {
		t.Errorf("a login from elsewhere: %d", got.status)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if log := f.log.String(); !strings.Contains(log, "refused") || strings.Contains(log, secret) || strings.Contains(log, value) {
		t.Error("the log has the key or the cookie")
	}
}

// TestSessionEnds: a session ends with its key, and after its lifetime.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	_, other := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	b := f.login(secret)
	if _, err := f.store.RevokeKey(t.Context(), other.ID); err != nil {
		t.Fatal(err)
	}
	if got := f.ask("GET", "/v1/runs", "", b.cookie); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := f.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if got := f.ask("GET", "/v1/runs", "", b.cookie); got.status != 401 {
		t.Errorf("after its key: %d %s", got.status, got.body)
	}

	short := start(t, server.Options{SessionLife: time.Nanosecond})
	secret, _ = short.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	b = short.login(secret)
	if got := short.ask("GET", "/v1/runs", "", b.cookie); got.status != 401 {
		t.Errorf("after its time: %d %s", got.status, got.body)
	}
	used := start(t, server.Options{SessionMost: time.Nanosecond})
	secret, _ = used.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	b = used.login(secret)
	if got := used.ask("GET", "/v1/runs", "", b.cookie); got.status != 401 {
		t.Errorf("long after the login: %d %s", got.status, got.body)
	}
}

// TestLogoutEverywhere: a session can end all sessions of its key, and no others.
func TestLogoutEverywhere(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	another, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	here, there, other := f.login(secret), f.login(secret), f.login(another)
	for _, tt := range []struct {
		path, cookie string
		status       int
		headers      []string
	}{
		{"?all=yes", here.cookie, 403, nil}, // another page
		{"?all=no", here.cookie, 422, []string{f.origin(), ownPage}},
		{"?all=yes", "Cookie: proviso=x", 204, []string{f.origin(), ownPage}}, // a session that does not exist
	} {
		if got := f.ask("DELETE", "/v1/session"+tt.path, "", append(tt.headers, tt.cookie)...); got.status != tt.status {
			t.Errorf("%s: %d %s", tt.path, got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/session", "", there.cookie); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := f.ask("DELETE", "/v1/session?all=yes", "", here.cookie, f.origin(), ownPage); got.status != 204 || cookieOf(t, got).MaxAge >= 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	for cookie, status := range map[string]int{here.cookie: 401, there.cookie: 401, other.cookie: 200} {
		if got := f.ask("GET", "/v1/session", "", cookie); got.status != status {
			t.Errorf("%d, want %d", got.status, status)
		}
	}
}

// TestWrongKeys: an address that sends wrong keys must wait, and a valid key from there is
// served nevertheless.
func TestWrongKeys(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	_, old := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	if _, err := f.store.RevokeKey(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	limited := 0
	for i := range 200 {
		header := bearer(store.NewSecret())
		if i%2 == 0 {
			header = "Authorization: Basic " + secret
		}
		switch got := f.ask("GET", "/v1/runs", "", header); {
		case got.status == 429 && got.header.Get("Retry-After") != "" && got.header.Get("WWW-Authenticate") == "":
			limited++
		case got.status != 401:
			t.Errorf("wrong key %d: %d %s", i, got.status, got.body)
		}
	}
	if limited == 0 {
		t.Error("no limit")
	}
	if got := f.ask("GET", "/v1/runs", "", bearer(secret)); got.status != 200 {
		t.Errorf("a valid key: %d %s", got.status, got.body)
	}
	f.login(secret)
}

// TestSessionsAreBounded: repeated logins end old sessions of the same key, not those of other
// keys.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	another, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	other, first := f.login(another), f.login(secret)
	var last browser
	for range 60 {
		last = f.login(secret)
	}
	for _, tt := range []struct {
		who    browser
		status int
	}{{first, 401}, {last, 200}, {other, 200}} {
		if got := f.ask("GET", "/v1/session", "", tt.who.cookie); got.status != tt.status {
			t.Errorf("%d, want %d", got.status, tt.status)
		}
	}
}

// TestLogins: wrong keys are refused, and after several of them an address must wait.
func TestLogins(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	login := func(body string, headers ...string) answer { return f.ask("POST", "/v1/session", body, headers...) }
	good := `{"key": "` + secret + `"}`
	for _, headers := range [][]string{nil, {f.origin()}, {ownPage}, {ownPage, "Origin: http://attacker.example"}} {
		if got := login(good, headers...); got.status != 403 || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%v: %d %s", headers, got.status, got.body)
		}
	}
	for _, body := range []string{`{"key": 1}`, `{"kee": "x"}`, `[]`} {
		if got := login(body, f.origin(), ownPage); got.status != 422 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := login(good, f.origin(), ownPage, "Content-Type: text/plain"); got.status != 415 {
		t.Errorf("as a form: %d", got.status)
	}
	wrong := `{"key": "` + store.NewSecret() + `"}`
	for i := range 10 {
		if got := login(wrong, f.origin(), ownPage); got.status != 401 || got.header.Get("Set-Cookie") != "" || got.header.Get("WWW-Authenticate") != "" {
			t.Errorf("wrong key %d: %d %s", i, got.status, got.body)
		}
	}
	if got := login(good, f.origin(), ownPage); got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("after ten wrong keys: %d %s", got.status, got.body)
	}
}

// TestOpenServer: a server without keys accepts no login.
func TestOpenServer(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	if got := f.ask("GET", "/v1/session", "", "Cookie: proviso=x"); got.status != 200 || got.body != `{"scopes":["admin"],"project":"default","mode":"serve"}`+"\n" {
		t.Errorf("%d %s", got.status, got.body)
	}
	f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	if got := f.ask("GET", "/v1/session", ""); got.status != 401 {
		t.Errorf("once there is a key: %d", got.status)
	}
}

// TestOpenToken: the link of proviso view opens one session, and nothing else does.
func TestOpenToken(t *testing.T) {
	t.Parallel()
	const token = "t0ken-of-the-test"
	f := start(t, server.Options{Open: true, OpenToken: token, Folder: "/runs <of> me"})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	refused := func(path string, status int, headers ...string) {
		t.Helper()
		if got := f.ask("GET", path, "", headers...); got.status != status || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for path, status := range map[string]int{"/": 403, "/runs": 403, "/?token=wrong": 403, "/?token=": 403, "/v1/runs": 401, "/v1/session": 401, "/v1/settings": 401, "/docs": 401, "/metrics": 401, "/healthz": 200} {
		refused(path, status)
	}
	if got := f.ask("GET", "/runs", ""); !strings.Contains(got.body, "proviso view") || got.header.Get("Content-Type") != "text/html; charset=utf-8" || strings.Contains(got.header.Get("Content-Security-Policy"), "script-src") {
		t.Errorf("the page of a refusal: %s", got.body)
	}
	if got := f.ask("POST", "/v1/session", `{"key": "`+secret+`"}`, f.origin(), ownPage); got.status != 422 {
		t.Errorf("a login: %d %s", got.status, got.body)
	}
	if got := f.ask("HEAD", "/?token="+token, ""); got.status != 403 {
		t.Errorf("HEAD uses up the token: %d", got.status)
	}
	got := f.ask("GET", "/runs/run_1?status=fail&token="+token+"&q=a%26b", "")
	if got.status != 303 || got.header.Get("Location") != "/runs/run_1?q=a%26b&status=fail" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	c := cookieOf(t, got)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, token) {
		t.Errorf("cookie %+v", c)
	}
	cookie := "Cookie: " + c.Name + "=" + c.Value
	refused("/?token="+token, 403)
	refused("/runs", 200, cookie)
	refused("/?token="+token, 303, cookie) // a reload
	if got := f.ask("GET", "/v1/session", "", cookie); got.body != `{"scopes":["read","label"],"project":"default","mode":"view"}`+"\n" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/evaluate", evaluation, cookie, f.origin(), ownPage); got.status != 403 {
		t.Errorf("an evaluation: %d", got.status)
	}
	if set := f.ask("GET", "/v1/settings", "", cookie).object(t); set.At("mode") != "view" || set.At("read_only") != true || set.At("open") != false || set.At("folder") != "/runs <of> me" {
		t.Errorf("%v", set)
	}
}

// TestTokenFromAnotherSite: a browser that comes from another site is redirected by a page of
// this server, so that it sends the strict cookie.
func TestTokenFromAnotherSite(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{OpenToken: "abc"})
	got := f.ask("GET", "/?token=abc&q=%22%3E%3Cscript%3E", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	if got.status != 200 || !strings.Contains(got.body, `content="0; url=/?q=%22%3E%3Cscript%3E"`) || strings.Contains(got.body, "<script") {
		t.Errorf("%d %s", got.status, got.body)
	}
	cookieOf(t, got)
}
