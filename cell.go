package proviso

// CellType describes how an expectation in a CSV cell names an assertion type.
// Package check has the table of types, and package suite uses it to read cells.
type CellType struct {
	Type      string
	Form      CellForm
	Threshold float64 // default threshold in a cell; 0 if the type takes none there
}

// CellForm is how the text after the colon of an expectation is read.
type CellForm uint8

// The ways to read the text.
const (
	CellText CellForm = iota // text with surrounding white space removed
	CellKept                 // text unchanged
	CellList                 // texts separated by commas
	CellNone                 // the type cannot be written in a cell
)
