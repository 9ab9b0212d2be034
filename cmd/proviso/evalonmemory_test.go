//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
		most = append(most, peak(t, c.ProcessState))
		t.Logf("%d rows: at most %d KiB", rows, most[len(most)-1])
	}
	// 18,000 rows of 7 KiB are 126 MiB.
	if grown := most[1] - most[0]; grown > 24<<10 {
		t.Errorf("18,000 rows more took %d KiB more", grown)
	}
}

// TestOnManyWorkers: a run of 100,000 cases is spread over four workers. The memory of the command
// that fetches it, and of the server in between, does not grow during the run. One worker is killed
// and replaced. Every row is there once, and only rows in flight are asked twice.
func TestOnManyWorkers(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it takes minutes; make nightly runs it")
	}
	const rows, workers, parallel = 100_000, 4, 16
	w := newWorkshop(t, 0)
	first, _ := w.worker("--lease", "10s")
	for range workers - 1 {
		w.worker("--lease", "10s")
	}
	var cases strings.Builder
	for i := range rows {
		fmt.Fprintf(&cases, "{\"vars\": {\"n\": \"%d\"}}\n", i)
	}
	writeFiles(t, w.dir, map[string]string{
		"suite/proviso.yaml": fmt.Sprintf("prompts: [\"{{ n }} %s\"]\nproviders: [openai:chat:fake]\nevaluateOptions: {maxConcurrency: %d}\ndefaultTest: {assert: [{type: contains, value: lorem}]}\ntests: file://cases.jsonl\n", strings.Repeat("lorem ipsum ", 80), parallel),
		"suite/cases.jsonl":  cases.String(),
	})
	c := provisoCommand(t, filepath.Join(w.dir, "suite"), w.model.URL, "eval", "--run-dir", filepath.Join(w.dir, "runs"), "--on", w.url, "--no-table")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	begun := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	command, server := map[int]int64{}, map[int]int64{} // peak memory, by tenths of the run
	for last := 0; last < 9; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 20*time.Minute {
			t.Fatalf("%d of %d rows were asked in %v", w.countAsked(), rows, time.Since(begun))
		}
		tenth := w.countAsked() * 10 / rows
		if last < 3 && tenth >= 3 {
			if err := first.Process.Kill(); err != nil {
				t.Error(err)
			}
			w.worker("--lease", "10s")
		}
		last = tenth
		command[tenth], server[tenth] = max(command[tenth], held(t, c.Process.Pid)), max(server[tenth], held(t, w.cmd.Process.Pid))
	}
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), fmt.Sprintf("%d passed", rows)) {
		t.Errorf("%v: %s", err, &out)
	}
	took, twice := time.Since(begun), w.askedTwice()
	t.Logf("%d rows in %v, %.0f a second; %d were asked twice", rows, took.Round(time.Second), rows/took.Seconds(), twice)
	t.Logf("at most, in KiB: the command %d, and %v by tenths of the run; the server %v", peak(t, c.ProcessState), command, server)
	if n := w.countAsked(); n != rows {
		t.Errorf("%d of %d rows were asked", n, rows)
	}
	if twice > parallel {
		t.Errorf("%d rows were asked twice, at most %d were in progress", twice, parallel)
	}
	// Eight tenths of the rows, of 2 KiB, are 160 MiB.
	for name, most := range map[string]map[int]int64{"command": command, "server": server} {
		if grown := most[9] - most[1]; grown > 24<<10 {
			t.Errorf("80,000 rows more took the %s %d KiB more", name, grown)
		}
	}
}

// peak returns the peak memory of a process that has ended, in KiB, including its program.
func peak(t *testing.T, p *os.ProcessState) int64 {
	t.Helper()
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell the memory of a process")
	}
	return usage.Maxrss
}

// held returns the current memory of a process, in KiB, without its program.
func held(t *testing.T, pid int) (kib int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	if _, after, ok := strings.Cut(string(status), "RssAnon:"); ok { // false if it has just ended
		if _, err := fmt.Sscan(after, &kib); err != nil {
			t.Fatal(err)
		}
	}
	return kib
}
