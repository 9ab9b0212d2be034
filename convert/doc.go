// Package convert turns the files of other evaluation tools into suites, and suites
// into files for other tools. It does no I/O: it takes the content of files and
// returns that of new ones, with a [Note] for everything that it could not convert
// exactly. Its input is untrusted: texts become data, or templates of which only
// known parts are left.
//
// Start at [Importers] and [Exporters], the tables of tools.
package convert

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
)

// File is the content of a file, with its name. The name of a written file is
// relative to the output folder.
type File struct {
	Name string
	Data []byte
}

// Note names a part of a source that was not converted exactly.
type Note struct {
	Place proviso.Place // in the source
	What  string        // the part, such as `the grader "tone"`
	Why   string        // what happens to the part, and why
	Do    string        // what the user can do, "" if nothing
}

// String returns the note as one line without its place.
func (n Note) String() string {
	text := n.What + ": " + n.Why
	if n.Do != "" {
		text += "; " + n.Do
	}
	return text
}

// Result is a converted suite.
type Result struct {
	Files []File // the suite first
	Notes []Note // in the order of the source
	Cases int
	// Assertions is the number of graders that became assertions of every case.
	Assertions int
	// Keys are the environment variables with the API keys of the suite's models.
	Keys []string
}

// Options choose what is converted.
type Options struct {
	// Eval is the id or name of the eval to convert; "" if there is only one.
	Eval string
}

// Tool is another evaluation tool, and how its suites are converted.
type Tool struct {
	Name  string                                                              // name on the command line
	Doc   string                                                              // one clause for lists
	Read  func(ctx context.Context, files []File, o Options) (*Result, error) // makes a suite; nil if the tool is supported as output only
	Write func(ctx context.Context, suite File) (*Result, error)              // nil if the tool is supported as input only
}

// Importers returns the tools that suites are made from, sorted.
func Importers() []Tool {
	return []Tool{
		{Name: "openai-evals", Doc: "exported evals of OpenAI's platform, their runs and their items", Read: readOpenAI},
	}
}

// Exporters returns the tools for which suites can be written, sorted.
func Exporters() []Tool {
	return []Tool{
		{Name: "promptfoo", Doc: "a configuration of promptfoo", Write: writePromptfoo},
	}
}

// oneLine returns a text of the source for a message or a comment: one line,
// without template marks, and of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, mark := range [...]string{"{{", "{%", "{#"} {
		s = strings.ReplaceAll(s, mark, "{ "+mark[1:])
	}
	const most = 200
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
