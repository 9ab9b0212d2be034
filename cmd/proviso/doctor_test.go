package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDoctorShows prints findings that a test machine does not have.
func TestDoctorShows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		found diagnosis
		code  int
		lines []string
	}{
		{
			"a leak", diagnosis{
				Sandbox:      sandboxDiagnosis{Kernel: "6.1", Landlock: 2, Seccomp: true, SelfTest: selfTestFailed},
				Interpreters: []interpreterFinding{{Program: "Python", Path: "/usr/bin/python3", Version: "3.11.2", Problem: "it lets through: fork"}},
				Suite:        &suiteDiagnosis{Files: []string{"a.yaml"}},
			}, exitUndecided,
			[]string{"✗ self-test    something gets through", "✗ Python       3.11.2, /usr/bin/python3: it lets through: fork", "✗ not ready"},
		},
		{
			"no namespaces", diagnosis{
				Sandbox: sandboxDiagnosis{Kernel: "6.1", Landlock: 2, Seccomp: true, SelfTest: selfTestPassed},
				Folders: []folderDiagnosis{{Holds: "runs", Path: "/runs", Exists: true, Writable: true, Bytes: 1_234_567, AtLeast: true}, {Holds: "answers", Path: "/no"}},
			}, exitOK,
			[]string{"– namespaces   not permitted", "✓ runs         /runs, more than 1.23 MB", "✗ answers      /no, cannot be written"},
		},
		{
			"no sandbox", diagnosis{
				Sandbox:  sandboxDiagnosis{Missing: "it needs Linux", SelfTest: selfTestNotRun},
				Terminal: terminalDiagnosis{Terminal: true, Color: true, Width: 80},
				Suite:    &suiteDiagnosis{Files: []string{"a\x1b.yaml"}, Ready: true},
			}, exitOK,
			[]string{"✗ none         it needs Linux", "✓ columns      80, in colours", "Suite a\uFFFD.yaml", "✓ ready"},
		},
	} {
		text := string((&doctorText{}).show(&tc.found))
		if got := tc.found.exit(); got != tc.code {
			t.Errorf("%s: exit code %d", tc.name, got)
		}
		for _, line := range tc.lines {
			if !strings.Contains(text, line) {
				t.Errorf("%s: there is no line %q in\n%s", tc.name, line, text)
			}
		}
	}
}

func TestDoctorLooksAtFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1500), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path             string
		exists, writable bool
		bytes            int64
	}{
		{dir, true, true, 1500},
		{filepath.Join(dir, "not", "yet"), false, true, 0},
		{filepath.Join(dir, "file"), false, false, 0},
		{filepath.Join(dir, "file", "below"), false, false, 0},
		{"/proc/nothing", false, false, 0},
	} {
		d := folderDiagnosis{Path: tc.path}
		d.look()
		if d.Exists != tc.exists || d.Writable != tc.writable || d.Bytes != tc.bytes {
			t.Errorf("%s: %+v", tc.path, d)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("looking left something behind: %v %v", entries, err)
	}
}
