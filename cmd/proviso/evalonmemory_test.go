//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestOnMemory: the memory of a command that fetches a run does not grow with its rows.
func TestOnMemory(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it takes a minute; make nightly runs it")
	}
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	dir := t.TempDir()
	p := startServe(t, dir, model.URL)
	var most []int64
	for _, rows := range []int{2_000, 20_000} {
		name := fmt.Sprintf("suite%d", rows)
		var cases strings.Builder
		for i := range rows {
			fmt.Fprintf(&cases, "{\"vars\": {\"n\": \"%d\"}}\n", i)
		}
		writeFiles(t, dir, map[string]string{
			name + "/proviso.yaml": fmt.Sprintf("prompts: [\"{{ n }} %s\"]\nproviders: [echo]\ndefaultTest: {assert: [{type: contains, value: lorem}]}\ntests: file://cases.jsonl\n", strings.Repeat("lorem ipsum ", 250)),
			name + "/cases.jsonl":  cases.String(),
		})
		c := provisoCommand(t, filepath.Join(dir, name), model.URL, "eval", "--run-dir", filepath.Join(dir, name+"-runs"), "--on", p.url, "--no-table")
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d passed", rows)) {
			t.Fatalf("%v: %s", err, out)
		}
		usage, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
		most = append(most, usage.Maxrss)
		t.Logf("%d rows: at most %d KiB", rows, usage.Maxrss)
	}
	// 18,000 rows of 7 KiB are 126 MiB.
	if grown := most[1] - most[0]; grown > 24<<10 {
		t.Errorf("18,000 rows more took %d KiB more", grown)
	}
}
