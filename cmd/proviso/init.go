package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/suite"
)

//go:embed starter
var starter embed.FS

// initFlags are the flags of init.
type initFlags struct {
	ci, from string
}

func newInit(a *app) *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a commented starter suite that runs offline",
		Long: "init writes a starter suite, and its schema for editors, into a folder. With --from promptfoo\n" +
			"it converts the promptfooconfig there; with --ci it also writes a workflow that runs the\n" +
			"suite, or only the workflow if the suite exists. It changes no existing file.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.init(cmd.Context(), f, cmp.Or(argument(args), "."))
		},
	}
	cmd.Flags().StringVar(&f.ci, "ci", "", "also write a workflow for the `SYSTEM` github or gitlab")
	cmd.Flags().StringVar(&f.from, "from", "", "start from a suite of the `TOOL` promptfoo in the folder")
	return cmd
}

// init writes the files that the flags request. It changes no existing file.
func (a *app) init(ctx context.Context, f *initFlags, dir string) error {
	if f.from != "" && f.from != "promptfoo" {
		return unknownTool(f.from, []string{"promptfoo"}, "proviso init --help")
	}
	var flow *workflow
	if f.ci != "" {
		var err error
		if flow, err = newWorkflow(f.ci, dir); err != nil {
			return err
		}
	}
	switch _, err := os.Lstat(filepath.Join(dir, suite.Name)); {
	case flow != nil && f.from == "" && err == nil: // the suite already exists
	case f.from != "":
		if err := a.initFrom(ctx, dir); err != nil {
			return err
		}
	default:
		if err := a.initStarter(dir); err != nil {
			return err
		}
	}
	if flow == nil {
		return nil
	}
	return a.writeWorkflow(flow)
}

// initStarter writes the starter suite.
func (a *app) initStarter(dir string) error {
	entries, err := starter.ReadDir("starter")
	if err != nil {
		return err
	}
	var files []convert.File
	for _, e := range entries {
		data, err := starter.ReadFile("starter/" + e.Name())
		if err != nil {
			return err
		}
		files = append(files, convert.File{Name: e.Name(), Data: data})
	}
	if name, _, err := readPromptfoo(dir); err == nil {
		return proviso.Errorf(proviso.Invalid, "%s is there: `proviso init --from promptfoo` starts from it, and proviso runs it as it is; for the starter suite, name another folder", name)
	}
	if err := writeNew(dir, files, "name another folder, as in `proviso init my-suite`"); err != nil {
		return err
	}
	if err := writeSchema(dir); err != nil {
		return err
	}
	next := "proviso eval"
	if dir != "." {
		next = "cd " + dir + " && " + next
	}
	_, err = fmt.Fprintf(a.out, "Wrote %s. Next:\n\n  %s\n\nOne of its cases fails on purpose, to show what that looks like.\n", filepath.Join(dir, suite.Name), next)
	return err
}

