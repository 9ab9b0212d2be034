package check

// within returns the Levenshtein distance of the texts if it is at most limit. It
// computes 64 cells of a column at a time (G. Myers, "A Fast Bit-Vector Algorithm
// for Approximate String Matching Based on Dynamic Programming", 1999), and only
// the cells that a path of at most limit edits can cross (E. Ukkonen, "Algorithms
// for Approximate String Matching", 1985). Memory is linear in the texts.
func (e *edits) within(limit int) (distance int, ok bool) {
	rows, columns := len(e.short), len(e.long)
	spare := limit - (columns - rows)
	switch {
	case limit < 0 || spare < 0:
		return 0, false
	case rows == 0:
		return columns, true
	}
	m := newMatrix(e, spare/2)
	for row := 0; row < rows; row += 64 {
		m.block(row)
	}
	return m.score, m.score <= limit
}

// matrix is the table of distances between the prefixes of the short text, in rows,
// and of the long one, in columns. It is processed in blocks of 64 rows.
type matrix struct {
	*edits
	// aside is how many diagonals beside those between the two corners matter: a path
	// outside them has too many edits.
	aside  int
	places []uint64 // for each symbol, its rows in the block
	// steps are the differences from the previous column, in the last row done. Where
	// nothing has been computed they are 1, which is never too little.
	steps []int8
	score int // of the last row of a block, in the column before the first of the next block
}

func newMatrix(e *edits, aside int) *matrix {
	m := &matrix{edits: e, aside: aside, places: make([]uint64, e.symbols+1), steps: make([]int8, len(e.long))}
	for i := range m.steps {
		m.steps[i] = 1
	}
	return m
}

// first returns the first column that matters in a block that begins at row.
func (m *matrix) first(row int) int { return max(0, row-m.aside) }

// end returns the column after the last that matters in a block that ends before row.
func (m *matrix) end(row int) int {
	return min(len(m.long), row+len(m.long)-len(m.short)+m.aside)
}

// block processes the block that begins at row and leaves the start value of the next
// one in score. In its first column, every row is assumed to need an edit, which is
// never too little.
func (m *matrix) block(row int) {
	height := min(64, len(m.short)-row)
	for i, symbol := range m.short[row : row+height] {
		m.places[symbol] |= 1 << i
	}
	start, end := m.first(row), m.end(row+height)
	next := end
	if row+height < len(m.short) {
		next = m.first(row + height)
	}
	score := m.score + height
	m.score = score // if the next block has the same first column
	up, down := ^uint64(0), uint64(0)
	steps, long := m.steps[start:end], m.long[start:end]
	for j, symbol := range long {
		in := steps[j]
		equal := m.places[symbol]
		vertical := equal | down
		if in < 0 {
			equal |= 1
		}
		horizontal := ((equal & up) + up) ^ up | equal
		more := down | ^(horizontal | up)
		less := up & horizontal
		out := int(more>>(height-1)&1) - int(less>>(height-1)&1)
		more, less = more<<1, less<<1
		if in < 0 {
			less |= 1
		} else if in > 0 {
			more |= 1
		}
		up = less | ^(vertical | more)
		down = more & vertical
		steps[j] = int8(out)
		score += out
		if start+j+1 == next {
			m.score = score
		}
	}
	for _, symbol := range m.short[row : row+height] {
		m.places[symbol] = 0
	}
}
