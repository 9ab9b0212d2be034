package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// workflows are the systems that init writes a workflow for, each with the file, from
// the root of the repository, and its text. SUITE stands for the suite's file.
var workflows = []struct{ system, file, text string }{
	{"github", ".github/workflows/evals.yml", `# Runs the suite for every pull request; docs/ci.md of proviso says more.
name: evals
on: pull_request
permissions:
  contents: read
jobs:
  evals:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: {go-version: "1.26"}
      - run: go install github.com/proviso-eval/proviso/cmd/proviso@latest
      # A suite that asks models needs a key in env, or recorded answers (--replay).
      - run: proviso eval -c SUITE -o "$GITHUB_STEP_SUMMARY" -o report.html -o report.junit.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: evals, path: report.*}
`},
	{"gitlab", ".gitlab-ci.yml", `# Runs the suite for every merge request; docs/ci.md of proviso says more.
evals:
  image: golang:1.26
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - go install github.com/proviso-eval/proviso/cmd/proviso@latest
    # A suite that asks models needs a key among the variables, or recorded answers (--replay).
    - proviso eval -c SUITE -o report.junit.xml -o report.html
  artifacts:
    when: always
    paths: [report.html]
    reports:
      junit: report.junit.xml
`},
}

// workflow is a file that runs a suite in CI.
type workflow struct {
	name, suite string // the file, and the suite from the root of the repository
	text        string
}

// newWorkflow returns the workflow of a system for the suite in a folder. It belongs to
// the root of the repository, which is the folder itself if there is none.
func newWorkflow(system, dir string) (*workflow, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, coded(err)
	}
	root := full
	for at := full; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			root = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	rel, err := filepath.Rel(root, filepath.Join(full, suite.Name))
	if err != nil {
		return nil, coded(err)
	}
	rel = filepath.ToSlash(rel)
	if !regexp.MustCompile(`^[A-Za-z0-9._/-]+$`).MatchString(rel) { // no quotes are needed, neither in YAML nor in a shell
		return nil, proviso.Errorf(proviso.Invalid, "the path %q of the suite cannot stand in a workflow: use letters, digits, dots, dashes and slashes", rel)
	}
	var known []string
	for _, w := range workflows {
		if w.system == system {
			name := filepath.Join(root, filepath.FromSlash(w.file))
			if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				return nil, proviso.Errorf(proviso.Invalid, "%s exists already, and init changes no existing file: add the job of docs/ci.md to it, with -c %s", shortPath(name), rel)
			}
			return &workflow{name, rel, strings.ReplaceAll(w.text, "SUITE", rel)}, nil
		}
		known = append(known, w.system)
	}
	return nil, usageError{fmt.Errorf("--ci %q: expected %s", system, strings.Join(known, " or ")), "see `proviso init --help`"}
}

// writeWorkflow writes a workflow.
func (a *app) writeWorkflow(w *workflow) error {
	if err := os.MkdirAll(filepath.Dir(w.name), 0o755); err != nil {
		return coded(err)
	}
	if err := createFile(w.name, []byte(w.text)); err != nil {
		return coded(err)
	}
	_, err := fmt.Fprintf(a.out, "Wrote %s, which runs %s. Commit it.\n", printable(shortPath(w.name)), printable(w.suite))
	return err
}

// shortPath shows a path relative to the working folder, if it is below it.
func shortPath(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}
