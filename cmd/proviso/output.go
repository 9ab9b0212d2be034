package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// output is a report file to write.
type output struct {
	file   string
	format report.Format
	add    bool // append, as the job summary of GitHub requires
}

// names returns the files of reports.
func names(outputs []output) []string {
	list := make([]string, len(outputs))
	for i, o := range outputs {
		list[i] = o.file
	}
	return list
}

// outputsOf checks the formats of all report files before anything runs. The command
// line has priority over the suite.
func (a *app) outputsOf(flags, suite []string) ([]output, error) {
	files := flags
	if len(files) == 0 {
		files = suite
	}
	summary, _ := a.env.Lookup("GITHUB_STEP_SUMMARY")
	var list []output
	var errs []error
	for _, file := range files {
		o := output{file: file, add: file == summary}
		var err error
		if o.add {
			o.format, err = report.ForName("github")
		} else {
			o.format, err = report.ForFile(file)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, o)
	}
	return list, errors.Join(errs...)
}

// write writes the report.
func (o output) write(ctx context.Context, meta *report.Meta, sum *report.Summary, rows report.Rows) error {
	if !o.add {
		return report.Write(ctx, o.file, o.format, meta, sum, rows)
	}
	var text bytes.Buffer // it is small, and a partial write would look complete
	if err := report.WriteTo(ctx, &text, o.format, meta, sum, rows); err != nil {
		return fmt.Errorf("write report %s: %w", o.file, err)
	}
	if err := addTo(o.file, text.Bytes()); err != nil {
		return fmt.Errorf("write report %s: %w", o.file, err)
	}
	return nil
}

// addTo appends text to a file, or leaves it unchanged.
func addTo(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	before, err := f.Stat()
	if err == nil {
		_, err = f.Write(text)
	}
	if err != nil && before != nil && before.Mode().IsRegular() {
		err = errors.Join(err, f.Truncate(before.Size()))
	}
	return errors.Join(err, f.Close())
}

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
