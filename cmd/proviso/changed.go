package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/githistory"
	"github.com/proviso-eval/proviso/report"
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

// ciVariables are the variables of a CI system that describe its job. If several are set, the first
// applies.
type ciVariables struct {
	mark                        string // set in every job of the system
	commit, branch, pullRequest []string
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

// revision describes the repository that a suite is in. Git knows the commit that is checked out.
// The CI system knows the pull request, and the branch, which git does not know if only a commit is
// checked out. The repository around an untrusted suite is not read.
func (a *app) revision(ctx context.Context, dir string, untrusted bool) report.Revision {
	r := a.fromCI(ciSystems[0])
	if !untrusted {
		if head, err := githistory.Head(ctx, dir); err == nil { // a suite need not be in a repository
			r = over(r, report.Revision{Commit: head.Commit, Branch: cleanBranch(head.Branch), Dirty: head.Dirty})
		}
	}
	for _, ci := range ciSystems[1:] {
		if mark, ok := a.env.Lookup(ci.mark); ok && mark != "" {
			return over(r, a.fromCI(ci))
		}
	}
	return r
}

// over fills the gaps of r from with. Dirty is copied only if both describe the same commit.
func over(r, with report.Revision) report.Revision {
	if r.Commit == "" || r.Commit == with.Commit {
		r.Commit, r.Dirty = cmp.Or(r.Commit, with.Commit), cmp.Or(r.Dirty, with.Dirty)
	}
	r.Branch, r.PullRequest = cmp.Or(r.Branch, with.Branch), cmp.Or(r.PullRequest, with.PullRequest)
	return r
}

func (a *app) fromCI(ci ciVariables) report.Revision {
	first := func(names []string, read func(string) string) string {
		for _, name := range names {
			if text, _ := a.env.Lookup(name); read(text) != "" {
				return read(text)
			}
		}
		return ""
	}
	return report.Revision{Commit: first(ci.commit, cleanCommit), Branch: first(ci.branch, cleanBranch), PullRequest: first(ci.pullRequest, pullRequestIn)}
}

// cleanCommit returns a full commit hash; "" for any other text.
func cleanCommit(text string) string {
	text = strings.ToLower(text)
	if len(text) != 40 && len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}

// cleanBranch returns a branch name without refs/heads/; "" if it is the reference of a pull
// request.
func cleanBranch(text string) string {
	text = strings.TrimPrefix(text, "refs/heads/")
	if strings.HasPrefix(text, "refs/") || pullRequestIn("refs/pull/"+text) != "" {
		return ""
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	return excerpt.Head(text, maxBranch)
}

// pullRequestIn returns the number of a pull request: from the number itself, from a
// reference such as refs/pull/7/merge, or from the end of an address.
func pullRequestIn(text string) string {
	if ref, ok := strings.CutPrefix(text, "refs/"); ok {
		var number bool
		if text, number = strings.CutPrefix(ref, "pull/"); !number {
			return ""
		}
		if text, number = strings.CutSuffix(text, "/merge"); !number {
			text, number = strings.CutSuffix(text, "/head")
		}
		if !number {
			return ""
		}
	} else {
		text = text[strings.LastIndexByte(text, '/')+1:]
	}
	if text == "" || len(text) > 12 || strings.Trim(text, "0123456789") != "" {
		return ""
	}
	return text
}
