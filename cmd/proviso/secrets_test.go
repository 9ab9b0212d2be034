package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// holdsNone requires that no file under a folder matches a pattern:
//
//	absent FOLDER REGEX
func holdsNone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: absent FOLDER REGEX")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(name)
		if found := re.Find(data); found != nil {
			ts.Fatalf("%s holds %s", name, found)
		}
		return err
	}))
	if files == 0 {
		ts.Fatalf("%s holds no file", args[0])
	}
}
