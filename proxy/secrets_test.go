package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestKeysAreNotKept: no key of a request is in an event, the log or the metrics, even if the
// upstream repeats it in its reply.
func TestKeysAreNotKept(t *testing.T) {
	t.Parallel()
	const bearer, other, query, cookie = "sk-bearer-0123456789", "ak-other-0123456789", "qk-query-0123456789", "ck-cookie-0123456789"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+bearer || r.Header.Get("X-Api-Key") != other || r.URL.Query().Get("key") != query {
			t.Error("a key was not forwarded")
		}
		said := strings.Join([]string{bearer, other, query, cookie}, " ")
		switch r.URL.Path {
		case "/v1/chat/completions":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","code":"invalid_api_key"}}`, said)
		case "/v1/messages":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"type\":\"message_start\",\"message\":{\"id\":\"%s\",\"usage\":{}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"%s\"}}\n\n", said, said)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"%s"}]}]}`, said)
		}
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	for i, path := range []string{"/openai/v1/chat/completions", "/anthropic/v1/messages", "/openai/v1/responses"} {
		_, body := ask(t, p.url+path+"?key="+query, chatBody, "Authorization: Bearer "+bearer, "X-Api-Key: "+other, "Cookie: session="+cookie)
		if !strings.Contains(body, bearer) {
			t.Error("the reply was changed")
		}
		c.wait(t, i+1)
	}
	shownMetrics, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer shownMetrics.Body.Close()
	metrics, _ := io.ReadAll(shownMetrics.Body)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	for _, key := range []string{bearer, other, query, testKey} {
		for what, text := range map[string]string{"an event": strings.Join(c.bodies, "\n"), "the log": p.log.String(), "the metrics": string(metrics)} {
			if strings.Contains(text, key) {
				t.Errorf("%s has the key %s:\n%s", what, key, text)
			}
		}
	}
}

// TestRedaction: text that the rules match is removed before anything leaves the proxy, and the
// version is the hash of the redacted prompt.
func TestRedaction(t *testing.T) {
	t.Parallel()
	const card = "4929123412341234"
	model := fakemodel.New(fakemodel.Options{Streams: true, Reply: func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: "Your card " + card + " is fine", Calls: []fakemodel.Call{{ID: "1", Name: "pay", Arguments: `{"card":"` + card + `"}`}}}
	}})
	defer model.Close()
	c := newCollector(t)
	p := start(t, configFor(model.URL, c.URL)+"redact: [{pattern: '\\d{16}'}, {field: user, hash_env: SALT}]\n")
	for i, form := range forms[:3] {
		body := strings.ReplaceAll(fmt.Sprintf(form.body, true), "How are you?", "My card is "+card)
		body = strings.ReplaceAll(body, "Be kind.", "Card "+card)
		ask(t, p.url+form.path, body, "X-Proviso-User: evelyn")
		e := c.wait(t, i+1)[i]
		if e.Input != "My card is [redacted]" || e.Prompt != "Card [redacted]" || !strings.HasPrefix(e.User, "hash:") || !strings.Contains(e.Output, "[redacted]") {
			t.Error(shown(e))
		}
		if i > 0 && e.Version != c.events[0].Version {
			t.Error(e.Version)
		}
	}
	if all := strings.Join(c.bodies, ""); strings.Contains(all, card) || strings.Contains(all, "evelyn") {
		t.Error(all)
	}
}

// TestKeyFollowsNoRedirect: if the server redirects, neither the key nor the events follow.
func TestKeyFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	elsewhere := newCollector(t)
	c := newCollector(t)
	c.answer = func(w http.ResponseWriter, n int) bool {
		w.Header().Set("Location", elsewhere.URL+"/v1/events")
		return n <= 2 && fail(w, http.StatusTemporaryRedirect)
	}
	p := start(t, configFor(model.URL, c.URL))
	ask(t, p.url+"/openai/v1/chat/completions", chatBody)
	c.wait(t, 1)
	if elsewhere.calls > 0 {
		t.Error("the redirect was followed")
	}
}
