package suite

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// csvColumns are the column names with a special meaning. A name that ends in a colon
// is followed by a key.
var csvColumns = [...]string{
	"__expected", "__expected1", "__prefix", "__suffix", "__description", "__providerOutput",
	"__metric", "__threshold", "__metadata:", "__config:",
}

// CaseFromRow turns a row of a CSV file, column name to cell, into a case in the form
// of a suite. Columns that begin with two underscores are settings, all others are
// variables. The error is a *proviso.Error without a pointer.
func (c Cells) CaseFromRow(row *value.Object) (*value.Object, error) {
	e := expectations{cells: c}
	return e.caseFromRow(row)
}

// expectations remembers, by column, the cell of the previous row and its assertion,
// so that equal cells of a column share one assertion. If last is nil, it remembers
// nothing.
type expectations struct {
	cells  Cells
	last   map[string]expectation
	warned map[string]bool // column names that were warned about, once per file
	warn   func(suspicion)

	row    *value.Object // the row being read
	column string        // its column being read
}

type expectation struct {
	cell      string
	assertion *value.Object
}

func (e *expectations) parse(column, cell string) *value.Object {
	if last, ok := e.last[column]; ok && last.cell == cell {
		return last.assertion
	}
	a := e.cells.ParseExpected(cell)
	if e.last == nil {
		return a
	}
	e.last[column] = expectation{cell, a}
	if odd := e.cells.suspect(cell, a); odd.name != "" && !e.warned[odd.name] {
		e.warned[odd.name] = true
		e.warn(odd)
	}
	return a
}

func (e *expectations) caseFromRow(row *value.Object) (*value.Object, error) {
	variables := 0
	for _, column := range row.Keys() {
		if !strings.HasPrefix(column, "__") {
			variables++
		}
	}
	b := rowBuilder{
		expectations: e, vars: value.NewObject(variables), options: &value.Object{}, metadata: &value.Object{},
	}
	for column, cell := range row.All() {
		e.column = column
		if err := b.cell(value.TrimSpace(column), value.ToString(cell)); err != nil {
			return nil, err
		}
	}
	return b.build(), nil
}

// rowBuilder collects the content of the cells of one row.
type rowBuilder struct {
	expectations            *expectations
	vars, options, metadata *value.Object
	asserts                 []any
	numbers                 []int // for each assertion, the number of its __expected column
	thresholds              map[int]float64
	description             string
	output                  string
	metric                  string
	threshold               float64
	hasThreshold            bool
}

func (b *rowBuilder) cell(column, text string) error {
	if !strings.HasPrefix(column, "__") {
		b.vars.Set(column, text)
		return nil
	}
	switch column {
	case "__prefix":
		b.options.Set("prefix", text)
	case "__suffix":
		b.options.Set("suffix", text)
	case "__description":
		b.description = text
	case "__providerOutput":
		b.output = text
	case "__metric":
		b.metric = text
	case "__threshold":
		b.threshold, b.hasThreshold = leadingNumber(text)
	case "__metadata":
	default:
		return b.named(column, text)
	}
	return nil
}

// named reads a column whose name continues after its prefix.
func (b *rowBuilder) named(column, text string) error {
	if key, ok := strings.CutPrefix(column, "__metadata:"); ok {
		b.setMetadata(key, text)
		return nil
	}
	if key, ok := strings.CutPrefix(column, "__config:"); ok {
		return b.config(key, text)
	}
	if number, ok := strings.CutPrefix(column, "__expected"); ok {
		if value.TrimSpace(text) == "" {
			return nil
		}
		if len(b.expectations.cells) == 0 {
			return proviso.Errorf(proviso.Internal, "column %q: the assertion types of cells are not known", column)
		}
		b.asserts = append(b.asserts, b.expectations.parse(column, text))
		b.numbers = append(b.numbers, expectedNumber(number))
		return nil
	}
	b.vars.Set(column, text)
	return nil
}

// expectedNumber is the number of an __expected column; 1 if it has none.
func expectedNumber(suffix string) int {
	if n, err := strconv.Atoi(suffix); err == nil {
		return n
	}
	return 1
}

