package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso/sandbox"
)

// TestMain lets the scripts run this test binary as the command proviso, and the
// sandbox as a worker.
func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){"proviso": main, "tracedagent": tracedAgent})
}

// TestCommands runs the scripts in testdata, one per command or topic. Beside
// the commands of testscript they have:
//
//	exits CODE COMMAND...    runs COMMAND and wants this exit code
//	lastline TEXT            the last line of standard output is TEXT
//	plain FILE|stdout        it holds no control character but line breaks and tabs
//	generate NAME FILE       writes one of the large or binary inputs
//	verdicts FILE STATUS...  the rows of a JSON Lines report, in order
//	samevars FILE FILE       two JSON Lines reports are about the same cases
//	utf8 FILE|stdout...      it is valid UTF-8
//	short FILE|stdout N      it has at most N bytes
//	empty FOLDER             there is nothing in it
//	folders FOLDER N         it holds N folders
//	runid FOLDER VARIABLE    sets a variable to the id of the run in FOLDER
//	nextsecond               waits: ids of runs tell seconds apart, not less
//	rows FOLDER N            waits until the run in FOLDER has N rows
//	interrupt FOLDER N CODE COMMAND...
//	                         starts COMMAND, sends SIGINT after N rows of the run
//	                         in FOLDER, and wants this exit code
//	traceserver FILE         starts an agent and a collector that FILE names
//	collected PATH TEXT      the collector got TEXT at PATH
//	takenport FILE           listens on a port that FILE names
//	fakeforge github|gitlab  starts a forge, and sets the environment of a job in it
//	comments FILE            writes the comments of that forge to FILE
//	absent FOLDER REGEX      no file under FOLDER holds what REGEX finds
//	browse PATH... -- COMMAND...
//	                         opens the link that COMMAND prints and each PATH, and ends
//	                         COMMAND with Ctrl-C
func TestCommands(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds:                commandsOfScripts(),
	})
}

// commandsOfScripts are the script commands in addition to those of testscript.
func commandsOfScripts() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":      wantExit,
		"lastline":   lastLine,
		"plain":      plain,
		"verdicts":   verdicts,
		"samevars":   sameVars,
		"utf8":       validUTF8,
		"short":      short,
		"empty":      empty,
		"folders":    folders,
		"runid":      runID,
		"nextsecond": nextSecond,
		"generate":   generate,
		"rows":       awaitRows,
		"interrupt":  interrupt,

		"traceserver": traceServerCommand,
		"collected":   collected,
		"takenport":   takenPort,
		"absent":      holdsNone,
		"fakeforge":   startForge,
		"comments":    writeComments,
		"browse":      browse,
	}
}

func condition(name string) (bool, error) {
	if name == "devfull" {
		_, err := os.Stat("/dev/full")
		return err == nil, nil
	}
	if name == "sandbox" {
		return confined(), nil
	}
	return false, errors.New("unknown condition " + name)
}

// confined reports whether Python can run inside the kernel's sandbox on this machine.
var confined = sync.OnceValue(func() bool {
	_, err := exec.LookPath("python3")
	return err == nil && sandbox.Probe(context.Background(), sandbox.Options{Env: processEnv{}}).Kernel.Sandbox()
})

// setup keeps the runs and answers of a script in the script's own folder, and removes everything
// from the environment that could change a verdict.
func setup(e *testscript.Env) error {
	e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
	e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
	e.Setenv("NO_COLOR", "1")
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	e.Setenv("REPOSITORY", root)
	path := withoutShim(e.Getenv("PATH"))
	e.Setenv("PATH", path)
	e.Setenv("PROGRAMS", filepath.SplitList(path)[0]) // has only what TestMain names
	if runtime.GOOS == "windows" {
		e.Setenv("USERPROFILE", e.WorkDir)
	}
	return nil
}

// withoutShim puts a Python that is a program before one that is a pyenv script, which takes four
// times as long to start. The first folder stays first, because it has the program under test.
func withoutShim(path string) string {
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		start := make([]byte, 2)
		file, err := os.Open(filepath.Join(dir, "python3"))
		if err != nil {
			continue
		}
		_, err = io.ReadFull(file, start)
		_ = file.Close()
		if err == nil && string(start) != "#!" {
			return strings.Join(slices.Insert(slices.Delete(dirs, i, i+1), min(i, 1), dir), string(os.PathListSeparator))
		}
	}
	return path
}

// wantExit runs a command and compares its exit code with the expected one.
func wantExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}
