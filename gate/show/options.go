package show

import (
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/report"
)

// Options configure how a comparison is shown. The zero value is suitable for a pipe.
type Options struct {
	Suite     string   // name of the suite
	Link      string   // address of the head run on a server; "" if it has none
	Reproduce []string // command lines that repeat the comparison

	Cases int // maximum number of cases shown with their texts; 0 means 10
	Limit int // maximum number of Markdown characters; 0 means 60,000

	report.TerminalOptions // Color and Width, of which 0 means 80; the others have no effect
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

// Texts provides the texts of both runs. A nil side is not shown.
type Texts struct{ Base, Head Source }

// Source returns those texts of a run that are shown. [runs.Texts] implements it, and
// [runs.Verdicts] for a baseline file, which keeps no outputs.
type Source interface {
	// Row returns the texts of a row by its index in the run.
	Row(index int) (*runs.Row, error)
	// Prompt returns the prompt template of a column; "" if it is unknown.
	Prompt(column gate.Column) string
}
