package suite_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// TestDatasetOfHuggingFace: a row is a case, and its columns are variables,
// unchanged: a list does not make several cases, and no text refers to a file.
func TestDatasetOfHuggingFace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query(); got.Get("dataset") != "o/d" || got.Get("split") != "dev" || got.Get("config") != "default" || r.Header.Get("Authorization") != "Bearer hf" {
			t.Errorf("asked %s, %s", r.URL, r.Header)
		}
		fmt.Fprint(w, `{"rows":[{"row":{"q":"file://x.txt","list":["a","b"],"n":1}},{"row":{"q":"{{ env.HF_TOKEN }}","list":[],"n":null}}],"num_rows_total":2}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "proviso.yaml")
	if err := os.WriteFile(file, []byte("prompts: [\"{{q}}\"]\nproviders: [echo]\ntests: huggingface://datasets/o/d?split=dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := dataset.New(dataset.Options{Client: server.Client(), Server: server.URL, Dir: t.TempDir()})
	s, mistakes := suite.Read(t.Context(), []string{file}, suite.Options{
		Env:   proviso.EnvMap{"HF_TOKEN": "hf"},
		Fetch: func(ref string, env proviso.Env) (string, error) { return g.Get(t.Context(), ref, env) },
	})
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	var got []string
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		if !c.Options.DisableTemplates {
			t.Error("the variables may be templates")
		}
		changed, err := s.CaseSource.(interface {
			Rewrite(c *proviso.Case, test *value.Object, pointer, origin string) (*proviso.Case, error)
		}).Rewrite(c, value.ObjectOf("vars", value.ObjectOf("q", c.Vars.At("q"), "new", 1.0)), "", "a hook")
		if err != nil || changed.Vars.At("q") != c.Vars.At("q") {
			t.Errorf("a hook makes %v of it: %v", changed.Vars, err)
		}
		got = append(got, c.Description+value.Stringify(c.Vars))
	}
	want := []string{`{"q":"file://x.txt","list":["a","b"],"n":1}`, `{"q":"{{ env.HF_TOKEN }}","list":[],"n":null}`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
