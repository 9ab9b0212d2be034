package run

import (
	"iter"

	"github.com/proviso-eval/proviso/report"
)

// Results yields the rows of the run in order. It reads one at a time, so memory does
// not grow with the run. The sequence ends with an error if a row cannot be read.
func (o *Outcome) Results() iter.Seq2[*report.Row, error] {
	return func(yield func(*report.Row, error) bool) {
		for _, record := range o.Rows.Rows() {
			row, err := report.ReadRow(record)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := o.Rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
