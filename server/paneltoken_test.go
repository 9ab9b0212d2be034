package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/web"
)

const (
	panelPage  = "https://app.example"
	otherPage  = "http://localhost:3000"
	fromPanel  = "Origin: " + panelPage
	fromOther  = "Origin: " + otherPage
	fromNobody = "Origin: https://attacker.example"
)

// mint makes a panel token.
func (f *fixture) mint(body string, headers ...string) string {
	f.t.Helper()
	got := f.ask("POST", "/v1/panel-tokens", body, headers...)
	token := got.object(f.t).Text("token")
	if got.status != 201 || !strings.HasPrefix(token, "pvt_") || len(token) < 40 {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	return token
}

func tokenFor(evaluation, more string) string {
	return `{"evaluation": "` + evaluation + `", "origin": "` + panelPage + `"` + more + `}`
}

// panelServer starts a server with a key that evaluates, and two evaluations of that key.
func panelServer(t *testing.T) (f *fixture, secret string, key store.Key, one, two string) {
	f = start(t, server.Options{PanelOrigins: []string{panelPage, otherPage}, Hosts: []string{"localhost"}, Poll: 20 * time.Millisecond})
	secret, key = f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	return f, secret, key, f.begin(evaluation, bearer(secret)), f.begin(evaluation, bearer(secret))
}

// TestPanelTokens: a token reads one evaluation, for pages of one origin, and nothing else.
func TestPanelTokens(t *testing.T) {
	t.Parallel()
	f, secret, _, one, two := panelServer(t)
	token := f.mint(tokenFor(one, ""), bearer(secret))
	label := f.mint(tokenFor(one, `, "allow": ["label"], "by": "Robin"`), bearer(secret))
	for _, tt := range []struct {
		name, method, path string
		headers            []string
		status             int
	}{
		{"its evaluation", "GET", "/v1/evaluations/" + one, []string{bearer(token), fromPanel}, 200},
		{"its events", "GET", "/v1/evaluations/" + one + "/events", []string{bearer(token), fromPanel, "Sec-Fetch-Site: cross-site"}, 200},
		{"another evaluation", "GET", "/v1/evaluations/" + two, []string{bearer(token), fromPanel}, 403},
		{"its events of another", "GET", "/v1/evaluations/" + two + "/events", []string{bearer(token), fromPanel}, 403},
		{"another origin that is allowed", "GET", "/v1/evaluations/" + one, []string{bearer(token), fromOther}, 403},
		{"an origin that is not", "GET", "/v1/evaluations/" + one, []string{bearer(token), fromNobody}, 403},
		{"an origin that begins like it", "GET", "/v1/evaluations/" + one, []string{bearer(token), fromPanel + ".attacker.example"}, 403},
		{"a sandboxed page", "GET", "/v1/evaluations/" + one, []string{bearer(token), "Origin: null"}, 403},
		{"no origin", "GET", "/v1/evaluations/" + one, []string{bearer(token)}, 403},
		{"the list", "GET", "/v1/evaluations", []string{bearer(token)}, 403},
		{"the list from the page", "GET", "/v1/evaluations", []string{bearer(token), fromPanel}, 403},
		{"the settings", "GET", "/v1/settings", []string{bearer(token)}, 403},
		{"cancelling", "DELETE", "/v1/evaluations/" + one, []string{bearer(token), fromPanel}, 403},
		{"a token for more", "POST", "/v1/panel-tokens", []string{bearer(token), fromPanel}, 403},
		{"another project", "GET", "/v1/evaluations/" + one + "?project=other", []string{bearer(token), fromPanel}, 403},
		{"a token that may only label", "GET", "/v1/evaluations/" + one, []string{bearer(label), fromPanel}, 403},
		{"the key itself from the page", "GET", "/v1/evaluations/" + one, []string{bearer(secret), fromPanel}, 401},
		{"nothing from the page", "GET", "/v1/evaluations/" + one, []string{fromPanel}, 401},
		{"a made-up token", "GET", "/v1/evaluations/" + one, []string{bearer("pvt_" + strings.Repeat("A", 52)), fromPanel}, 401},
		{"a session", "POST", "/v1/session", []string{bearer(token), fromPanel}, 403},
		{"another host", "GET", "/v1/evaluations/" + one, []string{bearer(token), fromPanel, "Host: attacker.example"}, 421},
	} {
		body := ""
		if tt.method == "POST" {
			body = tokenFor(one, "")
		}
		got := f.ask(tt.method, tt.path, body, tt.headers...)
		if got.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
		origin, _ := strings.CutPrefix(tt.headers[len(tt.headers)-1], "Origin: ")
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" && (allowed == "*" || allowed != origin && tt.name != "its events") || got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", tt.name, got.header)
		}
	}
	if strings.Contains(f.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// TestMakingPanelTokens: only the key that made an evaluation, or an admin, makes tokens for
// it. Tokens expire, and end with the key.
func TestMakingPanelTokens(t *testing.T) {
	t.Parallel()
	f, secret, key, one, _ := panelServer(t)
	admin, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	other, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate, store.Read}})
	reader, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read, store.Labelling}})
	foreign, _ := f.key(store.NewKey{Project: "b", Scopes: []store.Scope{store.Evaluate, store.Read}})
	for _, tt := range []struct {
		name, secret, body string
		status             int
	}{
		{"admin", admin, tokenFor(one, ""), 201},
		{"another key", other, tokenFor(one, ""), 403},
		{"a key that only reads", reader, tokenFor(one, ""), 403},
		{"another project", foreign, tokenFor(one, ""), 404},
		{"no such evaluation", secret, tokenFor("eval_nope", ""), 404},
		{"an origin that is not allowed", secret, strings.Replace(tokenFor(one, ""), "app.", "evil.", 1), 422},
		{"any origin", secret, strings.Replace(tokenFor(one, ""), panelPage, "*", 1), 422},
		{"too long", secret, tokenFor(one, `, "ttl_s": 601`), 422},
		{"no time", secret, tokenFor(one, `, "ttl_s": 0`), 422},
		{"admin rights", secret, tokenFor(one, `, "allow": ["admin"]`), 422},
		{"nothing", secret, tokenFor(one, `, "allow": []`), 422},
		{"a name of two lines", secret, tokenFor(one, `, "by": "a\nb"`), 422},
		{"a name that turns the text", secret, tokenFor(one, `, "by": "a\u202eb"`), 422},
		{"a name of blanks", secret, tokenFor(one, `, "by": " "`), 422},
	} {
		if got := f.ask("POST", "/v1/panel-tokens", tt.body, bearer(tt.secret)); got.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
	}
	short := f.mint(tokenFor(one, `, "ttl_s": 1`), bearer(secret), "Idempotency-Key: k")
	if again := f.mint(tokenFor(one, `, "ttl_s": 1`), bearer(secret), "Idempotency-Key: k"); again == short {
		t.Error("a token is kept for an idempotency key")
	}
	long := f.mint(tokenFor(one, ""), bearer(secret))
	until(t, "the token expires", func() bool {
		return f.ask("GET", "/v1/evaluations/"+one, "", bearer(short), fromPanel).status == 401
	})
	if got := f.ask("GET", "/v1/evaluations/"+one, "", bearer(long), fromPanel); got.status != 200 {
		t.Errorf("the other token: %d %s", got.status, got.body)
	}
	if _, err := f.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	got := f.ask("GET", "/v1/evaluations/"+one, "", bearer(long), fromPanel)
	if got.status != 401 || got.header.Get("Access-Control-Allow-Origin") != panelPage {
		t.Errorf("after its key was revoked: %d %v", got.status, got.header)
	}
}

