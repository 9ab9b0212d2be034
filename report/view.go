package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// view is a decoded row, for the formats that people read.
type view struct {
	*value.Object
	status proviso.Status
}

func viewOf(encoded []byte) (view, error) {
	v, err := value.ParseJSON(string(encoded))
	if err != nil {
		return view{}, fmt.Errorf("row of the run: %w", err)
	}
	o, _ := v.(*value.Object)
	return view{o, proviso.StatusNamed(o.Text("verdict"))}, nil
}

// viewAt reads a mark's row.
func viewAt(rows Rows, m mark) (view, error) {
	encoded, err := rows.Row(m.index)
	if err != nil {
		return view{}, err
	}
	v, err := viewOf(encoded)
	if m.forgiven {
		v.status = proviso.Pass
	}
	return v, err
}

// name returns the number of the case, and of the repeat if there are several.
func (v view) name() string {
	name := fmt.Sprintf("case %d", integer(v.Object, "testIdx")+1)
	if r := v.Object.Object("repeat"); r != nil {
		name += fmt.Sprintf(" (repeat %d of %d)", integer(r, "index")+1, integer(r, "of"))
	}
	return name
}

func (v view) description() string { return v.Object.Object("testCase").Text("description") }

// moreRows returns "1 more row" and the like.
func moreRows(n int) string {
	if n == 1 {
		return "1 more row"
	}
	return fmt.Sprintf("%d more rows", n)
}

// output returns the answer as text, and whether there is an answer.
func (v view) output() (string, bool) {
	o, answered := v.Object.Object("response").Get("output")
	if !answered || o == nil { // a failed provider call has no output
		return "", false
	}
	return shownOf(o), true
}

// vars returns the suite's variables, without promptfoo's own such as _conversation.
func (v view) vars() *value.Object {
	all := v.Object.Object("vars")
	own := value.NewObject(all.Len())
	for name, value := range all.All() {
		if !strings.HasPrefix(name, "_") {
			own.Set(name, value)
		}
	}
	return own
}

// reason is one reason why a row does not pass.
type reason struct {
	kinds     []string // assertion types; empty for the row as a whole
	name      string   // names of the assertions
	note      string   // a note by this package
	text      string
	undecided bool
	judged    *Judgement // nil unless criteria decided
}

// reasons returns why the row failed or was not decided: the reasons of its assertions,
// then that of the row as a whole. For a failed row, failures come first.
func (v view) reasons() []reason {
	var list []reason
	failed := broken(v.Object)
	for i := range failed {
		b := &failed[i]
		list = append(list, reason{b.kinds, strings.Join(b.names, ", "), b.note, b.reason + b.score, b.undecided, b.judged})
	}
	if why := v.Object.Text("error"); why != "" && !explained(failed, why, v.status) {
		list = append(list, reason{text: why, undecided: v.status == proviso.Errored})
	}
	if v.status == proviso.Fail { // failures before undecided assertions
		slices.SortStableFunc(list, func(a, b reason) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return list
}

func rank(r reason) int {
	if r.undecided {
		return 1
	}
	return 0
}

// mark returns the sign before a reason.
func (r *reason) mark() string {
	if r.undecided {
		return "!"
	}
	return "✗"
}

// String returns the reason as text with any number of lines.
func (r *reason) String() string {
	if r.name == "" {
		return r.text
	}
	return r.name + r.note + ": " + r.text
}

// clip returns at most limit bytes of s, in whole characters, followed by the number of
// bytes left out.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	at := excerpt.Start(s, limit)
	return fmt.Sprintf("%s… (%d bytes more)", s[:at], len(s)-at)
}

// columns returns the number of a table's columns. The number is limited because the header
// of a run, which may be damaged, may not name them.
func (in *Input) columns() int {
	const unnamed = 100
	return max(len(in.Meta.Columns), min(len(in.Summary.Columns()), unnamed))
}

// columnName returns a column's name for people, without a length limit.
func (m *Meta) columnName(i int) string {
	if i < 0 || i >= len(m.Columns) {
		return fmt.Sprintf("column %d", i+1)
	}
	c := &m.Columns[i]
	return c.provider() + " · " + c.prompt()
}

// runes yields the characters of s with their bytes. An invalid byte is utf8.RuneError of
// length 1.
func runes(s string, yield func(r rune, raw string)) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		yield(r, s[i:i+size])
		i += size
	}
}

// wholeReason returns why the row as a whole did not pass, unless an assertion has the same
// reason.
func wholeReason(row view) string {
	for _, r := range row.reasons() {
		if r.name == "" {
			return r.text
		}
	}
	return ""
}
