package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakeforge"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/notify"
)

const secret = "a-long-enough-secret"

// hostile is an alarm whose texts try to be markup.
const hostile = `{"id":"alarm_1","watch":"support <!channel>","kind":"agent","assertion":"tone*_~@octocat #1 [x](javascript:1) <b>|` + "`" + `","state":"open","opened":"2030-01-02T03:04:05Z",
	"since":{"low":"2030-01-01T00:00:00Z","high":"2030-01-02T00:00:00Z"},"baseline":{"rate":0.02,"upper":0.03,"n":800},"now":{"rate":0.121,"low":0.08,"high":0.17,"n":240},
	"version":"v2\u001b[31m","judge":"www.evil.example","changed":[{"what":"version","from":"v1","to":"<script>","at":"2030-01-01T12:00:00Z"}]}`

// receiver is a server that keeps what it receives.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	status  int
	header  http.Header
	bodies  []string
	headers []http.Header
}

func receive(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK, header: http.Header{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies, r.headers = append(r.bodies, string(data)), append(r.headers, req.Header)
		for name, v := range r.header {
			w.Header()[name] = v
		}
		w.WriteHeader(r.status)
		io.WriteString(w, "said \x1b[31mhook "+req.URL.Path)
	}))
	t.Cleanup(r.Close)
	return r
}

