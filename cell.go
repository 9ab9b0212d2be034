package proviso

// CellType describes how an expectation in a CSV cell names an assertion type.
// Package check has the table of types; package suite uses it to read cells.
type CellType struct {
	Type      string
	Form      CellForm
	Threshold float64 // what a cell without one gets; 0 if the type takes none in a cell
}

// CellForm says how the text after the colon of an expectation is read.
type CellForm uint8

// The ways to read the text.
const (
	CellText CellForm = iota // a text without white space around it
	CellKept                 // a text as it is
	CellList                 // texts separated by commas
	CellNone                 // the type cannot be written in a cell
)