func (b *rowBuilder) setMetadata(key, text string) {
	if value.TrimSpace(text) == "" {
		return
	}
	if list, ok := strings.CutSuffix(key, "[]"); ok {
		b.metadata.Set(list, splitEscaped(text))
		return
	}
	b.metadata.Set(key, text)
}

// splitEscaped splits on commas without a backslash before them. Members are trimmed.
func splitEscaped(text string) []any {
	var list []any
	var member strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			member.WriteByte(',')
			i++
		case text[i] == ',':
			list = append(list, value.TrimSpace(member.String()))
			member.Reset()
		default:
			member.WriteByte(text[i])
		}
	}
	return append(list, value.TrimSpace(member.String()))
}

// config reads a "__config:__expectedN:threshold" cell. As in promptfoo, the number
// is also kept as metadata of the case.
func (b *rowBuilder) config(key, text string) error {
	column, setting, ok := strings.Cut(key, ":")
	suffix, expected := strings.CutPrefix(column, "__expected")
	number := 1
	if expected && suffix != "" {
		n, err := strconv.Atoi(suffix)
		expected = err == nil && n > 0 && isDigits(suffix)
		number = n
	}
	switch {
	case !ok:
		return proviso.Errorf(proviso.Invalid, "column %q: expected __config:__expected:threshold or __config:__expected2:threshold", "__config:"+key)
	case !expected:
		return proviso.Errorf(proviso.Invalid, "column %q: %q names no __expected column", "__config:"+key, column)
	case setting != "threshold":
		err := proviso.Errorf(proviso.Invalid, "column %q: unknown setting %q; only threshold can be set", "__config:"+key, setting)
		err.Valid = []string{"threshold"}
		return err
	}
	if value.TrimSpace(text) == "" {
		return nil
	}
	f, isNumber := leadingNumber(text)
	if !isNumber {
		return proviso.Errorf(proviso.Invalid, "column %q: %q is not a number", "__config:"+key, text)
	}
	if b.thresholds == nil {
		b.thresholds = map[int]float64{}
	}
	b.thresholds[number] = f
	b.metadata.Set("threshold", f)
	return nil
}

func (b *rowBuilder) build() *value.Object {
	for i, a := range b.asserts {
		f, hasThreshold := b.thresholds[b.numbers[i]]
		if !hasThreshold && b.metric == "" {
			continue
		}
		a := a.(*value.Object).Clone() // other rows may share it
		if hasThreshold {
			a.Set("threshold", f)
		}
		if b.metric != "" {
			a.Set("metric", b.metric)
		}
		b.asserts[i] = a
	}
	if b.asserts == nil {
		b.asserts = []any{}
	}
	o := value.ObjectOf("vars", b.vars, "assert", b.asserts, "options", b.options)
	if b.description != "" {
		o.Set("description", b.description)
	}
	if b.output != "" {
		o.Set("providerOutput", b.output)
	}
	if b.hasThreshold {
		o.Set("threshold", b.threshold)
	}
	if b.metadata.Len() > 0 {
		o.Set("metadata", b.metadata)
	}
	return o
}

// leadingNumber reads the number at the beginning of a text, as JavaScript's
// parseFloat does, except that infinities are not numbers.
func leadingNumber(text string) (float64, bool) {
	f, ok := value.LeadingNumber(text)
	return f, ok && !math.IsInf(f, 0)
}

// columnWarning returns a warning about a column's name, "" if there is none, and the
// valid names.
func columnWarning(column string) (message string, valid []string) {
	name := value.TrimSpace(column)
	special := csvColumns[:]
	if strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__") {
		for _, s := range special {
			if "_"+name == s || (strings.HasSuffix(s, ":") && strings.HasPrefix("_"+name, s)) {
				return fmt.Sprintf("the column %q is an ordinary variable; special columns begin with two underscores", name), []string{"_" + name}
			}
		}
		return "", nil
	}
	switch {
	case !strings.HasPrefix(name, "__"), strings.HasPrefix(name, "__expected"):
		return "", nil
	case name == "__metadata":
		return "the column \"__metadata\" is ignored; write __metadata:key, or __metadata:key[] for a list", nil
	}
	for _, s := range special {
		if name == s || (strings.HasSuffix(s, ":") && strings.HasPrefix(name, s)) {
			return "", nil
		}
	}
	return fmt.Sprintf("the column %q has no special meaning and is an ordinary variable", name), special
}