// until waits until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it did not happen: %s", what)
}

// TestPanelStreamEnds: a stream ends with its token and with its key, and another token resumes
// it where it was cut.
func TestPanelStreamEnds(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	f := start(t, server.Options{PanelOrigins: []string{panelPage}, Poll: 20 * time.Millisecond, Judge: j})
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	id := f.begin(threeAsked, bearer(secret))
	cut := f.open(id, bearer(f.mint(tokenFor(id, `, "ttl_s": 1`), bearer(secret))), fromPanel)
	if first := cut.rest(); len(first) != 2 || first[1].id != "1" {
		t.Fatalf("%d events until the token expired", len(first))
	}
	allow("two")
	next := f.open(id, bearer(f.mint(tokenFor(id, ""), bearer(secret))), fromPanel, "Last-Event-ID: 1")
	own := f.open(id, bearer(secret), "Last-Event-ID: 2")
	if e := next.next(); e == nil || e.id != "2" || e.data.At("id") != "two" {
		t.Fatalf("it does not go on: %+v", e)
	}
	if _, err := f.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	next.rest() // returns only because the stream ends
	own.rest()
	list, err := f.store.In(store.DefaultProject).Evaluation(t.Context(), id)
	until(t, "what the key began is over", func() bool {
		list, err = f.store.In(store.DefaultProject).Evaluation(t.Context(), id)
		return err == nil
	})
	if list.Passed != 2 || list.Errors != 1 {
		t.Errorf("%+v", list)
	}
}

