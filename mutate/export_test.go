package mutate

// Operator describes one way to break an output, for the table of the documentation.
type Operator struct{ Name, Breaks, Of string }

// Operators returns every way to break an output, in order.
func Operators() []Operator {
	list := make([]Operator, len(operators))
	for i, op := range operators {
		list[i] = Operator{op.name, op.breaks, op.of}
	}
	return list
}
