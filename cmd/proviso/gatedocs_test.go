package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// gateStory is the maximum number of lines that `make demo-gate` prints.
const gateStory = 55

// TestGateDemo runs examples/gate/demo.sh as `make demo-gate` does.
func TestGateDemo(t *testing.T) {
	needGit(t)
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the demo is for a shell")
	}
	cmd := exec.Command(shell, filepath.Join(repository, "examples", "gate", "demo.sh"), "proviso")
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "HTTP_PROXY=http://localhost:1", "HTTPS_PROXY=http://localhost:1")
	data, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	text := string(data)
	if n := strings.Count(text, "\n"); n >= gateStory {
		t.Errorf("make demo-gate prints %d lines, want fewer than %d", n, gateStory)
	}
	for _, part := range []string{"8 cases broke", `Assertion "ticket" got worse: 100 % to 93.33 %`, "✗ fail", "order-4043",
		"exit code 1. The pull request has 1 comment, new:\n  | ## ✗ proviso: `order status`: fail\n",
		"exit code 0. The pull request has 1 comment, updated:\n  | ## ✓ proviso: `order status`: pass\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// TestDocsOfGate runs every command of docs/gate.md and docs/baseline.md on the suite of
// examples/gate, in a repository whose branch origin/main has it.
func TestDocsOfGate(t *testing.T) {
	needGit(t)
	pages := readDoc(t, "docs/gate.md") + readDoc(t, "docs/baseline.md")
	example, err := filepath.Abs(filepath.Join(repository, "examples", "gate"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, ".state"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, ".cache"))
	t.Setenv("HOME", dir)
	for _, folder := range []string{".", "support", "search"} {
		if err := os.CopyFS(folder, os.DirFS(example)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"init -q .", "add .", "-c user.name=A -c user.email=a@example.com commit -q -m m", "update-ref refs/remotes/origin/main HEAD"} {
		if out, err := exec.Command("git", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	do := func(line string) {
		var out, errs bytes.Buffer
		code := execute(strings.Fields(line), stdio{in: strings.NewReader(""), out: &out, err: &errs})
		if code != exitOK {
			t.Errorf("proviso %s: exit code %d\n%s%s", line, code, out.String(), errs.String())
		}
	}
	do("eval --no-table")
	do("eval --no-table")
	do("baseline save")
	do("baseline save -o artifact.jsonl")
	if err := errors.Join(os.Mkdir("artifact", 0o700), os.Rename("artifact.jsonl", "artifact/b.jsonl")); err != nil {
		t.Fatal(err)
	}
	runs, err := filepath.Glob(".state/proviso/runs/*")
	if err != nil || len(runs) != 2 {
		t.Fatal(err, runs)
	}
	names := strings.NewReplacer("BASE", filepath.Base(runs[0]), "HEAD", filepath.Base(runs[1]), " RUN ", " "+filepath.Base(runs[0])+" ")
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(pages, -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, "#")
			if line, ok := strings.CutPrefix(strings.TrimSpace(line), "proviso "); ok {
				commands++
				do(names.Replace(line))
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands were run, want at least 10", commands)
	}
}

// TestDocsOfBaseline: docs/baseline.md lists the flags of each command.
func TestDocsOfBaseline(t *testing.T) {
	a := newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for _, cmd := range newBaseline(a).Commands() {
		if cmd.Flags().HasFlags() {
			wantBlock(t, "docs/baseline.md", "flags of "+cmd.Name(), flagTable(cmd))
		}
	}
}