// TestTokenStreams: the number of streams of a token is limited.
func TestTokenStreams(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	f := start(t, server.Options{Open: true, PanelOrigins: []string{panelPage}, Judge: j})
	id := f.begin(threeAsked)
	defer func() { // so that the server need not wait for it
		allow("one")
		allow("two")
	}()
	token := bearer(f.mint(tokenFor(id, "")))
	var streams []*eventStream
	for range 10 {
		s := f.open(id, token, fromPanel)
		if s.next() == nil {
			t.Fatal("no stream")
		}
		streams = append(streams, s)
	}
	if got := f.ask("GET", "/v1/evaluations/"+id+"/events", "", token, fromPanel); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d", got.status)
	}
	if s := f.open(id, bearer(f.mint(tokenFor(id, ""))), fromPanel); s.next() == nil {
		t.Error("another token has none")
	}
	streams[0].close()
	until(t, "its place is free", func() bool {
		s := f.open(id, token, fromPanel)
		defer s.close()
		return s.resp.StatusCode == 200
	})
}

// TestPreflight: a preflight response allows pages of a panel origin to use the routes for
// panels, and no others.
func TestPreflight(t *testing.T) {
	t.Parallel()
	f, _, _, one, _ := panelServer(t)
	for _, tt := range []struct {
		path, method, origin string
		status               int
	}{
		{"/v1/evaluations/" + one, "GET", fromPanel, 204},
		{"/v1/evaluations/" + one + "/events", "GET", fromOther, 204},
		{"/v1/evaluations/" + one, "DELETE", fromPanel, 403},
		{"/v1/evaluations/" + one, "GET", fromNobody, 403},
		{"/v1/evaluations", "POST", fromPanel, 403},
		{"/v1/evaluate", "POST", fromPanel, 403},
		{"/v1/panel-tokens", "POST", fromPanel, 403},
		{"/v1/keys", "GET", fromPanel, 403},
		{"/", "GET", fromPanel, 403},
	} {
		got := f.ask("OPTIONS", tt.path, "", tt.origin, "Access-Control-Request-Method: "+tt.method, "Access-Control-Request-Headers: authorization,last-event-id", "Sec-Fetch-Site: cross-site")
		_, origin, _ := strings.Cut(tt.origin, ": ")
		if tt.status != 204 {
			origin = ""
		}
		if h := got.header; got.status != tt.status || h.Get("Access-Control-Allow-Origin") != origin || h.Get("Access-Control-Allow-Credentials") != "" ||
			origin != "" && (h.Get("Access-Control-Allow-Methods") != "GET" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Last-Event-ID") || h.Get("Vary") != "Origin") {
			t.Errorf("%s %s %s: %d %v", tt.method, tt.path, tt.origin, got.status, h)
		}
	}
	plain := start(t, server.Options{Open: true})
	if got := plain.ask("OPTIONS", "/v1/evaluations/x", "", fromPanel, "Access-Control-Request-Method: GET"); got.status != 403 {
		t.Errorf("without --panel-origin: %d", got.status)
	}
	if got := plain.ask("GET", "/v1/evaluations", "", fromPanel); got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without --panel-origin: %d %v", got.status, got.header)
	}
}

