package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/suite"
)

// output is a report file to write.
type output struct {
	file   string
	format report.Format
	add    bool // append, as the job summary of GitHub requires
}

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

func (o output) write(ctx context.Context, meta *report.Meta, sum *report.Summary, rows report.Rows) error {
	if !o.add {
		return report.Write(ctx, o.file, o.format, meta, sum, rows)
	}
	var text bytes.Buffer // it is small, and a partial report would look complete
	if err := report.WriteTo(ctx, &text, o.format, meta, sum, rows); err != nil {
		return fmt.Errorf("write report %s: %w", o.file, err)
	}
	if err := addTo(o.file, text.Bytes()); err != nil {
		return fmt.Errorf("write report %s: %w", o.file, err)
	}
	return nil
}

// writeReports writes all reports, even if one cannot be written.
func writeReports(ctx context.Context, list []output, meta *report.Meta, sum *report.Summary, rows report.Rows) (err error) {
	for _, o := range list {
		err = errors.Join(err, o.write(ctx, meta, sum, rows))
	}
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "%w", err)
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

// places finds where a suite's assertions are written, with the file names of a CI job's
// repository. The caller must close the result.
func (a *app) places(s *loaded) *report.Places {
	github, _ := a.env.Lookup("GITHUB_WORKSPACE")
	gitlab, _ := a.env.Lookup("CI_PROJECT_DIR")
	return &report.Places{Suite: s.Suite, Workspace: cmp.Or(github, gitlab)}
}

// annotate marks failures in the sources, in a step of GitHub Actions. If only is set, it selects
// the rows.
func (a *app) annotate(ctx context.Context, out *run.Outcome, only func(row int) bool) error {
	if !suite.Switch(a.env, "GITHUB_ACTIONS") {
		return nil
	}
	return report.Annotations(ctx, a.out, report.AnnotationOptions{Place: out.Meta.Place, Only: only}, out.Summary, out.Rows)
}

// Formats of results.
const (
	formatTerminal = "terminal"
	formatText     = "text"
	formatTable    = "table"
	formatJSON     = "json"
	formatJSONL    = "jsonl"
	formatYAML     = "yaml"
	formatCSV      = "csv"
	formatMarkdown = "markdown"
	formatHTML     = "html"
	formatSVG      = "svg"
	formatSuite    = "suite"
	formatPython   = python.Type
)

// formatsBy maps extensions of output files to possible formats.
var formatsBy = map[string][]string{
	".csv": {formatCSV}, ".htm": {formatHTML}, ".html": {formatHTML}, ".json": {formatJSON}, ".jsonl": {formatJSONL}, ".md": {formatMarkdown},
	".py": {formatPython}, ".svg": {formatSVG}, ".txt": {formatTerminal}, ".yaml": {formatYAML, formatSuite}, ".yml": {formatYAML, formatSuite},
}

// tableFormats are the formats of lists.
var tableFormats = []string{formatTable, formatJSON}

// textFormats are the formats of results that are not lists.
var textFormats = []string{formatText, formatJSON}

// resultFlags define the destination and the format of a command's result.
type resultFlags struct {
	format, out string
	valid       []string // formats
}

// register adds the flags for a result in the terminal format or one of the others.
func (f *resultFlags) register(fs *pflag.FlagSet, others ...string) {
	f.valid = append([]string{formatTerminal}, others...)
	choiceVar(fs, &f.format, "format", "", f.valid, "`FORMAT`: "+orList(f.valid)+"; default by the suffix of -o, else terminal")
	fs.StringVarP(&f.out, "output", "o", "", "write to `FILE` instead of standard output")
}

// find determines the format: the requested one, or else that of the output file's extension, or
// else the terminal format.
func (f *resultFlags) find() { f.format = cmp.Or(f.format, formatOf(f.out, f.valid), formatTerminal) }

// formatOf returns the valid format for the extension of a file; "" if there is none.
func formatOf(file string, valid []string) string {
	for _, format := range formatsBy[strings.ToLower(filepath.Ext(file))] {
		if slices.Contains(valid, format) {
			return format
		}
	}
	return ""
}

// toFile reports whether the result goes to a file instead of standard output.
func (f *resultFlags) toFile() bool { return f.out != "" && f.out != "-" }

// screen describes the terminal that the result is written to. A file has no colours.
func (f *resultFlags) screen(a *app) report.TerminalOptions {
	o := a.terminal(true)
	o.Color = o.Color && f.out == ""
	return o
}

// result writes a command's output to a file, which appears only when complete, or to standard
// output if the name is empty.
func (a *app) result(file string, data []byte) error {
	return a.resultBy(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// resultBy is result for data that write streams.
func (a *app) resultBy(file string, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		return writeError(write(a.out))
	}
	err := blobs.WriteBy(file, 0o644, write)
	switch {
	case errors.Is(err, blobs.ErrFolder):
		return proviso.Errorf(proviso.Invalid, "write %s: %w", file, err)
	case err != nil:
		return proviso.Errorf(proviso.Unavailable, "write %s: %w", file, err)
	}
	return nil
}

// writeError returns the error of a write to standard output; nil if its reader has closed the
// pipe.
func writeError(err error) error {
	if err == nil || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return proviso.Errorf(proviso.Unavailable, "%w", err)
}

// escaped returns JSON without characters that control a terminal or change the direction of text.
// They can only occur in JSON strings, where an escape means the same.
func escaped(json []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(json); {
		r, size := utf8.DecodeRune(json[at:])
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			out = append(out, json[from:at]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = at + size
		}
		at += size
	}
	if from == 0 {
		return json
	}
	return append(out, json[from:]...)
}
