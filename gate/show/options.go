package show

import (
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
)

// Options say how a comparison is shown. The zero value is right for a pipe.
type Options struct {
	Suite     string   // name of the suite
	Link      string   // address of the head run on a server; "" if there is none
	Reproduce []string // command lines that make the comparison again

	Cases int // most cases shown with their texts; 0 means 10
	Limit int // most characters of Markdown; 0 means 60,000

	Color bool // terminal: use colours; the text has the same information without
	Width int  // terminal: cells in a line; 0 means 80
}

func (o Options) withDefaults() Options {
	for field, normal := range map[*int]int{&o.Cases: 10, &o.Limit: 60_000, &o.Width: 80} {
		if *field <= 0 {
			*field = normal
		}
	}
	o.Width = max(o.Width, 60)
	return o
}

// Texts are the texts of both runs. A side may be nil; then it is not shown.
type Texts struct{ Base, Head Source }

// Source returns the texts of a run, only those that are shown. A [runs.Texts] is
// one, and so is a [runs.Verdicts] for a baseline file, which keeps no outputs.
type Source interface {
	// Row returns the texts of a row by its index in the run.
	Row(index int) (*runs.Row, error)
	// Prompt returns the template of the prompt of a column; "" if it is unknown.
	Prompt(column gate.Column) string
}