// TestOpenServerAndPanels: a server without keys serves no page of another origin without a
// token, even of a --panel-origin.
func TestOpenServerAndPanels(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, PanelOrigins: []string{panelPage}})
	id := f.begin(evaluation)
	token := f.mint(tokenFor(id, ""))
	if got := f.ask("GET", "/v1/evaluations/"+id, "", fromPanel); got.status != 401 {
		t.Errorf("without a token: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/v1/evaluations/"+id, "", fromPanel, bearer(token)); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != panelPage {
		t.Errorf("with one: %d %s", got.status, got.body)
	}
	f.key(store.NewKey{Scopes: []store.Scope{store.Read}}) // closes the door
	if got := f.ask("GET", "/v1/evaluations/"+id, "", fromPanel, bearer(token)); got.status != 401 {
		t.Errorf("after the first key: %d %s", got.status, got.body)
	}
}

// TestPanelScript: every page may run the script, and a page of a panel origin may also read
// it.
func TestPanelScript(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{PanelOrigins: []string{panelPage}, Hosts: []string{"localhost"}})
	for origin, allowed := range map[string]string{"": "", panelPage: panelPage, "https://attacker.example": ""} {
		got := f.ask("GET", "/panel.js", "", "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		script, built := web.File("panel.js")
		switch {
		case !built:
			if got.status != 404 || got.problem(t).Code != "not_found" {
				t.Errorf("without a built panel: %d %s", got.status, got.body)
			}
		case got.status != 200 || got.body != string(script) || got.header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
			got.header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || got.header.Get("ETag") == "":
			t.Errorf("%q: %d %v", origin, got.status, got.header)
		default:
			if again := f.ask("GET", "/panel.js", "", "If-None-Match: "+got.header.Get("ETag"), "Accept-Encoding: identity"); again.status != 304 && again.header.Get("ETag") == got.header.Get("ETag") {
				t.Errorf("again: %d", again.status)
			}
		}
		if built && got.header.Get("Access-Control-Allow-Origin") != allowed {
			t.Errorf("%q may read it: %v", origin, got.header)
		}
	}
	if got := f.ask("GET", "/panel.js", "", "Host: attacker.example"); got.status != 421 {
		t.Errorf("under another name: %d", got.status)
	}
}

// TestPanelIdempotency: an idempotency key belongs to a person. The label of another person
// with the same key is stored, too, and neither sees the other's label.
func TestPanelIdempotency(t *testing.T) {
	t.Parallel()
	f, secret, _, one, _ := panelServer(t)
	reader, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	f.open(one, bearer(secret)).rest() // stored once it has ended
	body := `{"evaluation": "` + one + `", "assertion": "", "label": "pass"}`
	for _, name := range []string{"Ann", "Ben", "Ann"} {
		token := f.mint(tokenFor(one, `, "allow": ["label"], "by": "`+name+`"`), bearer(secret))
		got := f.ask("POST", "/v1/labels", body, bearer(token), fromPanel, "Idempotency-Key: k")
		if got.status != 201 || got.object(t).Text("by") != name {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	list := f.ask("GET", "/v1/labels?history=yes", "", bearer(reader)).object(t).At("items").([]any)
	if len(list) != 2 {
		t.Errorf("%d labels, want one of each person", len(list))
	}
}
