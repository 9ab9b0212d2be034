package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/githistory"
)

func registerChanged(fs *pflag.FlagSet, to *string) {
	nameVar(fs, to, "changed-since", "run a suite only if a file that it reads changed since the commit `REF`, such as origin/main; each -c is a separate suite")
}

// changedSuites calls do for each suite that changed since a commit, or once for the
// suite of the flags if since is "". The exit code is that of the worst suite.
func (a *app) changedSuites(ctx context.Context, since string, f *evalFlags, do func(context.Context, *evalFlags) error) error {
	if since == "" {
		return do(ctx, f)
	}
	if len(f.configs) > 1 && len(f.outputs) > 0 {
		return usageError{errors.New("-o would be written by several suites"), "with --changed-since each -c is a separate suite; run them one by one to write reports"}
	}
	suites := [][]string{f.configs}
	if len(f.configs) > 1 {
		suites = nil
		for _, name := range f.configs {
			suites = append(suites, []string{name})
		}
	}
	var worst error
	for _, configs := range suites {
		one := *f
		one.configs = configs
		changed, err := a.changedSince(ctx, since, one)
		if err != nil {
			return fmt.Errorf("--changed-since: %w", err)
		}
		name := strings.Join(configs, ", ")
		if name == "" {
			name = "the suite"
		}
		if len(changed) == 0 {
			fmt.Fprintf(a.err, "proviso: %s is skipped: no file that it reads changed since %s\n", printable(name), printable(since))
			continue
		}
		fmt.Fprintf(a.err, "proviso: %s is run: %s changed since %s\n", printable(name), printable(listed(changed[:min(len(changed), 3)], len(changed))), printable(since))
		err = do(ctx, &one)
		if ctx.Err() != nil {
			return err
		}
		var exit exitError
		if err != nil && len(suites) > 1 && !errors.As(err, &exit) {
			a.explain(err)
			err = exitError{codeOf(err)}
		}
		worst = worse(worst, err)
	}
	return worst
}

// worse returns the worse of two errors that end a command: first a mistake, then a failure, then
// an undecided result.
func worse(a, b error) error {
	order := []int{exitOK, exitInconclusive, exitUndecided, exitFailed, exitUsage}
	rank := func(err error) int {
		var exit exitError
		switch {
		case err == nil:
			return 0
		case !errors.As(err, &exit):
			return len(order)
		}
		if i := slices.Index(order, exit.code); i >= 0 {
			return i
		}
		return len(order)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// changedSince returns the files of a suite that changed since a commit. If a suite with mistakes
// has no changed file, it counts as changed, so that the mistakes are printed.
func (a *app) changedSince(ctx context.Context, since string, f evalFlags) ([]string, error) {
	dir := "."
	if len(f.configs) > 0 {
		dir = filepath.Dir(f.configs[0])
	}
	snap, err := commitAt(ctx, dir, since)
	if err != nil {
		return nil, err
	}
	seen, wrong := a.look(ctx, f)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	changed, err := snap.Changed(withCode(seen.sorted()))
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	if len(changed) == 0 && wrong != nil {
		changed = []string{"a suite with mistakes, whose files are not all known,"}
	}
	return changed, nil
}

// commitAt finds a commit of the repository around a folder. An unknown name, and a folder without
// a repository, are mistakes in the command line.
func commitAt(ctx context.Context, dir, name string) (*githistory.Snapshot, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	snap, err := githistory.At(ctx, dir, name)
	if ctx.Err() == nil {
		err = proviso.WithCode(proviso.Invalid, err)
	}
	return snap, err
}

// codeEndings are the suffixes of scripts that a suite can name. What such a script imports is not
// known before it runs.
var codeEndings = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb"}

// maxCode limits the scripts that withCode adds.
const maxCode = 10_000

// withCode adds the other scripts in the folders of scripts, and below them.
func withCode(files []string) []string {
	folders := map[string]bool{}
	for _, file := range files {
		if slices.Contains(codeEndings, strings.ToLower(filepath.Ext(file))) {
			folders[filepath.Dir(file)] = true
		}
	}
	all := slices.Clone(files)
	for folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || len(all) > len(files)+maxCode:
				return filepath.SkipDir
			case d.IsDir() && path != folder && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "__pycache__"):
				return filepath.SkipDir
			case d.Type().IsRegular() && slices.Contains(codeEndings, strings.ToLower(filepath.Ext(path))):
				all = append(all, path)
			}
			return nil
		})
		all = append(all, folder)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ciSystems are the known systems. The first row is for any other system: its variables are set by
// hand and take precedence.
var ciSystems = [...]ciVariables{
	{"", []string{"PROVISO_COMMIT"}, []string{"PROVISO_BRANCH"}, []string{"PROVISO_PULL_REQUEST"}},
	{"GITHUB_ACTIONS", []string{"GITHUB_SHA"}, []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME"}, []string{"GITHUB_REF"}},
	{"GITLAB_CI", []string{"CI_COMMIT_SHA"}, []string{"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"}, []string{"CI_MERGE_REQUEST_IID"}},
	{"BITBUCKET_BUILD_NUMBER", []string{"BITBUCKET_COMMIT"}, []string{"BITBUCKET_BRANCH"}, []string{"BITBUCKET_PR_ID"}},
	{"BUILDKITE", []string{"BUILDKITE_COMMIT"}, []string{"BUILDKITE_BRANCH"}, []string{"BUILDKITE_PULL_REQUEST"}},
	{"CIRCLECI", []string{"CIRCLE_SHA1"}, []string{"CIRCLE_BRANCH"}, []string{"CIRCLE_PULL_REQUEST"}},
	{"TF_BUILD", []string{"BUILD_SOURCEVERSION"}, []string{"SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"}, []string{"SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"}},
	{"JENKINS_URL", []string{"GIT_COMMIT"}, []string{"CHANGE_BRANCH", "BRANCH_NAME"}, []string{"CHANGE_ID"}},
}

// maxBranch bounds the name of a branch, in bytes.
const maxBranch = 255
