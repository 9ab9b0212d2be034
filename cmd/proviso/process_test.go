package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// awaitRows waits until the only run under a folder has at least n rows, so that a
// script can stop the command midway.
func awaitRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rows FOLDER N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	await(ts, args[0], want)
}

func await(ts *testscript.TestScript, dir string, want int) {
	pattern := filepath.Join(ts.MkAbs(dir), "*", "run.jsonl")
	got := -1
	for range 1000 {
		files, err := filepath.Glob(pattern)
		ts.Check(err)
		if len(files) == 1 {
			data, err := os.ReadFile(files[0])
			ts.Check(err)
			if got = bytes.Count(data, []byte("\n")) - 1; got >= want { // the first line is the header
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s has %d rows, want %d", pattern, got, want)
}

// interrupt stops a command midway, as Ctrl-C does.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt FOLDER ROWS CODE COMMAND...")
	}
	rows, err := strconv.Atoi(args[1])
	ts.Check(err)
	code, err := strconv.Atoi(args[2])
	ts.Check(err)
	path, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "HOME="+cmd.Dir)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Start())
	await(ts, args[0], rows)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	hangs := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer hangs.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		ts.Fatalf("exit code %d, want %d", got, code)
	}
	// A script that keeps running would use the processor for the two seconds it is allowed. Wall
	// time says little on a busy machine.
	if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); used > 1500*time.Millisecond {
		ts.Fatalf("it computed for %v", used)
	}
}

// nextSecond waits until the wall clock shows another second.
func nextSecond(*testscript.TestScript, bool, []string) {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}