func open(t *testing.T, file string, env proviso.EnvMap) *notify.Notifier {
	t.Helper()
	targets, err := notify.Read("notify.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	n, err := notify.Open(targets, notify.Options{Env: env, Network: transport.New(transport.Options{Hosts: targets.Allows}), Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNoAnswer: the error for a target that does not respond is in plain words.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer hangs.Close()
	targets, err := notify.Read("notify.yaml", []byte("ops: {kind: webhook, url_env: URL, secret_env: SECRET}"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := notify.Open(targets, notify.Options{Env: proviso.EnvMap{"URL": hangs.URL, "SECRET": secret}, Network: transport.New(transport.Options{Hosts: targets.Allows}), Timeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Notify(t.Context(), "ops", notify.Message{ID: "notice_1", Event: notify.Opened, Alarm: json.RawMessage(hostile)})
	if err == nil || !strings.HasSuffix(err.Error(), "no answer within 30ms") {
		t.Error(err)
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	r := receive(t)
	n := open(t, "ops: {kind: webhook, url_env: URL, secret_env: SECRET}", proviso.EnvMap{"URL": r.URL + "/T0/s3cr3t?key=k3y", "SECRET": secret})
	m := notify.Message{ID: "notice_1", Event: notify.Opened, Alarm: json.RawMessage(hostile)}
	if _, err := n.Notify(t.Context(), "ops", m); err != nil {
		t.Fatal(err)
	}
	h := r.headers[0]
	if r.bodies[0] != hostile || h.Get(notify.DeliveryHeader) != "notice_1" || h.Get(notify.EventHeader) != "opened" || h.Get("Content-Type") != "application/json" {
		t.Errorf("%q, %v", r.bodies[0], h)
	}
	if err := notify.Verify(secret, h, []byte(r.bodies[0]), time.Now(), time.Minute); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another body":   notify.Verify(secret, h, []byte("{}"), time.Now(), time.Minute),
		"another secret": notify.Verify(secret+"x", h, []byte(hostile), time.Now(), time.Minute),
		"an old one":     notify.Verify(secret, h, []byte(hostile), time.Now().Add(time.Hour), time.Minute),
		"no headers":     notify.Verify(secret, http.Header{}, []byte(hostile), time.Now(), time.Minute),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	r.status, r.header = http.StatusTooManyRequests, http.Header{"Retry-After": {"90"}}
	_, err := n.Notify(t.Context(), "ops", m)
	var f *notify.Failure
	if !errors.As(err, &f) || f.Permanent || f.After != 90*time.Second || f.Target != "ops" {
		t.Errorf("%+v", err)
	}
	if text := err.Error(); strings.Contains(text, "s3cr3t") || strings.Contains(text, "k3y") || strings.Contains(text, "\x1b") {
		t.Errorf("the error tells %q", text)
	}
	r.status = http.StatusBadRequest
	if _, err := n.Notify(t.Context(), "ops", m); !errors.As(err, &f) || !f.Permanent {
		t.Errorf("%+v", err)
	}
	r.status, r.header = http.StatusFound, http.Header{"Location": {r.URL + "/elsewhere"}}
	before := len(r.bodies)
	if _, err := n.Notify(t.Context(), "ops", m); err == nil || len(r.bodies) != before+1 {
		t.Errorf("a redirect is followed: %v", err)
	}
	r.Close()
	if _, err := n.Notify(t.Context(), "ops", m); err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "k3y") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Notify(ctx, "ops", m); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := n.Notify(t.Context(), "other", m); err == nil {
		t.Error("there is no such target")
	}
}

func TestSlack(t *testing.T) {
	t.Parallel()
	r := receive(t)
	n := open(t, "slack:oncall: {url_env: URL}", proviso.EnvMap{"URL": r.URL + "/services/T/B/x"})
	if _, err := n.Notify(t.Context(), "slack:oncall", notify.Message{Event: notify.Opened, Alarm: json.RawMessage(hostile), Link: "https://p.example/alarms/1?a=1&b=<2>"}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Text   string
		Mrkdwn bool
		Blocks []struct {
			Type     string
			Text     *struct{ Type, Text string }
			Fields   []struct{ Type, Text string }
			Elements []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal([]byte(r.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Text, "Support &lt;!channel&gt;: tone*_~@octocat") || got.Mrkdwn {
		t.Errorf("the text is %q", got.Text)
	}
	if strings.ContainsAny(r.bodies[0], "\x1b") || strings.Contains(r.bodies[0], "u001b") {
		t.Error("there is a control character")
	}
	all := ""
	for _, b := range got.Blocks {
		if b.Text != nil && b.Text.Type != "plain_text" {
			t.Errorf("%+v is markup", b)
		}
		for _, f := range b.Fields {
			if all += f.Text + "\n"; f.Type != "plain_text" {
				t.Errorf("%+v is markup", f)
			}
		}
		for _, e := range b.Elements {
			if e.Text != "<https://p.example/alarms/1?a=1&amp;b=&lt;2&gt;|Open the alarm>" {
				t.Errorf("the link is %q", e.Text)
			}
		}
	}
	for _, want := range []string{"Fails now: 12.1 % (8.0 % to 17.0 %) of 240", "Before: 2.0 % of 800, at most 3.0 %", "Since: between 2030-01-01 00:00 UTC and 2030-01-02 00:00 UTC", "Changed: version: v1 → <script> at 2030-01-01 12:00 UTC"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
}

// TestSlackLimits: Slack accepts the message of the longest alarm. The limits come from its
// Block Kit reference: blocks per message, characters per header, fields per section and
// characters per field. No text may be empty.
func TestSlackLimits(t *testing.T) {
	t.Parallel()
	const blocks, header, fields, text = 50, 150, 10, 2000
	r := receive(t)
	n := open(t, "slack:oncall: {url_env: URL}", proviso.EnvMap{"URL": r.URL + "/services/T/B/x"})
	long := strings.Repeat("🚨 a very long name ", 500)
	change := `{"what": "prompt", "from": "` + long + `", "to": "` + long + `", "at": "2030-01-01T12:00:00Z"}`
	alarm := `{"id": "a", "watch": "` + long + `", "kind": "agent", "assertion": "` + long + `", "state": "open", "opened": "2030-01-02T00:00:00Z", "reason": "` + long + `", "version": "` + long + `", "judge": "` + long +
		`", "changed": [` + strings.Repeat(change+",", 99) + change + `]}`
	if _, err := n.Notify(t.Context(), "slack:oncall", notify.Message{Event: notify.Opened, Alarm: json.RawMessage(alarm), Link: "https://p.example/alarms/1"}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Text   string
		Blocks []struct {
			Type     string
			Text     *struct{ Text string }
			Fields   []struct{ Text string }
			Elements []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(r.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Blocks) < 2 || len(got.Blocks) > blocks || got.Text == "" {
		t.Errorf("%d blocks under %q", len(got.Blocks), got.Text)
	}
	within := func(what, s string, most int) {
		if n := utf8.RuneCountInString(s); n == 0 || n > most {
			t.Errorf("a %s of %d characters", what, n)
		}
	}
	for _, b := range got.Blocks {
		switch b.Type {
		case "header":
			within("header", b.Text.Text, header)
		case "section":
			if len(b.Fields) == 0 || len(b.Fields) > fields {
				t.Errorf("%d fields", len(b.Fields))
			}
			for _, f := range b.Fields {
				within("field", f.Text, text)
			}
		case "context":
			if len(b.Elements) == 0 || len(b.Elements) > fields {
				t.Errorf("%d elements", len(b.Elements))
			}
		default:
			t.Errorf("a block of the type %q", b.Type)
		}
	}
}

func TestIssue(t *testing.T) {
	t.Parallel()
	lost := false
	f := fakeforge.New(fakeforge.Options{Token: "token-1234567", Mischief: func(_ int, r *http.Request) fakeforge.Mischief {
		if lost && r.Method == http.MethodPost {
			lost = false
			return fakeforge.LostAnswer
		}
		return fakeforge.Mischief{}
	}})
	defer f.Close()
	n := open(t, "repo: {kind: github, repository: team/app, token_env: TOKEN, labels: [monitor], api: "+f.URL+"}", proviso.EnvMap{"TOKEN": "token-1234567"})
	m := notify.Message{Event: notify.Opened, Alarm: json.RawMessage(hostile), Link: "https://p.example/alarms/1"}
	lost = true
	if _, err := n.Notify(t.Context(), "repo", m); err == nil {
		t.Error("the answer was lost")
	}
	number, err := n.Notify(t.Context(), "repo", m)
	if err != nil || len(f.Issues()) != 1 {
		t.Fatalf("%v, %d issues", err, len(f.Issues()))
	}
	is := f.Issues()[0]
	for _, never := range []string{"<script>", "[x](", "<b>", "<!channel>", "\x1b", "@octocat", "#1 "} {
		if strings.Contains(is.Body, never) {
			t.Errorf("%q stands in %s", never, is.Body)
		}
	}
	if is.State != "open" || !strings.Contains(is.Body, "| Fails now | 12.1 % \\(8.0 % to 17.0 %\\) of 240 |") || !strings.Contains(is.Body, "[Open the alarm](<https://p.example/alarms/1>)") {
		t.Errorf("%+v", is)
	}
	for _, remote := range []string{"", number} {
		m := m
		m.Event, m.Remote = notify.Closed, remote
		m.Alarm = json.RawMessage(strings.Replace(hostile, `"open"`, `"closed"`, 1))
		if _, err := n.Notify(t.Context(), "repo", m); err != nil {
			t.Error(err)
		}
	}
	if is := f.Issues()[0]; is.State != "closed" || len(f.Comments()) != 1 {
		t.Errorf("%+v, %d comments", is, len(f.Comments()))
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	b := notify.Backoff{First: time.Second, Most: 5 * time.Second, Attempts: 5}
	now := time.Unix(1_900_000_000, 0)
	for attempt, want := range []time.Duration{0, 1, 2, 4, 5} {
		if at, ok := b.Next(attempt, errors.New("x"), now); attempt > 0 && (!ok || at.Sub(now) != want*time.Second) {
			t.Errorf("after attempt %d: %v, %v", attempt, at.Sub(now), ok)
		}
	}
	if _, ok := b.Next(5, errors.New("x"), now); ok {
		t.Error("a sixth attempt")
	}
	if _, ok := b.Next(1, &notify.Failure{Permanent: true}, now); ok {
		t.Error("after a permanent failure")
	}
	if at, ok := b.Next(1, &notify.Failure{After: time.Minute}, now); !ok || at.Sub(now) != time.Minute {
		t.Errorf("what the target asks for: %v", at)
	}
	last := now
	for i := 1; i <= notify.Usual.Attempts; i++ {
		if at, ok := notify.Usual.Next(i, errors.New("x"), last); ok {
			last = at
		}
	}
	if all := last.Sub(now); all < 20*time.Hour || all > 48*time.Hour {
		t.Errorf("a target may be away for %v", all)
	}
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	n := open(t, `
slack:a: {url_env: URL, quiet: {from: "22:00", to: "07:00", zone: Europe/Berlin}}
slack:b: {url_env: URL, quiet: [{from: "18:00", to: "00:00", days: [sat]}, {from: "00:00", to: "00:00", days: [sun]}, {from: "00:00", to: "08:00"}]}
slack:c: {url_env: URL}
slack:d: {url_env: URL, quiet: {from: "00:00", to: "00:00"}}
`, proviso.EnvMap{"URL": "https://hooks.example/x"})
	for _, c := range []struct{ target, now, want string }{
		{"slack:a", "2030-01-02T20:59:00Z", ""}, {"slack:a", "2030-01-02T21:00:00Z", "2030-01-03T06:00:00Z"}, {"slack:a", "2030-01-03T05:59:59Z", "2030-01-03T06:00:00Z"},
		{"slack:a", "2030-01-03T06:00:00Z", ""},
		{"slack:a", "2030-03-30T23:00:00Z", "2030-03-31T05:00:00Z"}, // daylight saving time begins that night
		{"slack:b", "2030-01-05T18:00:00Z", "2030-01-07T08:00:00Z"}, // from Saturday evening to Monday morning
		{"slack:b", "2030-01-04T18:00:00Z", ""}, {"slack:c", "2030-01-04T18:00:00Z", ""}, {"slack:x", "2030-01-04T18:00:00Z", ""},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if end := n.Quiet(c.target, now); !end.IsZero() {
			got = end.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s at %s is quiet until %q, want %q", c.target, c.now, got, c.want)
		}
	}
	now := time.Unix(1_900_000_000, 0)
	if end := n.Quiet("slack:d", now); end.IsZero() || end.Sub(now) > 31*24*time.Hour {
		t.Errorf("always quiet until %v", end)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	_, err := notify.Read("notify.yaml", []byte(`slack:a: {url_evn: X}
b: {kind: pager}
c: {kind: webhook, url_env: X}
d d: {kind: slack, url_env: X}
e: {kind: slack, url_env: X, quiet: {from: 22, to: "07:00", zone: Mars, days: [someday]}}
f: 1
`))
	for _, want := range []string{
		`notify.yaml:1:20: a target of kind slack has no key "url_evn" (did you mean "url_env"?)`, `notify.yaml:1:10: a target of kind slack needs url_env`,
		`notify.yaml:2:4: the kind of a target is webhook, slack, github, not "pager"`, `notify.yaml:3:4: a target of kind webhook needs url_env and secret_env`,
		`notify.yaml:4:6: the name of a target`, `from is a time of the day`, `this machine knows no time zone "Mars"`, `a day is sun, mon`, `notify.yaml:6:4: a target is an object`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	targets, err := notify.Read("notify.yaml", []byte("slack:a: {url_env: X}\nops: {kind: webhook, url_env: Y, secret_env: Z}\ng: {kind: github, repository: a/b, token_env: T}"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = notify.Open(targets, notify.Options{Env: proviso.EnvMap{"X": "hooks.slack.com/x", "Z": "short"}})
	for _, want := range []string{"target g: the environment variable T is not set", "target slack:a: the variable X holds no address", "the environment variable Y is not set", "fewer than 16"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	n := open(t, "slack:oncall: {url_env: X}", proviso.EnvMap{"X": "https://hooks.example/x"})
	if err := n.Check("slack:onkall"); err == nil || !strings.Contains(err.Error(), `did you mean "slack:oncall"`) {
		t.Error(err)
	}
	if err := (*notify.Notifier)(nil).Check("slack:oncall"); err == nil || !strings.Contains(err.Error(), "--notify FILE") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("slack:a: {url_env: X, quiet: [{from: \"22:00\", to: \"07:00\", days: [mon]}]}")
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		if targets, err := notify.Read("n.yaml", []byte(text)); err == nil {
			targets.Names()
		}
	})
}

// TestObjective: an alarm on an assertion without a baseline shows the allowed rate, and no
// previous rate.
func TestObjective(t *testing.T) {
	t.Parallel()
	r := receive(t)
	n := open(t, "slack:oncall: {url_env: URL}", proviso.EnvMap{"URL": r.URL + "/services/T/B/x"})
	alarm := json.RawMessage(`{"id":"alarm_1","watch":"w","kind":"agent","assertion":"tone","state":"open","opened":"2030-01-02T03:04:05Z","baseline":{"rate":0.05,"upper":0.05,"n":0}}`)
	if _, err := n.Notify(t.Context(), "slack:oncall", notify.Message{Event: notify.Opened, Alarm: alarm}); err != nil {
		t.Fatal(err)
	}
	if got := r.bodies[0]; !strings.Contains(got, "Objective: at most 5.0 %") || strings.Contains(got, "Before") {
		t.Error(got)
	}
}
