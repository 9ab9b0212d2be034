package dataset_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/value"
)

// answers is a network that gives each request the same answer, until a time limit.
type answers struct {
	status     int
	kind, body string
	asked      int
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.asked++; a.asked > 20 {
		return nil, errors.New("it is too much")
	}
	return &http.Response{StatusCode: a.status, Request: r, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// FuzzGet: for any reference and any answer of a server, there is an error or a
// copy, and a copy that this package wrote has one JSON value per line.
func FuzzGet(f *testing.F) {
	f.Add("huggingface://datasets/a/b?split=x&limit=1", 200, "application/json", `{"rows":[{"row":{"q":"x"}}],"num_rows_total":1e300}`)
	f.Add("huggingface://datasets/a/b?limit=3", 200, "", `{"rows":[{"row":{"q":"\ud800\n"}},{"row":{}}],"num_rows_total":2}`)
	f.Add("huggingface://datasets/?limit=-1", 200, "", `{"rows":[],"num_rows_total":-1}`)
	f.Add("huggingface://datasets/a/b", 422, "", `{"error":"too large"}`)
	f.Add("https://example.com/a.json?x#y", 200, "application/json", "\ufeff[1, {\"a\": \"\\u2028\"}]")
	f.Add("https://docs.google.com/spreadsheets/d/x/edit?gid=7", 200, "text/html", "<html>")
	f.Add("https://example.com/a", 503, "application/x-ndjson; charset", "{}\n")
	f.Add("http://[::1", 200, "text/csv", "a,b")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, ref string, status int, kind, body string) {
		if status < 200 || status > 599 || status/100 == 3 {
			return
		}
		g := dataset.New(dataset.Options{Client: &http.Client{Transport: &answers{status: status, kind: kind, body: body}}, Dir: dir, Fresh: true,
			Sleep: func(context.Context, time.Duration) error { return nil }})
		name, err := g.Get(t.Context(), ref, proviso.EnvMap{"HF_TOKEN": "hf_secret"})
		if err != nil {
			var known *proviso.Error
			if !errors.As(err, &known) || strings.Contains(err.Error(), "hf_secret") {
				t.Errorf("%q: %v", ref, err)
			}
			return
		}
		data := read(t, name)
		if status != 200 || !strings.HasSuffix(name, ".csv") && !strings.HasSuffix(name, ".tsv") && !strings.HasSuffix(name, ".jsonl") {
			t.Errorf("%q, status %d: %s", ref, status, name)
		}
		if !strings.HasPrefix(ref, dataset.Prefix) || !strings.HasSuffix(name, ".jsonl") {
			return
		}
		for line := range strings.Lines(data) {
			v, err := value.ParseJSON(line)
			if o, ok := v.(*value.Object); err != nil || !ok || o.Object("vars") == nil {
				t.Errorf("%q: the line %q: %v", ref, line, err)
			}
		}
	})
}
