package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
)

// hub stands in for Hugging Face's dataset server, with a dataset of total rows; it
// fails for pages of more than most rows.
type hub struct {
	total, most int
	mu          sync.Mutex
	asked       []string
	fail        map[int]int // status by request number
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
	status := h.fail[len(h.asked)]
	h.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"The dataset does not exist, or is not accessible without authentication."}`)
		return
	}
	var offset, length int
	q := r.URL.Query()
	fmt.Sscan(q.Get("offset"), &offset)
	fmt.Sscan(q.Get("length"), &length)
	if length > h.most {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	var rows []string
	for i := offset; i < min(offset+length, h.total); i++ {
		rows = append(rows, fmt.Sprintf(`{"row_idx":%d,"row":{"question":"q%d","choices":["a","b"]},"truncated_cells":[]}`, i, i))
	}
	fmt.Fprintf(w, `{"features":[],"rows":[%s],"num_rows_total":%d}`, strings.Join(rows, ","), h.total)
}

func getter(t *testing.T, h http.Handler, o dataset.Options) (*dataset.Getter, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.Client, o.Server = s.Client(), s.URL
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return dataset.New(o), s.URL
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHuggingFace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, ref string
		hub       *hub
		cases     int
		asked     []string // offset and length of each request
	}{
		{name: "all", ref: "huggingface://datasets/a/b?split=train", hub: &hub{total: 230, most: 100}, cases: 230, asked: []string{"0 100", "100 100", "200 100"}},
		{name: "limit", ref: "huggingface://datasets/a/b?limit=120", hub: &hub{total: 230, most: 100}, cases: 120, asked: []string{"0 100", "100 20"}},
		{name: "limit beyond", ref: "huggingface://datasets/a/b?limit=99", hub: &hub{total: 3, most: 100}, cases: 3, asked: []string{"0 99"}},
		{name: "none", ref: "huggingface://datasets/a/b?limit=0", hub: &hub{total: 3, most: 100}},
		{name: "large rows", ref: "huggingface://datasets/a/b", hub: &hub{total: 60, most: 30}, cases: 60, asked: []string{"0 100", "0 50", "0 25", "25 25", "50 25"}},
		{name: "busy", ref: "huggingface://datasets/a/b", hub: &hub{total: 2, most: 100, fail: map[int]int{1: 429, 2: 503}}, cases: 2, asked: []string{"0 100", "0 100", "0 100"}},
		{name: "no owner", ref: "huggingface://datasets/squad", hub: &hub{total: 1, most: 100}, cases: 1, asked: []string{"0 100"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := tc.hub
			g, _ := getter(t, h, dataset.Options{})
			name, err := g.Get(t.Context(), tc.ref, proviso.EnvMap{"HF_TOKEN": "hf_secret"})
			if err != nil || filepath.Ext(name) != ".jsonl" {
				t.Fatalf("%s, %v", name, err)
			}
			lines := strings.Split(strings.TrimSuffix(read(t, name), "\n"), "\n")
			if read(t, name) == "" {
				lines = nil
			}
			if len(lines) != tc.cases {
				t.Errorf("%d cases, want %d", len(lines), tc.cases)
			}
			for i, line := range lines {
				if want := fmt.Sprintf(`{"vars":{"question":"q%d","choices":["a","b"]},"options":{"disableVarExpansion":true}}`, i); line != want {
					t.Fatalf("case %d: %s, want %s", i, line, want)
				}
			}
			if len(h.asked) != len(tc.asked) {
				t.Fatalf("asked %q, want %q", h.asked, tc.asked)
			}
			for i, want := range tc.asked {
				offset, length, _ := strings.Cut(want, " ")
				for _, part := range []string{"offset=" + offset + "&", "length=" + length + "&", "config=default", "split=" + map[bool]string{true: "train", false: "test"}[tc.name == "all"], "Bearer hf_secret"} {
					if !strings.Contains(h.asked[i]+"&", part) {
						t.Errorf("request %d is %s, without %s", i, h.asked[i], part)
					}
				}
			}
		})
	}
}

func TestHuggingFaceFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ref  string
		h    http.Handler
		want string
	}{
		{"huggingface://datasets/", &hub{}, "expected huggingface://datasets/OWNER/NAME"},
		{"huggingface://datasets/a/b/c", &hub{}, "expected huggingface://datasets/OWNER/NAME"},
		{"huggingface://datasets/a/b?limit=x", &hub{}, `expected limit to be a number of rows, found "x"`},
		{"huggingface://datasets/a/b", &hub{fail: map[int]int{1: 401}}, "answered HTTP 401; a dataset that is private or gated needs HF_TOKEN: The dataset does not exist"},
		{"huggingface://datasets/a/b", &hub{fail: map[int]int{1: 404}}, "answered HTTP 404"},
		{"huggingface://datasets/a/b", &hub{fail: map[int]int{1: 500, 2: 500, 3: 500, 4: 500}}, "answered HTTP 500"},
		{"huggingface://datasets/a/b", &hub{total: 5}, "answered HTTP 422"},
		{"huggingface://datasets/a/b", reply(`{"rows":[],"num_rows_total":7}`), "stopped after 0 of 7 rows"},
		{"huggingface://datasets/a/b", reply(`{"rows":[{"row":"x"}],"num_rows_total":1}`), "a row that is not an object"},
		{"huggingface://datasets/a/b", reply(`<html>`), "has no rows"},
	} {
		g, _ := getter(t, tc.h, dataset.Options{})
		if name, err := g.Get(t.Context(), tc.ref, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %q, %v; want %q", tc.ref, name, err, tc.want)
		}
	}
}

func reply(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, kind, body, ext, want string }{
		{path: "/a.csv", body: "\ufeffq,__expected\nx,y\n", ext: ".csv", want: "q,__expected\nx,y\n"},
		{path: "/a", kind: "text/csv; charset=utf-8", body: "q\nx\n", ext: ".csv", want: "q\nx\n"},
		{path: "/a.JSON?x=1", body: `[{"vars":{"a":1}},{"vars":{"a":2}}]`, ext: ".jsonl", want: "{\"vars\":{\"a\":1}}\n{\"vars\":{\"a\":2}}\n"},
		{path: "/a", kind: "application/json", body: `{"vars":{"a":1}}`, ext: ".jsonl", want: "{\"vars\":{\"a\":1}}\n"},
		{path: "/a.ndjson", body: "{}\n{}\n", ext: ".jsonl", want: "{}\n{}\n"},
		{path: "/a.json", body: `[1`, want: "not JSON"},
		{path: "/a.html", kind: "text/html", body: "<html>", want: "is not CSV, JSON or JSON Lines"},
		{path: "/missing", want: "HTTP 404"},
	} {
		g, url := getter(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tc.path == "/missing" {
				w.WriteHeader(http.StatusNotFound)
			}
			w.Header().Set("Content-Type", tc.kind)
			fmt.Fprint(w, tc.body)
		}), dataset.Options{})
		name, err := g.Get(t.Context(), url+tc.path, nil)
		switch {
		case tc.ext == "":
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.path, err, tc.want)
			}
		case err != nil || filepath.Ext(name) != tc.ext || read(t, name) != tc.want:
			t.Errorf("%s: %s, %v", tc.path, name, err)
		}
	}
}

// TestCopies: a copy is used until it is too old, unless the caller wants a fresh
// one; a resumed run accepts any age.
func TestCopies(t *testing.T) {
	t.Parallel()
	h := &hub{total: 1, most: 100}
	now := time.Now()
	dir := t.TempDir()
	const ref = "huggingface://datasets/a/b"
	get := func(o dataset.Options, want int) {
		t.Helper()
		o.Dir, o.Now = dir, func() time.Time { return now }
		g, _ := getter(t, h, o)
		if _, err := g.Get(t.Context(), ref, nil); err != nil {
			t.Fatal(err)
		}
		if len(h.asked) != want {
			t.Fatalf("asked %d times, want %d", len(h.asked), want)
		}
	}
	none := dataset.New(dataset.Options{Dir: dir})
	if _, err := none.Get(t.Context(), ref, nil); !errors.Is(err, dataset.ErrNoCopy) {
		t.Fatalf("%v", err)
	}
	get(dataset.Options{}, 1)
	get(dataset.Options{}, 1)
	get(dataset.Options{Fresh: true}, 2)
	now = now.Add(dataset.MaxAge + time.Hour)
	get(dataset.Options{Any: true, Fresh: true}, 2)
	get(dataset.Options{}, 3)
	if _, err := none.Get(t.Context(), ref, nil); err != nil {
		t.Errorf("the copy is not found offline: %v", err)
	}
	if n, err := dataset.Clear(dir); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"https://X.test:8443/a.csv": "x.test", "http://x.test/a.csv": "", "http://localhost:1/a.csv": "localhost", "http://127.0.0.1/a": "127.0.0.1",
		"huggingface://datasets/a/b": "datasets-server.huggingface.co", "huggingface://models/a": "", "az://a/b": "", "https://": "", "https://%zz/": "",
	} {
		if got := dataset.Host(ref); got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
	if got := dataset.Show("https://user:pw@x.test/a.csv?sig=secret"); got != "https://x.test/a.csv" {
		t.Errorf("shown as %s", got)
	}
}
