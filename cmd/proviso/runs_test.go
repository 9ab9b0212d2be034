package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// TestDocsOfRuns requires the flags of all runs commands on their page.
func TestDocsOfRuns(t *testing.T) {
	a := newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for _, cmd := range newRuns(a).Commands() {
		wantBlock(t, "docs/runs.md", "flags of "+cmd.Name(), flagTable(cmd))
	}
}

// TestRevision reads the environments of CI systems.
func TestRevision(t *testing.T) {
	t.Parallel()
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		env  proviso.EnvMap
		want report.Revision
	}{
		"none":        {proviso.EnvMap{"GITHUB_SHA": sha}, report.Revision{}},
		"github push": {proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_SHA": sha, "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main"}, report.Revision{Commit: sha, Branch: "main"}},
		"github pull request": {proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_SHA": sha, "GITHUB_REF": "refs/pull/7/merge", "GITHUB_REF_NAME": "7/merge", "GITHUB_HEAD_REF": "fix"},
			report.Revision{Commit: sha, Branch: "fix", PullRequest: "7"}},
		"github tag": {proviso.EnvMap{"GITHUB_ACTIONS": "true", "GITHUB_SHA": sha, "GITHUB_REF": "refs/tags/7", "GITHUB_REF_NAME": "refs/tags/7"}, report.Revision{Commit: sha}},
		"gitlab": {proviso.EnvMap{"GITLAB_CI": "true", "CI_COMMIT_SHA": sha, "CI_COMMIT_REF_NAME": "main", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix", "CI_MERGE_REQUEST_IID": "12"},
			report.Revision{Commit: sha, Branch: "fix", PullRequest: "12"}},
		"circle": {proviso.EnvMap{"CIRCLECI": "true", "CIRCLE_SHA1": sha, "CIRCLE_BRANCH": "fix", "CIRCLE_PULL_REQUEST": "https://github.com/a/b/pull/31"},
			report.Revision{Commit: sha, Branch: "fix", PullRequest: "31"}},
		"azure":     {proviso.EnvMap{"TF_BUILD": "True", "BUILD_SOURCEVERSION": strings.ToUpper(sha), "BUILD_SOURCEBRANCH": "refs/heads/a/b"}, report.Revision{Commit: sha, Branch: "a/b"}},
		"buildkite": {proviso.EnvMap{"BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD", "BUILDKITE_BRANCH": "main", "BUILDKITE_PULL_REQUEST": "false"}, report.Revision{Branch: "main"}},
		"by hand": {proviso.EnvMap{"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "main", "PROVISO_COMMIT": sha, "PROVISO_BRANCH": "mine", "PROVISO_PULL_REQUEST": "9"},
			report.Revision{Commit: sha, Branch: "mine", PullRequest: "9"}},
		"hostile": {proviso.EnvMap{"PROVISO_COMMIT": "$(rm -rf)", "PROVISO_BRANCH": "a\x1b[31m\nb" + strings.Repeat("x", 999), "PROVISO_PULL_REQUEST": "7; drop"},
			report.Revision{Branch: "a[31mb" + strings.Repeat("x", 249)}},
	} {
		a := &app{env: c.env}
		if got := a.revision(t.Context(), t.TempDir(), false); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// keepRuns writes n finished runs of two suites into a folder.
func keepRuns(t testing.TB, dir string, n int) {
	t.Helper()
	config := value.ObjectOf("id", "bot", "prompts", []any{strings.Repeat("a long prompt ", 300)})
	for i := range n {
		m := &report.Meta{Version: "test", Suite: fmt.Sprintf("suite %d", i%2), Started: time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC), Config: config}
		h := m.Header()
		h.ID = runfile.ContentID(h.Started, fmt.Sprint(i))
		w, err := runfile.Create(dir, h)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 3 {
			if err := w.Append(row, fmt.Appendf(nil, `{"index":%d,"verdict":"pass","text":"%s"}`, row, strings.Repeat("x", 2000))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close([]byte(`{"passed":3,"failed":1,"errors":0,"skipped":0,"cost":0.25,"elapsedMs":1500}`)); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkRuns lists 2,000 kept runs of 10 KB.
func BenchmarkRuns(b *testing.B) {
	dir := b.TempDir()
	keepRuns(b, dir, 2000)
	var out, errs bytes.Buffer
	for _, limit := range []int{20, 0} {
		b.Run(fmt.Sprintf("limit %d", limit), func(b *testing.B) {
			for b.Loop() {
				out.Reset()
				a := &app{stdio: stdio{out: &out, err: &errs}, env: proviso.EnvMap{}}
				if err := a.listRuns(&runsFlags{dir: dir, format: "table", limit: limit}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestRunsHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keepRuns(t, dir, 2)
	write := func(id, text string) {
		if err := os.MkdirAll(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id, runfile.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("20260301-000000-aaaa", "no run\n")
	write("20260301-000000-bbbb", "")
	write("20260301-000000-cccc", `{"proviso":"run","format":1,"id":"../../etc","suite":"\u001b[31m::error::x\n","started":"2026-03-01T00:00:00Z","meta":{"revision":{"commit":"\u001b[2J","pullRequest":"\u202e1"},"hashes":{"prompts":7}}}`+"\n")
	write("20260301-000000-dddd", strings.Repeat(" ", 100_000))
	var out, errs bytes.Buffer
	a := &app{stdio: stdio{out: &out, err: &errs}, env: proviso.EnvMap{}}
	if err := a.listRuns(&runsFlags{dir: dir, format: "table"}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "etc") || strings.Count(text, "\n") != 4 || !strings.Contains(text, "20260301-000000-cccc") {
		t.Errorf("the list is\n%s", text)
	}
	if !strings.Contains(errs.String(), "3 runs left out") {
		t.Errorf("said %s", errs.String())
	}
	out.Reset()
	if err := a.listRuns(&runsFlags{dir: dir, format: formatJSON}); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v: %s", err, out.String())
	}
	// A folder behind a link, and names that lead outside, are not runs to remove.
	outside := t.TempDir()
	keepRuns(t, outside, 1)
	kept, err := runfile.List(outside)
	if err != nil || len(kept) != 1 {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(kept[0].Path), filepath.Join(dir, "20260401-000000-eeee")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"20260401-000000-eeee", "../" + filepath.Base(outside), kept[0].Path, ".", dir, "", "last~99", "20260401-000000-eeee/../../x"} {
		if name == "" {
			continue
		}
		if err := a.removeRuns(&runsFlags{dir: dir}, []string{name}); err == nil {
			t.Errorf("%q is removed", name)
		}
	}
	for _, id := range []string{"20260401-000000-eeee", "..", "20260401-000000-e/.."} {
		if err := runfile.Remove(dir, id); err == nil {
			t.Errorf("%q is removed", id)
		}
	}
	if _, err := os.Stat(kept[0].Path); err != nil {
		t.Error(err)
	}
}

// TestPruneLeavesWriting: a run that is still being written is not removed.
func TestPruneLeavesWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keepRuns(t, dir, 3)
	w, err := runfile.Create(dir, runfile.Header{Suite: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(nil)
	var out, errs bytes.Buffer
	a := &app{stdio: stdio{out: &out, err: &errs}, env: proviso.EnvMap{}}
	if err := a.pruneRuns(&runsFlags{dir: dir}, time.Now().Add(time.Hour), 0, false); err != nil {
		t.Fatal(err)
	}
	left, err := runfile.List(dir)
	if err != nil || len(left) != 1 || left[0].ID != w.Header().ID || !strings.Contains(out.String(), "Removed 3 runs") || !strings.Contains(errs.String(), "still being written") {
		t.Errorf("%v: left %v; said %s%s", err, left, out.String(), errs.String())
	}
	if err := a.removeRuns(&runsFlags{dir: dir}, []string{"last"}); err == nil || !strings.Contains(err.Error(), "still being written") {
		t.Errorf("remove said %v", err)
	}
}

func FuzzRunNames(f *testing.F) {
	dir := f.TempDir()
	keepRuns(f, dir, 3)
	for _, name := range []string{"last", "last~1", "last~99999999999", "2026", "", "last~-1", "../x", "https://h/v1/runs/x", "\x00"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if path, err := findRun(dir, name); err == nil && name != "" {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%q is %s: %v", name, path, err)
			}
		}
		_, _ = client.RunAddress(name)
	})
}
