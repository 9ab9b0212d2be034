package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// stream is the output of a command that tests wait for.
type stream struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return n, err
}

// until waits for a text and returns the output up to it.
func (s *stream) until(t *testing.T, want string) string {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		before, _, ok := strings.Cut(s.text.String(), want)
		if ok {
			s.text.Next(len(before) + len(want))
		}
		s.mu.Unlock()
		if ok {
			return before
		}
		select {
		case <-s.more:
		case <-deadline:
			t.Fatalf("%q was not printed, but:\n%s", want, s.text.String())
		}
	}
}

// TestWatchEval runs the real command: files change, mistakes appear and disappear.
func TestWatchEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		temp := filepath.Join(dir, "."+name) // as editors do: write a new file beside it, then rename
		if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	suite := "prompts: ['{{ n }}']\nproviders: [echo]\ntests: file://*.csv\ndefaultTest: {assert: [{type: javascript, value: file://check.js}]}\n"
	put("proviso.yaml", suite)
	put("cases.csv", "n\n1\n")
	put("check.js", "module.exports = output => output === '1'\n")
	all := &stream{more: make(chan struct{}, 1)}
	root := newRootFor(newApp(stdio{out: all, err: all}), nil)
	root.SetArgs([]string{"eval", "--watch", "-c", filepath.Join(dir, "proviso.yaml"), "--run-dir", t.TempDir(), "-o", filepath.Join(dir, "report.json"), "--no-table"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()

	all.until(t, "1 passed, 0 failed, 0 errors\nproviso: watching 3 files; Ctrl-C ends\n")
	put("check.js", "module.exports = output => output === '2'\n")
	if said := all.until(t, "0 passed, 1 failed"); !strings.Contains(said, "proviso: changed: ") || !strings.Contains(said, "check.js\n") {
		t.Errorf("after a script changed:\n%s", said)
	}
	all.until(t, "Ctrl-C ends")
	put("more.csv", "n\n2\n")
	all.until(t, "1 passed, 1 failed")
	all.until(t, "Ctrl-C ends")
	put("proviso.yaml", strings.Replace(suite, "providers", "provders", 1))
	if said := all.until(t, "Ctrl-C ends"); !strings.Contains(said, `unknown key "provders"`) || !strings.Contains(said, "nothing was run") {
		t.Errorf("with a mistake:\n%s", said)
	}
	put("proviso.yaml", suite)
	all.until(t, "1 passed, 1 failed")
	all.until(t, "Ctrl-C ends")
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Ctrl-C while waiting: %v", err)
	}
}

// TestWatchAsksOnlyWhatChanged: known answers come from the cache.
func TestWatchAsksOnlyWhatChanged(t *testing.T) {
	server := fakemodel.New(fakemodel.Options{Reply: reply})
	defer server.Close()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "proviso.yaml")
	put := func(cases string) {
		t.Helper()
		text := "prompts: ['{{ n }}']\nproviders: [{id: 'openai:chat:gpt-4.1-mini', config: {apiKey: made-up-for-tests, apiBaseUrl: " + server.URL + "/v1}}]\n" + cases
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("tests: [{vars: {n: one}}, {vars: {n: two}}]\n")
	all := &stream{more: make(chan struct{}, 1)}
	root := newRootFor(newApp(stdio{out: all, err: all}), nil)
	root.SetArgs([]string{"eval", "-w", "-c", file, "--run-dir", t.TempDir(), "--no-table"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	all.until(t, "Ctrl-C ends")
	put("tests: [{vars: {n: one}}, {vars: {n: two}}, {vars: {n: three}}]\n")
	if said := all.until(t, "Ctrl-C ends"); !strings.Contains(said, "2 answers from the cache, 1 requested") {
		t.Errorf("after a new case:\n%s", said)
	}
	if n := server.Count(); n != 3 {
		t.Errorf("%d questions were asked, want 3", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
