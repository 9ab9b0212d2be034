package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/doctor"
	"github.com/proviso-eval/proviso/report"
)

// TestText formats findings that a test machine does not have.
func TestText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		found doctor.Diagnosis
		lines []string
	}{
		{
			"a leak", doctor.Diagnosis{
				Sandbox:      doctor.Sandbox{Kernel: "6.1", Landlock: 2, Seccomp: true, SelfTest: doctor.SelfTestFailed},
				Interpreters: []doctor.Interpreter{{Program: "Python", Path: "/usr/bin/python3", Version: "3.11.2", Problem: "it lets through: fork"}},
				Suite:        &doctor.Suite{Files: []string{"a.yaml"}},
			},
			[]string{"✗ self-test    something gets through", "✗ Python       3.11.2, /usr/bin/python3: it lets through: fork", "✗ not ready"},
		},
		{
			"no namespaces", doctor.Diagnosis{
				Sandbox: doctor.Sandbox{Kernel: "6.1", Landlock: 2, Seccomp: true, SelfTest: doctor.SelfTestPassed},
				Folders: []doctor.Folder{{Holds: "runs", Path: "/runs", Exists: true, Writable: true, Bytes: 1_234_567, AtLeast: true}, {Holds: "answers", Path: "/no"}},
			},
			[]string{"– namespaces   not permitted", "✓ runs         /runs, more than 1.23 MB", "✗ answers      /no, cannot be written"},
		},
		{
			"no sandbox", doctor.Diagnosis{
				Sandbox:  doctor.Sandbox{Missing: "it needs Linux", SelfTest: doctor.SelfTestNotRun},
				Terminal: doctor.Terminal{Terminal: true, Color: true, Width: 80},
				Suite:    &doctor.Suite{Files: []string{"a\x1b.yaml"}, Ready: true},
			},
			[]string{"✗ none         it needs Linux", "✓ columns      80, in colours", "Suite a\uFFFD.yaml", "✓ ready"},
		},
	} {
		text := string(tc.found.Text(report.TerminalOptions{}))
		for _, line := range tc.lines {
			if !strings.Contains(text, line) {
				t.Errorf("%s: there is no line %q in\n%s", tc.name, line, text)
			}
		}
	}
}

func TestLook(t *testing.T) {
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
		d := doctor.Folder{Path: tc.path}
		d.Look()
		if d.Exists != tc.exists || d.Writable != tc.writable || d.Bytes != tc.bytes {
			t.Errorf("%s: %+v", tc.path, d)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("looking left something behind: %v %v", entries, err)
	}
}
