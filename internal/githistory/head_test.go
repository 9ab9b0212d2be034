package githistory_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/githistory"
)

// TestHead compares with git itself, on every kind of change.
func TestHead(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	if _, err := githistory.Head(t.Context(), dir); err == nil {
		t.Error("a repository without a commit has a state")
	}
	write("a.txt", "one\n")
	write("deep/er/b.txt", "two\n")
	git("add", ".")
	git("commit", "-qm", "first")
	git("tag", "start")
	for i, step := range []struct {
		name  string
		do    func()
		dirty bool
	}{
		{"clean", func() {}, false},
		{"untracked file", func() { write("new.txt", "n") }, false},
		{"same length, other content", func() { write("a.txt", "eno\n") }, true},
		{"back again", func() { write("a.txt", "one\n") }, false},
		{"touched", func() { at := time.Now().Add(-time.Hour); os.Chtimes(filepath.Join(dir, "a.txt"), at, at) }, false},
		{"other length", func() { write("deep/er/b.txt", "two and more\n") }, true},
		{"staged", func() { git("add", ".") }, true},
		{"staged, file as in the commit", func() { write("deep/er/b.txt", "two\n") }, true},
		{"reset", func() { git("reset", "-q", "--hard") }, false},
		{"removed", func() { os.Remove(filepath.Join(dir, "a.txt")) }, true},
		{"removed from the index", func() { git("rm", "-q", "--cached", "a.txt") }, true},
		{"committed", func() { git("commit", "-qm", "second") }, false},
		{"at a tag", func() { git("checkout", "-q", "start") }, false},
	} {
		step.do()
		s, err := githistory.Head(t.Context(), filepath.Join(dir, "deep"))
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if s.Dirty == nil || *s.Dirty != step.dirty {
			t.Errorf("%d %s: dirty is %v, want %v", i, step.name, show(s.Dirty), step.dirty)
		}
		if want := git("rev-parse", "HEAD"); s.Commit+"\n" != want {
			t.Errorf("%s: commit %s, want %s", step.name, s.Commit, want)
		}
		branch := "main"
		if step.name == "at a tag" {
			branch = ""
		}
		if s.Branch != branch {
			t.Errorf("%s: branch %q, want %q", step.name, s.Branch, branch)
		}
	}
	// With a damaged index, the rest is still known.
	if err := os.WriteFile(filepath.Join(dir, ".git", "index"), []byte("DIRC no index"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := githistory.Head(t.Context(), dir); err != nil || s.Dirty != nil || s.Commit == "" {
		t.Errorf("with a damaged index: %+v, %v", s, err)
	}
	if _, err := githistory.Head(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder outside of a repository has a state")
	}
}

func show(b *bool) string {
	if b == nil {
		return "unknown"
	}
	return fmt.Sprint(*b)
}
