package report

import (
	"bufio"
	"context"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Format is a format of reports: a row of the table of formats.
type Format struct {
	Name     string
	Suffixes []string // file name suffixes with the dot; nil if a file name cannot select the format
	Doc      string   // one line

	// Render writes the report. It stops when ctx ends.
	Render func(ctx context.Context, w *bufio.Writer, in *Input) error
}

// Input is the input of every format.
type Input struct {
	Meta    *Meta
	Summary *Summary
	Rows    Rows
}

// Formats returns the formats in the order of their names.
func Formats() []Format {
	return []Format{
		{Name: "batch", Suffixes: []string{".batch.json"}, Doc: "counts and pass rates of cases and assertions, without rows", Render: renderBatch},
		{Name: "codequality", Suffixes: []string{".codequality.json"}, Doc: "the code quality report of GitLab, an issue for each row that did not pass", Render: renderCodeQuality},
		{Name: "csv", Suffixes: []string{".csv"}, Doc: "a table for spreadsheets, a line for each case", Render: renderCSV},
		{Name: "github", Doc: "the summary of a job of GitHub Actions, in Markdown", Render: renderGitHub},
		{Name: "html", Suffixes: []string{".html", ".htm"}, Doc: "one page for people: filters, search and details, without a network", Render: renderHTML},
		{Name: "json", Suffixes: []string{".json"}, Doc: "one JSON document in the shape of promptfoo's results, version 3", Render: renderJSON},
		{Name: "jsonl", Suffixes: []string{".jsonl", ".ndjson"}, Doc: "one row of the results per line (JSON Lines)", Render: renderJSONL},
		{Name: "junit", Suffixes: []string{".junit.xml", ".xml"}, Doc: "JUnit XML for CI systems, with the reasons of failures", Render: renderJUnit},
		{Name: "markdown", Suffixes: []string{".md"}, Doc: "a summary for a comment on a pull request", Render: renderMarkdown},
		{Name: "terminal", Doc: "failures and pass rates for a person", Render: renderTerminal},
		{Name: "yaml", Suffixes: []string{".yaml", ".yml", ".txt"}, Doc: "the JSON document as YAML, a line for each row", Render: renderYAML},
	}
}

// ForFile returns the format for the suffix of a file name. The error lists the valid
// suffixes.
func ForFile(name string) (Format, error) {
	var best Format
	longest := 0
	var valid []string
	lower := strings.ToLower(filepath.Base(name))
	for _, f := range Formats() {
		for _, suffix := range f.Suffixes {
			valid = append(valid, suffix)
			if strings.HasSuffix(lower, suffix) && len(suffix) > longest {
				best, longest = f, len(suffix)
			}
		}
	}
	if longest == 0 {
		return Format{}, noFormat(valid, "no report format has the suffix of %q; the suffixes are %s", name)
	}
	return best, nil
}

// ForName returns the format with the given name. The error lists the valid names.
func ForName(name string) (Format, error) {
	var valid []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		valid = append(valid, f.Name)
	}
	return Format{}, noFormat(valid, "no report format is called %q; the formats are %s", name)
}

func noFormat(valid []string, format, name string) error {
	e := proviso.Errorf(proviso.Invalid, format, name, strings.Join(valid, ", "))
	e.Valid = valid
	return e
}
