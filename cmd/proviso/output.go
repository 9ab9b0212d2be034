package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

// output is a report file to write.
type output struct {
	file   string
	format report.Format
	add    bool // to what is there, as the job summary of GitHub wants it
}

// outputsOf checks the formats of all report files before anything runs. The
// command line comes before the suite.
func (a *app) outputsOf(flags, suite []string) ([]output, error) {
	files := flags
	if len(files) == 0 {
		files = suite
	}
	summary, _ := a.env.Lookup("GITHUB_STEP_SUMMARY")
	var list []output
	for _, file := range files {
		o := output{file: file, add: file == summary}
		var err error
		if o.add {
			o.format, err = report.ForName("github")
		} else {
			o.format, err = report.ForFile(file)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// write writes the report.
func (o output) write(ctx context.Context, meta *report.Meta, sum *report.Summary, rows report.Rows) error {
	if !o.add {
		return report.Write(ctx, o.file, o.format, meta, sum, rows)
	}
	f, err := os.OpenFile(o.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return errors.Join(report.WriteTo(ctx, f, o.format, meta, sum, rows), f.Close())
}

// annotate shows what did not pass beside the sources, in a step of GitHub
// Actions.
func (a *app) annotate(ctx context.Context, out *run.Outcome) error {
	if !envTrue(a.env, "GITHUB_ACTIONS") {
		return nil
	}
	return report.Annotations(ctx, a.out, report.AnnotationOptions{}, out.Rows)
}
