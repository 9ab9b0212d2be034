package matrix

import (
	"hash/maphash"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/value"
)

// Limits of what a builder keeps, whatever the rows contain.
const (
	maxAssertions = 2_000
	maxOthers     = 200_000   // assertions that are only counted
	maxTexts      = 10_000    // assertions that are looked up by their text
	maxTextBytes  = 16 << 20  // bytes of those texts
	maxText       = 500       // bytes of an id, name or description
	maxRows       = 1<<29 - 1 // see verdict
)

// Builder makes a [Matrix] from a run's rows. Rows may come in any order, each once, and more
// rows may follow after [Builder.Matrix]. It is not safe for concurrent use.
type Builder struct {
	columns []Column
	named   []bool // columns whose names are known
	repeats int
	rows    []placed

	cases  []testCase
	byTest map[uint32]int32 // cases without repeats
	byID   map[uint64]int32 // cases with repeats, by a hash: each repeat has its own test number

	asserted
	scratch row
}

// placed is a row and its position in the matrix.
type placed struct {
	index          uint32
	testCase       int32
	column, repeat uint16
	status         byte
}

type testCase struct {
	id, title string
	test      uint32 // lowest test number of its rows
}

// NewBuilder returns a builder for a run with the given columns. The names of further columns
// are read from the rows.
func NewBuilder(columns []Column) *Builder {
	b := &Builder{repeats: 1, byTest: map[uint32]int32{}, byID: map[uint64]int32{}, asserted: newAsserted()}
	for _, c := range columns[:min(len(columns), maxColumns)] {
		b.columns = append(b.columns, Column{excerpt.Bytes(c.Prompt, maxText), excerpt.Bytes(c.Provider, maxText)})
		b.named = append(b.named, true)
	}
	return b
}

// Add adds one row: a record as package report writes it. For a damaged record it returns an
// error and adds nothing.
func (b *Builder) Add(record []byte) error {
	if err := b.scratch.read(record); err != nil {
		return err
	}
	return b.put(&b.scratch)
}

// Len returns the number of rows so far.
func (b *Builder) Len() int { return len(b.rows) }

// Size estimates the builder's memory, in bytes.
func (b *Builder) Size() int {
	return cap(b.rows)*16 + len(b.cases)*96 + len(b.columns)*64 + b.asserted.size()
}

// put adds a parsed row.
func (b *Builder) put(r *row) error {
	if len(b.rows) >= maxRows {
		return proviso.Errorf(proviso.Limit, "the run has more than %d rows", maxRows)
	}
	b.setColumn(r)
	b.repeats = max(b.repeats, r.of)
	ordinal := uint32(len(b.rows))
	b.rows = append(b.rows, placed{index: r.index, testCase: b.caseOf(r), column: uint16(r.column), repeat: uint16(r.repeat), status: r.status})
	b.asserted.add(ordinal, r)
	return nil
}

// setColumn takes a column's names from its first row.
func (b *Builder) setColumn(r *row) {
	for len(b.columns) <= r.column {
		b.columns, b.named = append(b.columns, Column{}), append(b.named, false)
	}
	if !b.named[r.column] {
		b.columns[r.column], b.named[r.column] = Column{textOf(r.prompt), textOf(r.provider)}, true
	}
}

// caseOf returns the position of a row's case in b.cases.
func (b *Builder) caseOf(r *row) int32 {
	at, known, id := int32(0), false, uint64(0)
	if r.of > 1 {
		id = maphash.Bytes(b.seed, r.caseID)
		at, known = b.byID[id]
	} else {
		at, known = b.byTest[r.test]
	}
	if known {
		c := &b.cases[at]
		c.test = min(c.test, r.test)
		return at
	}
	at = int32(len(b.cases))
	b.cases = append(b.cases, testCase{id: textOf(r.caseID), title: textOf(r.title), test: r.test})
	if r.of > 1 {
		b.byID[id] = at
	} else {
		b.byTest[r.test] = at
	}
	return at
}

// textOf decodes and shortens a text; it returns "" for any other value.
func textOf(raw []byte) string {
	s := rowscan.New(raw)
	return excerpt.Bytes(s.Text(), maxText)
}

// asserted holds the verdicts by assertion.
type asserted struct {
	list   []assertion
	byName map[string]int32
	others map[uint64]struct{} // hashes of the names beyond the limit
	seed   maphash.Seed

	texts map[string]int32 // text of an assertion in a row -> position in list, or one of the numbers below
	bytes int              // total length of these texts
}

// Numbers of assertions without a position.
const (
	isOther = -1 // beyond the limit
	isSet   = -2 // its members have verdicts
)

type assertion struct {
	name, kind string
	first      uint64 // first occurrence: index of the row, and position in it
	verdicts   []verdict
}

// verdict is a row's position in the builder's rows, with a status in the three lowest bits.
type verdict uint32

func newAsserted() asserted {
	return asserted{byName: map[string]int32{}, others: map[uint64]struct{}{}, texts: map[string]int32{}, seed: maphash.MakeSeed()}
}

func (a *asserted) size() int {
	n := a.bytes + len(a.texts)*64 + len(a.others)*16
	for i := range a.list {
		n += cap(a.list[i].verdicts)*4 + 128
	}
	return n
}

// add adds a row's verdicts. A set counts by its members, and the parts of a single assertion
// do not count.
func (a *asserted) add(ordinal uint32, r *row) {
	skip := 0
	for i := range r.parts {
		p := &r.parts[i]
		if skip > 0 {
			skip--
			continue
		}
		at := int32(isOther)
		if p.assertion != nil {
			if at = a.find(p.assertion); at == isSet {
				continue
			}
		}
		skip = p.members
		if at >= 0 {
			a.list[at].add(ordinal, uint64(r.index)<<16|uint64(min(i, 1<<16-1)), p.status)
		}
	}
}

func (a *assertion) add(ordinal uint32, place uint64, status byte) {
	a.first = min(a.first, place)
	if n := len(a.verdicts); n > 0 && uint32(a.verdicts[n-1]>>3) == ordinal {
		a.verdicts[n-1] = verdict(ordinal<<3) | verdict(worse(byte(a.verdicts[n-1]&7), status))
		return
	}
	a.verdicts = append(a.verdicts, verdict(ordinal<<3)|verdict(status))
}

// find returns the position of an assertion. Most rows have the same assertions, so it looks
// them up by their text.
func (a *asserted) find(raw []byte) int32 {
	if at, ok := a.texts[string(raw)]; ok {
		return at
	}
	at := a.open(raw)
	if len(a.texts) >= maxTexts || a.bytes+len(raw) > maxTextBytes {
		clear(a.texts)
		a.bytes = 0
	}
	if len(raw) <= maxTextBytes {
		a.texts[string(raw)] = at
		a.bytes += len(raw)
	}
	return at
}

// open returns the position of an assertion, looked up by its name.
func (a *asserted) open(raw []byte) int32 {
	v, err := value.ParseJSON(string(raw))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return isOther
	}
	if rowscan.IsSet(o) {
		return isSet
	}
	name := excerpt.Bytes(rowscan.NameOf(o), maxText)
	if at, ok := a.byName[name]; ok {
		return at
	}
	if len(a.list) >= maxAssertions {
		if len(a.others) < maxOthers {
			a.others[maphash.String(a.seed, name)] = struct{}{}
		}
		return isOther
	}
	at := int32(len(a.list))
	a.list = append(a.list, assertion{name: name, kind: excerpt.Bytes(rowscan.TypeOf(o), maxText), first: 1<<64 - 1})
	a.byName[name] = at
	return at
}
