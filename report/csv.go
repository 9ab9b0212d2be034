package report

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/value"
)

// maxVarColumns limits the variable columns. Further variables share one column.
const maxVarColumns = 500

// renderCSV writes promptfoo's table: one line per case, one column per variable, and for
// each prompt at each provider columns for the output and its verdict. The format is RFC
// 4180 in UTF-8.
func renderCSV(ctx context.Context, w *bufio.Writer, in *Input) error {
	t := csvTable{in: in, w: w, vars: map[string]int{}}
	if err := t.survey(ctx); err != nil {
		return err
	}
	t.header()
	n := 0
	for _, encoded := range in.Rows.Rows() {
		if n++; n&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, err := viewOf(encoded)
		if err != nil {
			return err
		}
		t.add(row)
	}
	t.flush()
	return in.Rows.Err()
}

// csvTable writes one line for the rows of a case, which are adjacent.
type csvTable struct {
	in        *Input
	w         *bufio.Writer
	names     []string // variable names in order of first occurrence
	vars      map[string]int
	more      bool // there are more variables than columns
	described bool // some case has a description
	columns   int

	line  []string // the current case's line
	test  int
	begun bool
}

// perColumn names the columns that follow each output column.
var perColumn = [...]string{"Status", "Score", "Named Scores", "Grader Reason"}

// survey collects the variable names.
func (t *csvTable) survey(ctx context.Context) error {
	t.columns = t.in.columns()
	n := 0
	for _, row := range t.in.Rows.Rows() {
		if n++; n&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := rowscan.New(row)
		s.Members(func(key []byte) {
			switch string(key) {
			case "vars":
				s.Members(t.name)
			case "testCase":
				s.Members(func(key []byte) {
					if string(key) == "description" {
						text := string(s.Skip())
						t.described = t.described || text != `""` && text != "null"
					}
				})
			}
		})
	}
	return t.in.Rows.Err()
}

// name adds a column for a variable. quoted is its name as JSON.
func (t *csvTable) name(quoted []byte) {
	if len(quoted) > 0 && quoted[0] == '_' {
		return // one of promptfoo's own variables, such as _conversation
	}
	if _, ok := t.vars[string(quoted)]; ok {
		return
	}
	if len(t.names) == maxVarColumns {
		t.more = true
		return
	}
	t.vars[string(quoted)] = len(t.names)
	v, _ := value.ParseJSON(`"` + string(quoted) + `"`)
	t.names = append(t.names, textOf(v))
}

// first returns the position of the first column of a prompt at a provider.
func (t *csvTable) first(column int) int {
	n := len(t.names) + column*(1+len(perColumn))
	if t.more {
		n++
	}
	if t.described {
		n++
	}
	return n
}

func (t *csvTable) header() {
	t.begin()
	at := 0
	if t.described {
		t.line[0] = "Description"
		at = 1
	}
	for i, name := range t.names {
		t.line[at+i] = Neutral(name)
	}
	if t.more {
		t.line[at+len(t.names)] = "Other variables"
	}
	for i := range t.columns {
		name := "column"
		if i < len(t.in.Meta.Columns) {
			c := &t.in.Meta.Columns[i]
			name = "[" + c.provider() + "] " + c.prompt()
		}
		copy(t.line[t.first(i):], append([]string{Neutral(name)}, perColumn[:]...))
	}
	t.flush()
}

// begin clears the line.
func (t *csvTable) begin() {
	if t.line == nil {
		t.line = make([]string, t.first(t.columns))
	}
	clear(t.line)
	t.begun = true
}

// add adds a row to the line of its case.
func (t *csvTable) add(row view) {
	if test := integer(row.Object, "testIdx"); !t.begun || test != t.test {
		t.flush()
		t.begin()
		t.test = test
		t.inputs(row)
	}
	column := integer(row.Object, "promptIdx")
	if column < 0 || column >= t.columns {
		column = 0
	}
	cells := t.line[t.first(column):]
	output, answered := row.output()
	if !answered {
		output = row.Object.Text("error")
	}
	cells[0] = Neutral(output)
	cells[1] = strings.ToUpper(row.status.String())
	if !Unscored(row.Object) {
		cells[2] = value.FormatNumber(score(row.Object))
	}
	if scores := row.Object.Object("namedScores"); scores.Len() > 0 {
		cells[3] = Neutral(value.Stringify(scores))
	}
	cells[4] = Neutral(reasonOf(row))
}

// reasonOf returns why a row did not pass, or else the reason of its grading.
func reasonOf(row view) string {
	var parts []string
	reasons := row.reasons()
	for i := range reasons {
		parts = append(parts, reasons[i].String())
	}
	if len(parts) == 0 {
		return row.Object.Object("gradingResult").Text("reason")
	}
	return strings.Join(parts, "\n")
}

func (t *csvTable) inputs(row view) {
	at := 0
	if t.described {
		t.line[0] = Neutral(row.description())
		at = 1
	}
	other := &value.Object{}
	for name, value := range row.vars().All() {
		i := slices.Index(t.names, name)
		switch {
		case i < 0:
			other.Set(name, value)
		case isNumber(value):
			t.line[at+i] = shownOf(value)
		default:
			t.line[at+i] = Neutral(shownOf(value))
		}
	}
	if t.more && other.Len() > 0 {
		t.line[at+len(t.names)] = Neutral(value.Stringify(other))
	}
}

func isNumber(v any) bool {
	_, ok := v.(float64)
	return ok
}

// flush writes the pending line, if any.
func (t *csvTable) flush() {
	if !t.begun {
		return
	}
	t.begun = false
	for i, cell := range t.line {
		if i > 0 {
			t.w.WriteByte(',')
		}
		writeCell(t.w, cell)
	}
	t.w.WriteString("\r\n")
}

// Neutral returns text that no spreadsheet interprets as a formula: a text that begins like
// a formula gets a leading quote. Source: OWASP, "CSV Injection". Control characters, at
// which some readers stop, are shown as escapes.
func Neutral(s string) string {
	var b strings.Builder
	r, _ := utf8.DecodeRuneInString(s)
	switch r {
	case '=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠':
		b.WriteByte('\'')
	}
	runes(s, func(r rune, raw string) {
		switch {
		case r == utf8.RuneError && len(raw) == 1, r < ' ' && r != '\n' && r != '\r' && r != '\t', r == 0x7f:
			b.WriteString(hexEscape(`\x`, rune(raw[0]), 2))
		default:
			b.WriteString(raw)
		}
	})
	return b.String()
}

// writeCell writes a cell. It quotes the text if any dialect of CSV would end the cell
// within it.
func writeCell(w *bufio.Writer, s string) {
	if !strings.ContainsAny(s, ",;\t\"\r\n") {
		w.WriteString(s)
		return
	}
	w.WriteByte('"')
	w.WriteString(strings.ReplaceAll(s, `"`, `""`))
	w.WriteByte('"')
}
