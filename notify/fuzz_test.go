package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/harmless"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/value"
)

// sent is a network that keeps the last body and has no issues.
type sent struct{ body []byte }

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := "[]"
	if r.Method != http.MethodGet {
		s.body, _ = io.ReadAll(r.Body)
		answer = `{"number":1,"html_url":"https://github.com/o/r/issues/1"}`
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// alarmOf is an alarm with a text in every place that a stranger controls.
func alarmOf(kind, text string) json.RawMessage {
	o := value.ObjectOf("id", "alarm_1", "watch", text, "kind", kind, "assertion", text, "state", "open", "opened", "2030-01-02T03:04:05Z", "reason", text, "version", text, "judge", text,
		"changed", []any{value.ObjectOf("what", text, "from", text, "to", []any{text})})
	return value.AppendJSON(nil, o)
}

// FuzzAlarm: no text of an alarm mentions, links or formats anything in an issue or in Slack.
func FuzzAlarm(f *testing.F) {
	for _, text := range []string{"", "@team", "see #12, !3 and GH-4", "![x](http://evil/p.png) <http://evil> www.evil.com", "<!channel> <@U1>", "| a |\n\n# b", "`", "\\@a", "&#64;user", "\x1b[31m\u202e", "é", "\xff"} {
		f.Add("agent", text)
		f.Add("judge", text)
	}
	targets, err := notify.Read("notify.yaml", []byte("slack:a: {url_env: URL}\nrepo: {kind: github, repository: o/r, token_env: TOKEN}\n"))
	if err != nil {
		f.Fatal(err)
	}
	network := &sent{}
	n, err := notify.Open(targets, notify.Options{Env: proviso.EnvMap{"URL": "https://hooks.slack.com/services/T/B/x", "TOKEN": "t"}, Network: network})
	if err != nil {
		f.Fatal(err)
	}
	send := func(t *testing.T, target, kind, text string) *value.Object {
		if _, err := n.Notify(t.Context(), target, notify.Message{ID: "n", Event: notify.Opened, Alarm: alarmOf(kind, text)}); err != nil {
			t.Fatal(err)
		}
		v, err := value.ParseJSON(string(network.body))
		if err != nil || !utf8.Valid(network.body) {
			t.Fatalf("%v: %s", err, network.body)
		}
		return v.(*value.Object)
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		issue := send(t, "repo", kind, text)
		if wrong := harmless.Markdown(issue.Text("body"), send(t, "repo", kind, "x").Text("body")); wrong != "" {
			t.Errorf("the issue: %s\n%s", wrong, issue.Text("body"))
		}
		if title := issue.Text("title"); harmless.Terminal(title) != "" || strings.Contains(title, "\n") {
			t.Errorf("the title %q", title)
		}
		if got := send(t, "slack:a", kind, text); got.At("mrkdwn") != false || strings.ContainsAny(got.Text("text"), "<>") {
			t.Errorf("%s", value.Stringify(got))
		}
	})
}
