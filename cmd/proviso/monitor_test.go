package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocsOfMonitor(t *testing.T) {
	for _, cmd := range newMonitor(newApp(stdio{})).Commands() {
		wantBlock(t, "docs/monitor.md", "flags of "+cmd.Name(), flagTable(cmd))
	}
}

// TestReplayOfLargeEvents: an event of 10 MB is skipped and reported with its position, as by a
// server, and the others are evaluated.
func TestReplayOfLargeEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := func(id, output string) string {
		return `{"id": "` + id + `", "agent": "support", "time": "2026-03-10T00:00:00Z", "output": "` + output + `"}` + "\n"
	}
	for name, text := range map[string]string{
		"events.jsonl": line("1", "thanks") + line("2", strings.Repeat("thanks ", 10<<20/7)) + line("3", "no"),
		"watch.yaml":   "w:\n  match: {agent: support}\n  assertions: file://set.yaml\n  sample: {rate: 1}\n",
		"set.yaml":     "- {id: polite, check: {type: contains, value: thanks}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code := execute([]string{"monitor", "replay", filepath.Join(dir, "events.jsonl"), "--watch", filepath.Join(dir, "watch.yaml"), "--format", "json"}, stdio{in: strings.NewReader(""), out: &out, err: &errs})
	if code != exitOK || !strings.Contains(out.String(), `"n":2,`) || !strings.Contains(out.String(), `"events":2,`) {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if text := errs.String(); !strings.Contains(text, "events.jsonl:2:75: warning: output has") || !strings.Contains(text, "1 event left out because of their size") || len(text) > 2000 {
		t.Errorf("%s", text)
	}
}
