package main

import (
	"embed"
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

// workflowTexts are the workflows that init writes, by system. SUITE stands for the suite's
// file.
//
//go:embed workflows
var workflowTexts embed.FS

// workflows are the systems, each with the file of its workflow from the root of the
// repository.
var workflows = []struct{ system, file string }{
	{"github", ".github/workflows/evals.yml"},
	{"gitlab", ".gitlab-ci.yml"},
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
			text, err := workflowTexts.ReadFile("workflows/" + system + ".yml")
			return &workflow{name, rel, strings.ReplaceAll(string(text), "SUITE", rel)}, err
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
