package suite

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// support is how a key is supported.
type support uint8

// The degrees of support.
const (
	supported   support = iota
	ignored             // read but without effect: a warning
	unsupported         // promptfoo has it, proviso does not: an error
	wrong               // not a key, but a common mistake; Right is the correct key
)

// keyRow is one key of an object in a suite file.
type keyRow struct {
	Key     string
	Kind    kind.Set
	Support support
	Own     bool   // not a key of promptfoo
	Beside  string // for unsupported: the key next to which promptfoo ignores this one; "" if it never does
	Right   string // for wrong: the correct key; "" if there is none
	Doc     string // one clause on what it does, or why it is missing
}

// keys checks the keys of an object, and the kinds of their values, against a table.
func (r *reading) keys(d *document.Document, pointer string, o *value.Object, table []keyRow) {
	for key, v := range o.All() {
		at := document.Join(pointer, key)
		row, ok := findRow(table, key)
		switch {
		case !ok:
			r.unknownKey(d, at, key, table)
		case row.Support == wrong:
			r.wrongKey(d, at, row)
		case row.Support != supported && asksNothing(v):
		case row.Support == unsupported && row.Beside != "" && r.promptfoo && o.Has(row.Beside):
			r.warn(d, at, "%s is ignored; the %s are run", key, row.Beside)
		case row.Support == unsupported:
			r.unsupported(d, at, "proviso does not support %s: %s", key, row.Doc)
		case row.Support == ignored:
			r.warn(d, at, "%s is ignored: %s", key, row.Doc)
		case !row.Kind.Has(v):
			r.mistake(d, at, proviso.Invalid, nil, "%s takes %s, not %s", key, row.Kind, kind.Shown(v))
		}
	}
}

// asksNothing reports whether a value disables a feature.
func asksNothing(v any) bool {
	list, isList := v.([]any)
	return v == nil || v == false || isList && len(list) == 0
}

func findRow(table []keyRow, key string) (keyRow, bool) {
	for _, row := range table {
		if row.Key == key {
			return row, true
		}
	}
	return keyRow{}, false
}

// hasRow reports whether a table has a key.
func hasRow(table func() []keyRow, key string) bool {
	_, ok := findRow(table(), key)
	return ok
}

// validKeys returns the valid keys of a table.
func validKeys(table []keyRow) []string {
	var names []string
	for _, row := range table {
		if row.Support == supported {
			names = append(names, row.Key)
		}
	}
	return names
}

// unknownKey records a key that is in no table: an error, or a warning in a suite of
// promptfoo's shape, because promptfoo ignores it.
func (r *reading) unknownKey(d *document.Document, at, key string, table []keyRow) {
	m := proviso.Mistake{Code: proviso.Invalid, Message: "unknown key " + quoteName(key), Warning: r.promptfoo}
	valid := validKeys(table)
	m.Nearest = document.Nearest(key, valid)
	if m.Nearest == "" && len(valid) <= 12 {
		m.Message += "; the keys here are " + strings.Join(valid, ", ")
	}
	r.recordKey(d, at, m)
}

func (r *reading) wrongKey(d *document.Document, at string, row keyRow) {
	m := proviso.Mistake{
		Code:    proviso.Invalid,
		Message: "unknown key " + quoteName(row.Key) + ": " + row.Doc,
		Nearest: row.Right,
		Warning: r.promptfoo,
	}
	r.recordKey(d, at, m)
}

func (r *reading) recordKey(d *document.Document, at string, m proviso.Mistake) {
	if r.full(m) || r.isBroken(d, at) {
		return
	}
	m.Place = r.places.place(r.at(d, at), true)
	r.append(m)
}

// quoteName quotes a name from the user for a message and limits its length.
func quoteName(name string) string {
	return `"` + document.Excerpt(name) + `"`
}
