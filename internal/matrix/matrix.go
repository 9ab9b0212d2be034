// Package matrix holds the verdicts of a run as bytes: one for each case, column and
// repeat, and for each of their assertions. The report embeds it, and the server sends
// it, so that a page shows 100,000 cases without their texts. Start at [Builder].
package matrix

// Status codes in the bytes of a [Matrix].
const (
	Running byte = iota // there is no row yet, or the row does not have the assertion
	Pass
	Fail
	Error
	Skip
)

// noRow is the index of a cell without a row.
const noRow = 0xffffffff

// Column is a column of a run: a prompt with a provider, both by display name.
type Column struct {
	Prompt   string `json:"prompt"`
	Provider string `json:"provider"`
}

// Matrix holds the verdicts of a run, one byte for each case, column and repeat: case i,
// column j, repeat k is at (i*len(Columns) + j)*Repeats + k. [Matrix.WriteJSON] encodes it.
// Its contents are shared and must not be changed.
type Matrix struct {
	Columns        []Column          `json:"columns"`
	Assertions     []string          `json:"assertions" doc:"Names, in the order of the suite"`
	Types          []string          `json:"types" doc:"Of the assertions"`
	MoreAssertions int               `json:"more_assertions" doc:"How many assertions are beyond the limit, and have no verdicts here"`
	Cases          []string          `json:"cases" doc:"Ids, in the order of the suite"`
	Titles         []string          `json:"titles" doc:"Descriptions of the cases; empty if no case has one"`
	Repeats        int               `json:"repeats" doc:"Of each case, 1 or more"`
	Cells          []byte            `json:"cells" doc:"One byte for each case, column and repeat, in that order: 0 not finished, 1 pass, 2 fail, 3 error, 4 skip"`
	Index          []byte            `json:"index" doc:"Of the row of each cell, as little-endian uint32; 0xffffffff if there is none"`
	Verdicts       map[string][]byte `json:"verdicts" doc:"By assertion: bytes as of cells; 0 where the case does not have it"`
	Finished       int               `json:"finished" doc:"Rows that are finished"`
	Rows           int               `json:"rows" doc:"Rows that the run will have; 0 if that is not known yet"`
	Status         string            `json:"status" enum:"queued,waiting,running,done,failed,cancelled" doc:"Of the run"`
}
