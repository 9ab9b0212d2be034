package main

import (
	"cmp"
	"context"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// places finds where the assertions of a suite are written, as the repository of a CI
// job names the files. The caller must close it.
func (a *app) places(s *loaded) *report.Places {
	github, _ := a.env.Lookup("GITHUB_WORKSPACE")
	gitlab, _ := a.env.Lookup("CI_PROJECT_DIR")
	return &report.Places{Suite: s.Suite, Workspace: cmp.Or(github, gitlab)}
}

// annotate marks failures in the sources, in a step of GitHub Actions: those of the rows
// that only reports, or all of them if it is nil.
func (a *app) annotate(ctx context.Context, out *run.Outcome, only func(row int) bool) error {
	if !suite.Switch(a.env, "GITHUB_ACTIONS") {
		return nil
	}
	return report.Annotations(ctx, a.out, report.AnnotationOptions{Place: out.Meta.Place, Only: only}, out.Summary, out.Rows)
}
