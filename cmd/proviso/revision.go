package main

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/githistory"
	"github.com/proviso-eval/proviso/report"
)

// ciVariables are the variables of a CI system that describe its job. If several are set, the first
// applies.
type ciVariables struct {
	mark                        string // set in every job of the system
	commit, branch, pullRequest []string
}

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
