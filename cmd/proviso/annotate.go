package main

import (
	"context"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// annotate marks failures in the sources, in a step of GitHub Actions.
func (a *app) annotate(ctx context.Context, s *loaded, out *run.Outcome) error {
	if !suite.Switch(a.env, "GITHUB_ACTIONS") {
		return nil
	}
	workspace, _ := a.env.Lookup("GITHUB_WORKSPACE")
	p := report.Places{Suite: s.Suite, Workspace: workspace}
	defer p.Close()
	return report.Annotations(ctx, a.out, report.AnnotationOptions{Place: p.Of}, out.Summary, out.Rows)
}
