package proviso

// CellType is an assertion type as an expectation in a cell of a CSV file may name
// it. Package check has the table of them; package suite reads cells by it.
type CellType struct {
	Type      string
	Form      CellForm
	Threshold float64 // what a cell without one gets; 0 if the type takes none in a cell
}

// CellForm says what becomes of the text after the colon of an expectation.
type CellForm uint8

// The forms.
const (
	CellText CellForm = iota // a text without white space around it
	CellKept                 // a text as it is
	CellList                 // texts separated by commas
	CellNone                 // the type cannot be written in a cell
)
