package fakemodel_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestClients sends the requests of the vendors' own JavaScript clients, as captured.
// Streams are refused; everything else is understood.
func TestClients(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{})
	defer s.Close()
	data, err := os.ReadFile("testdata/clients.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var r struct {
			Client, API, Model, Path string
			Body                     json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(s.URL+r.Path, "application/json", bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		want := http.StatusOK
		if bytes.Contains(r.Body, []byte(`"stream":true`)) {
			want = http.StatusBadRequest
		}
		if err != nil || resp.StatusCode != want || !json.Valid(answer) {
			t.Errorf("%s %s: %s %s, %v", r.Client, r.Path, resp.Status, answer, err)
		}
		if got := s.Last(); got.API != r.API || got.Model != r.Model {
			t.Errorf("%s %s was understood as %s of %s", r.Client, r.Path, got.API, got.Model)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reply  fakemodel.Reply
		status int // 0 means no response
		body   string
		broken bool // the body ends early
	}{
		"rate limited": {fakemodel.RateLimited("3"), 429, "rate_limit_exceeded", false},
		"page":         {fakemodel.HTML(502), 502, "<html>", false},
		"broken":       {fakemodel.Broken(529), 529, "server_error", false},
		"cut":          {fakemodel.Reply{Text: "hello", Cut: true}, 200, "chatcmpl", true},
		"reset":        {fakemodel.Reply{Reset: true}, 0, "", true},
		"raw":          {fakemodel.Reply{Raw: "{", ContentType: "text/plain"}, 200, "{", false},
		"drip":         {fakemodel.Reply{Raw: "slow", Drip: time.Millisecond}, 200, "slow", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(fakemodel.Options{Reply: fakemodel.Sequence(tc.reply)})
			defer s.Close()
			resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
			if tc.status == 0 {
				if err == nil {
					t.Error("there is an answer")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tc.status || !strings.Contains(string(body), tc.body) || (err != nil) != tc.broken {
				t.Errorf("%s %s, %v", resp.Status, body, err)
			}
		})
	}
}

func TestKeysAndRoutes(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{Key: "k"})
	defer s.Close()
	for _, tc := range []struct {
		path, header, body string
		status             int
	}{
		{"/v1/chat/completions", "Authorization", `{}`, 200},
		{"/v1/messages", "X-Api-Key", `{}`, 200},
		{"/v1/chat/completions", "X-Other", `{}`, 401},
		{"/v1/chat/completions", "Authorization", `[`, 400},
		{"/v1/images", "Authorization", `{}`, 404},
		{"/v1beta/models/g:countTokens", "Authorization", `{}`, 404},
	} {
		req, err := http.NewRequest(http.MethodPost, s.URL+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(tc.header, "k")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tc.status {
			t.Errorf("%s with %s: %s, want %d", tc.path, tc.header, resp.Status, tc.status)
		}
	}
}
