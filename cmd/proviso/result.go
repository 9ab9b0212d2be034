package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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
	"github.com/proviso-eval/proviso/spade/candidate"
)

// The formats of results.
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
	formatPython   = candidate.PythonType
)

// formatsBy maps extensions of output files to the formats that they may mean.
var formatsBy = map[string][]string{
	".csv": {formatCSV}, ".htm": {formatHTML}, ".html": {formatHTML}, ".json": {formatJSON}, ".jsonl": {formatJSONL}, ".md": {formatMarkdown},
	".py": {formatPython}, ".svg": {formatSVG}, ".txt": {formatTerminal}, ".yaml": {formatYAML, formatSuite}, ".yml": {formatYAML, formatSuite},
}

// tableFormats are those of lists.
var tableFormats = []string{formatTable, formatJSON}

// textFormats are those of what is no list.
var textFormats = []string{formatText, formatJSON}

// resultFlags say where the result of a command goes, and in which format.
type resultFlags struct {
	format, out string
	valid       []string // formats
}

// register adds the flags for a result for a terminal, or in one of other formats.
func (f *resultFlags) register(fs *pflag.FlagSet, others ...string) {
	f.valid = append([]string{formatTerminal}, others...)
	fs.StringVar(&f.format, "format", "", "`FORMAT`: "+orList(f.valid)+"; default by the suffix of -o, else terminal")
	fs.StringVarP(&f.out, "output", "o", "", "write to `FILE` instead of standard output")
}

// check finds the format: the requested one, else the one for the extension of the output
// file, else that of a terminal.
func (f *resultFlags) check() error {
	if f.format != "" {
		return oneOf("format", f.format, f.valid)
	}
	f.format = cmp.Or(formatOf(f.out, f.valid), formatTerminal)
	return nil
}

// formatOf returns the valid format for the extension of a file; "" if there is none.
func formatOf(file string, valid []string) string {
	for _, format := range formatsBy[strings.ToLower(filepath.Ext(file))] {
		if slices.Contains(valid, format) {
			return format
		}
	}
	return ""
}

// toFile reports whether the result does not go to standard output.
func (f *resultFlags) toFile() bool { return f.out != "" && f.out != "-" }

// screen describes the terminal that the result goes to; a file has no colours.
func (f *resultFlags) screen(a *app) report.TerminalOptions {
	o := a.terminal(true)
	o.Color = o.Color && f.out == ""
	return o
}

// result writes the output of a command to a file, which appears when it is complete,
// or to standard output if the file has no name.
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

// writeError is the error of writing to standard output, whose reader may have gone.
func writeError(err error) error {
	if err == nil || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return proviso.Errorf(proviso.Unavailable, "%w", err)
}

// escaped writes JSON without characters that control a terminal or turn the direction of
// text. They can only be in its texts, where an escape means the same.
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
