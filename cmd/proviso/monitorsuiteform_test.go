package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchOfSelected: a watch accepts the assertions that `proviso spade run` writes.
func TestWatchOfSelected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"events.jsonl":  `{"id": "1", "agent": "a", "time": "2026-03-10T00:00:00Z", "output": "One. Two."}` + "\n",
		"watch.yaml":    "w:\n  match: {agent: a}\n  assertions: file://selected.yaml\n  sample: {rate: 1}\n  objectives: {few: {max_fail: 0.1}}\n",
		"selected.yaml": "assertions:\n  - id: few\n    description: The output has at most 3 sentences.\n    type: sentence-count\n    value: {max: 3}\n  - {id: no_hello, type: not-icontains, value: hello, weight: 2}\n",
		"wrong.yaml":    "w:\n  match: {agent: a}\n  assertions: file://typo.yaml\n  sample: {rate: 1}\n",
		"typo.yaml":     "- {id: few, type: sentence-cuont, value: {max: 3}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for watch, want := range map[string]string{"watch.yaml": "no_hello", "wrong.yaml": "typo.yaml:1:"} {
		var out bytes.Buffer
		code := execute([]string{"monitor", "replay", filepath.Join(dir, "events.jsonl"), "--watch", filepath.Join(dir, watch)}, stdio{in: strings.NewReader(""), out: &out, err: &out})
		if (code == exitOK) != (watch == "watch.yaml") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d\n%s", watch, code, out.String())
		}
	}
}