// writeSchema writes the schema for editors beside a suite, unless it exists.
func writeSchema(dir string) error {
	text, err := schemaText()
	if err != nil {
		return err
	}
	if err := createFile(filepath.Join(dir, schemaName), text); !errors.Is(err, os.ErrExist) {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	return nil
}

// initFrom makes a suite of the promptfooconfig in a folder. What promptfoo silently ignores is a
// mistake in a suite of proviso; then nothing is written.
func (a *app) initFrom(ctx context.Context, dir string) error {
	name, data, err := readPromptfoo(dir)
	if err != nil {
		return err
	}
	if said, err := a.checkSuite(ctx, name); ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		fmt.Fprint(a.err, strings.Replace(said, "; nothing was run", "; nothing was written", 1))
		return exitError{exitUsage}
	}
	target := filepath.Join(dir, suite.Name)
	text, err := convert.OwnSuite(convert.File{Name: filepath.ToSlash(name), Data: data}, "# yaml-language-server: $schema="+schemaName+"\n")
	if err != nil {
		return err
	}
	if err := writeNew(dir, []convert.File{{Name: suite.Name, Data: text}}, "proviso runs it as it is"); err != nil {
		return err
	}
	if said, err := a.checkSuite(ctx, target); err != nil {
		_ = os.Remove(target)
		fmt.Fprint(a.err, strings.Replace(said, "; nothing was run", " (the lines are those of the suite that would be written)", 1))
		return proviso.Errorf(proviso.Invalid, "these are warnings in %s, and mistakes in a suite of proviso's own; nothing was written: correct them, or continue with %s, which proviso runs as it is", filepath.Base(name), filepath.Base(name))
	}
	if err := writeSchema(dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "Wrote %s, with the prompts, providers, cases and assertions of %s. What changes:\n\n"+
		"  - an unknown key, and what promptfoo silently ignores, is a mistake before anything runs\n"+
		"  - exit code 1 says that rows failed, 3 that they could not be decided (promptfoo: 100 for both)\n"+
		"  - assertions may have when, scope, criteria and severity, and the suite a judge\n\n"+
		"Remove or rename %s: with both files in a folder, commands want one named with -c. Next:\n\n  proviso eval -c %s\n",
		printable(target), printable(filepath.Base(name)), printable(filepath.Base(name)), printable(target))
	return err
}

// checkSuite checks a suite as validate does and returns what validate would print.
func (a *app) checkSuite(ctx context.Context, name string) (said string, err error) {
	var b strings.Builder
	inner := &app{stdio: stdio{in: a.in, out: io.Discard, err: &b}, env: a.env, secrets: a.secrets}
	f := &evalFlags{suiteFlags: suiteFlags{configs: []string{name}}, noKeys: true, warn: true, dry: true}
	s, _, err := inner.prepare(ctx, f, nil)
	if err != nil {
		return b.String(), err
	}
	s.close()
	return b.String(), nil
}

// readPromptfoo reads the promptfooconfig of a folder.
func readPromptfoo(dir string) (name string, data []byte, err error) {
	for _, ext := range [...]string{"yaml", "yml", "json"} {
		name = filepath.Join(dir, "promptfooconfig."+ext)
		files, err := readAll([]string{name})
		if err == nil {
			return name, files[0].Data, nil
		}
		if _, missing := os.Lstat(name); missing == nil {
			return "", nil, err
		}
	}
	return "", nil, proviso.Errorf(proviso.NotFound, "%s has no promptfooconfig.yaml, promptfooconfig.yml or promptfooconfig.json", dir)
}

// workflowTexts are the workflows that init writes, by system. SUITE stands for the suite's
// file.
//
//go:embed workflows
var workflowTexts embed.FS

// workflows lists the CI systems, each with the path of its workflow in the repository.
var workflows = []struct{ system, file string }{
	{"github", ".github/workflows/evals.yml"},
	{"gitlab", ".gitlab-ci.yml"},
}

// workflow is a file that runs a suite in CI.
type workflow struct {
	name, suite string // paths of the workflow file and the suite, relative to the root of the repository
	text        string
}

// newWorkflow returns the workflow of a system for the suite in a folder. The file belongs in the
// root of the repository, or in the folder itself if there is no repository.
func newWorkflow(system, dir string) (*workflow, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
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
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	rel = filepath.ToSlash(rel)
	if !regexp.MustCompile(`^[A-Za-z0-9._/-]+$`).MatchString(rel) { // then no quotes are needed, neither in YAML nor in a shell
		return nil, proviso.Errorf(proviso.Invalid, "the path %q of the suite cannot be written in a workflow: use letters, digits, dots, dashes and slashes", rel)
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

func (a *app) writeWorkflow(w *workflow) error {
	if err := os.MkdirAll(filepath.Dir(w.name), 0o755); err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	if err := createFile(w.name, []byte(w.text)); err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	_, err := fmt.Fprintf(a.out, "Wrote %s, which runs %s. Commit it.\n", printable(shortPath(w.name)), printable(w.suite))
	return err
}

// shortPath returns a path relative to the working folder, if it is below it.
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
