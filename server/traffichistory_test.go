package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/spade/delta"
)

// TestHistoryOfPrompts: the prompts of an agent are versions that spade reads, oldest first,
// without those whose text is unknown.
func TestHistoryOfPrompts(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	for i, prompt := range []string{"Be kind.", "Be kind.\\nAnswer in German.", "sha256:" + strings.Repeat("ab", 32), "Be kind.", "Be kind.\\nAnswer in German.\\nSign with Bo."} {
		if got := f.ask("POST", "/v1/events", fmt.Sprintf(`{"events":[{"id":"e%d","agent":"support","output":"x","prompt":"%s"}]}`, i, prompt)); got.status != http.StatusAccepted {
			t.Fatal(got.body)
		}
	}
	got := f.ask("GET", "/v1/agents/support/history", "")
	versions, mistakes := delta.ReadVersions("history.json", []byte(got.body))
	if mistakes.Err() != nil || len(versions) != 3 {
		t.Fatalf("%v, %d versions\n%s", mistakes, len(versions), got.body)
	}
	for i, want := range []string{"Be kind.", "Be kind.\nAnswer in German.", "Be kind.\nAnswer in German.\nSign with Bo."} {
		if versions[i].Text != want || !strings.HasPrefix(versions[i].Name, "sha256:") {
			t.Errorf("version %d: %+v", i+1, versions[i])
		}
	}
	if o := got.object(t); o.At("unknown") != 1.0 || o.At("left_out") != 0.0 {
		t.Error(got.body)
	}
	if got := f.ask("GET", "/v1/agents/nobody/history", ""); got.status != http.StatusNotFound {
		t.Error(got.status, got.body)
	}
}
