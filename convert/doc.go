// Package convert turns what other evaluation tools keep into suites, and suites into
// what other tools read. It does no I/O: it takes the content of files and returns that
// of new ones, with a [Note] for everything that could not be carried over as it is.
// What it reads is untrusted: texts become data, or templates of which only known parts
// are left.
//
// Start at [Importers] and [Exporters], the tables of tools.
package convert

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
)

// File is the content of a file, with its name. The name of a written file is relative
// to the folder that it is written to.
type File struct {
	Name string
	Data []byte
}

// Note says what of a source is not carried over as it is.
type Note struct {
	Place proviso.Place // in the source
	What  string        // the part, such as `the grader "tone"`
	Why   string        // what happens to it, and why
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
	// Assertions is how many graders became assertions of every case.
	Assertions int
	// Keys are the environment variables with the keys of the models that the suite asks.
	Keys []string
}

// Options choose what is converted.
type Options struct {
	// Eval is the id or name of the one eval to convert, "" if there is only one.
	Eval string
}

// Tool is another evaluation tool, and how suites are converted.
type Tool struct {
	Name  string                                                              // as the user writes it
	Doc   string                                                              // one clause for lists
	Read  func(ctx context.Context, files []File, o Options) (*Result, error) // makes a suite; nil if the tool is only written
	Write func(ctx context.Context, suite File) (*Result, error)              // nil if the tool is only read
}

// Importers returns the tools that suites are made from, sorted.
func Importers() []Tool {
	return []Tool{
		{Name: "openai-evals", Doc: "exported evals of OpenAI's platform, their runs and their items", Read: readOpenAI},
	}
}

// Exporters returns the tools that suites are written for, sorted.
func Exporters() []Tool {
	return []Tool{
		{Name: "promptfoo", Doc: "a configuration of promptfoo", Write: writePromptfoo},
	}
}

// oneLine returns a text of the source for a message or a comment: one line, without
// template marks, and bounded.
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
