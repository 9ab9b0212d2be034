package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnWorkers: a suite whose rows ask a model and a judge, spread over two workers with
// PostgreSQL, gives the same rows as a local run, byte by byte. With a recording, neither asks a
// model, and all four runs have the same rows.
func TestOnWorkers(t *testing.T) {
	t.Parallel()
	const rows = 40
	w := newWorkshop(t, 0)
	dir := t.TempDir()
	var cases strings.Builder
	for i := range rows {
		fmt.Fprintf(&cases, "{\"vars\": {\"n\": \"%d\", \"who\": \"Zoë <b>&</b>\"}}\n", i)
	}
	writeFiles(t, dir, map[string]string{
		"suite/proviso.yaml": "description: Judged\nprompts: [\"Row {{ n }} of {{ who }}\"]\nproviders: [\"openai:chat:fake\"]\nevaluateOptions: {maxConcurrency: 4}\n" +
			"defaultTest:\n  assert: [{type: llm-rubric, value: Row 1, metric: one}, {type: icontains, value: zoë}]\ntests: file://cases.jsonl\n",
		"suite/cases.jsonl": cases.String(),
	})
	tape := filepath.Join(dir, "tape")
	var warned string // warnings of the last run
	run := func(name string, more ...string) (lines []string, report string) {
		t.Helper()
		args := append([]string{"eval", "--run-dir", filepath.Join(dir, name), "--fail-under", "10%"}, more...)
		code, out, errs := onCommand(t, filepath.Join(dir, "suite"), w.model.URL, nil, args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", name, code, out, errs)
		}
		warned = errs
		lines = keptRun(t, filepath.Join(dir, name))
		for i := range lines {
			lines[i] = sameRun(lines[i])
		}
		return lines, sameRun(out)
	}
	here, _ := run("here", "--record", tape, "--judge", "openai:chat:fake", "--no-cache")
	workers := func(args ...string) (list []*exec.Cmd) {
		for range 2 {
			c, _ := w.worker(args...)
			list = append(list, c)
		}
		return list
	}
	live := workers()
	there, _ := run("there", "--on", w.url)
	for _, c := range live {
		_ = c.Process.Kill()
	}
	asked := w.countAsked()
	if asked < 2*rows {
		t.Errorf("model and judge were asked %d questions for %d rows", asked, rows)
	}
	replayed, shown := run("replayed", "--replay", tape, "--judge", "openai:chat:fake", "--no-cache")
	w.mu.Lock()
	clear(w.asked)
	w.mu.Unlock()
	workers("--replay", tape)
	recorded := startServe(t, t.TempDir(), w.model.URL, "--store", w.database, "--workers", "0", "--allow-host", "127.0.0.1", "--replay", tape)
	remote, shownThere := run("remote", "--on", recorded.url)
	if !strings.Contains(warned, "the server replays recorded answers: no model is asked") {
		t.Errorf("a run with recorded answers does not say so:\n%s", warned)
	}
	if n := w.countAsked(); n > 0 {
		t.Errorf("a worker that replays asked %d questions", n)
	}
	if shown != shownThere {
		t.Errorf("the reports differ:\n%s\n%s", shown, shownThere)
	}
	for name, lines := range map[string][]string{"on workers": there, "replayed": replayed, "replayed on workers": remote} {
		if len(lines) != len(here) {
			t.Fatalf("%s: %d lines, want %d", name, len(lines), len(here))
		}
		for i := range lines {
			if i > 0 && lines[i] != here[i] {
				t.Fatalf("%s: line %d differs:\n%s\n%s", name, i+1, here[i], lines[i])
			}
		}
	}
	if remote[0] != replayed[0] {
		t.Errorf("the headers of the replayed runs differ:\n%s\n%s", replayed[0], remote[0])
	}
}
