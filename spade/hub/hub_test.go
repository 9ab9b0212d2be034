package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/hub"
	"github.com/proviso-eval/proviso/value"
)

// fake is the LangSmith hub with one prompt, as its documentation describes it.
type fake struct {
	key     string // "" makes the prompt public
	commits int
	bare    bool // the list has no manifests
	fail    func(asked int) int
	asked   []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	if f.fail != nil {
		if status := f.fail(len(f.asked)); status != 0 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			return
		}
	}
	if f.key != "" && r.Header.Get("X-Api-Key") != f.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/commits/shop/bakery")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	manifest := func(n int) string {
		return fmt.Sprintf(`"manifest":{"lc":1,"type":"constructor","id":["langchain","prompts","prompt","PromptTemplate"],"kwargs":{"template":"Version %d of {question}"}}`, n)
	}
	if rest != "" {
		n := 0
		fmt.Sscanf(rest, "/hash%d", &n)
		fmt.Fprintf(w, `{"commit_hash":"hash%d",%s,"examples":[]}`, n, manifest(n))
		return
	}
	limit, offset := 0, 0
	fmt.Sscan(r.URL.Query().Get("limit"), &limit)
	fmt.Sscan(r.URL.Query().Get("offset"), &offset)
	var list []string
	for i := offset; i < min(offset+limit, f.commits); i++ {
		n := f.commits - i // newest first
		c := fmt.Sprintf(`{"id":"i","commit_hash":"hash%d","created_at":"2026-03-01T00:%02d:00Z"`, n, n%60)
		if !f.bare {
			c += "," + manifest(n)
		}
		list = append(list, c+"}")
	}
	fmt.Fprintf(w, `{"commits":[%s],"total":%d}`, strings.Join(list, ","), f.commits)
}

// read reads from a fake hub, and returns the waits.
func read(t *testing.T, f *fake, key, name string) (hashes []string, waits []time.Duration, err error) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	data, err := hub.Read(context.Background(), hub.Options{Client: server.Client(), Server: server.URL, Key: key, KeyOf: "LANGSMITH_API_KEY",
		Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }}, "shop", name)
	if err != nil {
		return nil, waits, err
	}
	v, err := value.ParseJSON(string(data))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.(*value.Object).At("commits").([]any)
	for _, c := range list {
		o, _ := c.(*value.Object)
		if o.Object("manifest") == nil {
			t.Errorf("%s has no manifest", o.Text("commit_hash"))
		}
		hashes = append(hashes, o.Text("commit_hash"))
	}
	return hashes, waits, nil
}

