package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// lastLine compares the last line of standard output.
func lastLine(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: lastline TEXT")
	}
	out := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	if got := out[strings.LastIndexByte(out, '\n')+1:]; (got == args[0]) == neg {
		ts.Fatalf("last line %q, expected (%t) %q", got, !neg, args[0])
	}
}

// plain requires a text that cannot control a terminal.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: plain FILE...")
	}
	for _, name := range args {
		for i, r := range ts.ReadFile(name) {
			if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
				ts.Fatalf("%s: control character %U at byte %d", name, r, i)
			}
		}
	}
}

// reportRow is the part of a report's row that scripts check.
type reportRow struct {
	Verdict string          `json:"verdict"`
	Vars    json.RawMessage `json:"vars"`
}

func reportRows(ts *testscript.TestScript, name string) []reportRow {
	var rows []reportRow
	for line := range strings.Lines(ts.ReadFile(name)) {
		var r reportRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, r)
	}
	return rows
}

func verdicts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: verdicts FILE STATUS...")
	}
	var got []string
	for _, r := range reportRows(ts, args[0]) {
		got = append(got, r.Verdict)
	}
	if !slices.Equal(got, args[1:]) {
		ts.Fatalf("verdicts %v, want %v", got, args[1:])
	}
}

func sameVars(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: samevars FILE FILE")
	}
	a, b := reportRows(ts, args[0]), reportRows(ts, args[1])
	same := slices.EqualFunc(a, b, func(x, y reportRow) bool { return bytes.Equal(x.Vars, y.Vars) })
	if len(a) == 0 || same == neg {
		ts.Fatalf("%d and %d rows with the same variables: %t", len(a), len(b), same)
	}
}

func validUTF8(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: utf8 FILE...")
	}
	for _, name := range args {
		if text := ts.ReadFile(name); text == "" || !utf8.ValidString(text) {
			ts.Fatalf("%s is empty or not UTF-8", name)
		}
	}
}

func short(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: short FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := len(ts.ReadFile(args[0])); got == 0 || got > n {
		ts.Fatalf("%s has %d bytes, want at most %d", args[0], got, n)
	}
}

func empty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty FOLDER")
	}
	if names := folderNames(ts, args[0]); len(names) != 0 {
		ts.Fatalf("%s holds %v", args[0], names)
	}
}

func folders(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: folders FOLDER N")
	}
	if names := folderNames(ts, args[0]); strconv.Itoa(len(names)) != args[1] {
		ts.Fatalf("%s holds %v, want %s folders", args[0], names, args[1])
	}
}

func runID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: runid FOLDER VARIABLE")
	}
	names := folderNames(ts, args[0])
	if len(names) != 1 {
		ts.Fatalf("%s holds %v, want one run", args[0], names)
	}
	ts.Setenv(args[1], names[0])
}

func folderNames(ts *testscript.TestScript, dir string) []string {
	entries, err := os.ReadDir(ts.MkAbs(dir))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