func TestRead(t *testing.T) {
	t.Parallel()
	f := &fake{key: "ls-1", commits: 230}
	hashes, waits, err := read(t, f, "ls-1", "bakery")
	if err != nil || len(hashes) != 230 || hashes[0] != "hash1" || hashes[229] != "hash230" || len(waits) != 0 {
		t.Errorf("%d commits, %v, waits %v", len(hashes), err, waits)
	}
	if want := "/commits/shop/bakery?limit=100&offset=200&include_stats=false"; len(f.asked) != 3 || f.asked[2] != want {
		t.Errorf("asked %v", f.asked)
	}
	f = &fake{commits: 2, bare: true}
	if hashes, _, err = read(t, f, "", "bakery"); err != nil || strings.Join(hashes, " ") != "hash1 hash2" || len(f.asked) != 3 {
		t.Errorf("a list without manifests: %v, %v, asked %v", hashes, err, f.asked)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	always := func(status int) func(int) int { return func(int) int { return status } }
	for _, c := range []struct {
		f         *fake
		key, name string
		code      string
		want      string
		asked     int
	}{
		{&fake{key: "ls-1", commits: 1}, "", "bakery", proviso.Refused, "the hub does not show shop/bakery without a key (401); set LANGSMITH_API_KEY", 1},
		{&fake{key: "ls-1", commits: 1}, "ls-2", "bakery", proviso.Refused, "the hub refuses the key in LANGSMITH_API_KEY (401)", 1},
		{&fake{commits: 1}, "", "bakry", proviso.NotFound, "the hub has no prompt shop/bakry; a private one needs a key in LANGSMITH_API_KEY", 1},
		{&fake{commits: 0}, "", "bakery", proviso.NotFound, "the prompt shop/bakery of the hub has no commits", 1},
		{&fake{commits: 1, fail: always(429)}, "", "bakery", proviso.Unavailable, "the hub has had too many requests (429), asked 4 times; try again later", 4},
		{&fake{commits: 1, fail: always(400)}, "", "bakery", proviso.Unavailable, "the hub answered with status 400", 1},
	} {
		_, _, err := read(t, c.f, c.key, c.name)
		var known *proviso.Error
		if !errors.As(err, &known) || known.Code != c.code || err.Error() != c.want || len(c.f.asked) != c.asked {
			t.Errorf("%v (asked %d times), want %s: %s (%d times)", err, len(c.f.asked), c.code, c.want, c.asked)
		}
		if err != nil && strings.Contains(err.Error(), "ls-") {
			t.Errorf("the key is in the message: %v", err)
		}
	}
	f := &fake{commits: 1, fail: func(asked int) int { return []int{429, 503, 0}[min(asked, 3)-1] }}
	hashes, waits, err := read(t, f, "", "bakery")
	if err != nil || len(hashes) != 1 || fmt.Sprint(waits) != "[7s 14s]" {
		t.Errorf("%v, %v, waits %v", hashes, err, waits)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"shop/bakery": "shop bakery", "bakery": "- bakery", "a/b/c": "", "../x": "", "": "", "a/": "", "a/b?x": ""} {
		owner, name, err := hub.Name(text)
		if got := owner + " " + name; (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// answers is a network that gives the first 30 requests the same answer.
type answers struct {
	status      int
	after, body string
	asked       int
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.asked++; a.asked > 30 {
		return nil, errors.New("it is too much")
	}
	h := http.Header{}
	if a.after != "" {
		h.Set("Retry-After", a.after)
	}
	return &http.Response{StatusCode: a.status, Request: r, Header: h, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// FuzzAnswers: whatever the hub sends, the result is commits with a hash or an error, and no
// wait is longer than a minute.
func FuzzAnswers(f *testing.F) {
	f.Add(200, "", `{"commits":[{"commit_hash":"a","manifest":{"kwargs":{"template":"x"}}},{"commit_hash":"b","manifest":{}}],"total":2}`)
	f.Add(200, "", `{"commits":[{"commit_hash":"../../x?#"}],"total":1e300,"manifest":{}}`)
	f.Add(200, "", `{"commits":[],"total":-1}`)
	f.Add(200, "", `{"commits":[null],"total":"1"}`)
	f.Add(429, "10000000000", "")
	f.Add(503, "Fri, 31 Dec 9999 23:59:59 GMT", "[")
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		if status < 200 || status > 599 || status/100 == 3 {
			return
		}
		network := &answers{status: status, after: after, body: body}
		data, err := hub.Read(t.Context(), hub.Options{Client: &http.Client{Transport: network}, Server: "http://hub.example", KeyOf: "K", Sleep: func(_ context.Context, d time.Duration) error {
			if d <= 0 || d > time.Minute {
				t.Errorf("Retry-After %q gives a wait of %v", after, d)
			}
			return nil
		}}, "shop", "bakery")
		if err != nil {
			return
		}
		v, err := value.ParseJSON(string(data))
		o, _ := v.(*value.Object)
		list, _ := o.At("commits").([]any)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", data, err)
		}
		for _, c := range list {
			if commit, _ := c.(*value.Object); commit.Text("commit_hash") == "" {
				t.Errorf("%s", data)
			}
		}
	})
}
