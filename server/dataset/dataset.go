// Package dataset reads and compares the stored content of datasets, and writes it as CSV and
// YAML. Each line of a dataset is one case in JSON with its id first. Start at [Lines].
package dataset

import (
	"bytes"
	"errors"
	"iter"

	"github.com/proviso-eval/proviso/value"
)

// Lines yields the lines of a stored dataset.
func Lines(content []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(content) {
			if !yield(bytes.TrimSuffix(line, []byte{'\n'})) {
				return
			}
		}
	}
}

// ErrDamaged means that a stored dataset cannot be read.
var ErrDamaged = errors.New("a stored dataset is damaged")

// ID returns the id of a stored case without reading the rest.
func ID(line []byte) (string, error) {
	text, ok := bytes.CutPrefix(line, []byte(`{"id":"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 {
		return "", ErrDamaged
	}
	if !bytes.Contains(text[:end], []byte{'\\'}) {
		return string(text[:end]), nil
	}
	one, err := Case(line)
	if err != nil {
		return "", err
	}
	return one.Text("id"), nil
}

// Case reads a stored case.
func Case(line []byte) (*value.Object, error) {
	v, err := value.ParseJSON(string(line))
	one, ok := v.(*value.Object)
	if err != nil || !ok {
		return nil, ErrDamaged
	}
	return one, nil
}

// Defaults are what the suite of a run adds to every case.
type Defaults struct {
	assert   []any
	metadata *value.Object
}

// DefaultsOf reads the defaults from the suite of a run.
func DefaultsOf(config *value.Object) Defaults {
	test := config.Object("defaultTest")
	list, _ := test.At("assert").([]any)
	all := config.Object("metadata").Clone()
	for key, v := range test.Object("metadata").All() {
		if all == nil {
			all = value.NewObject(1)
		}
		all.Set(key, v)
	}
	return Defaults{list, all}
}

// OfRow makes a case from a row, without what its suite adds to every case: the suite adds that
// again when it runs the dataset.
func OfRow(row *value.Object, defaults Defaults) *value.Object {
	test := row.Object("testCase")
	one := value.NewObject(6)
	if id := row.Text("caseId"); id != "" {
		one.Set("id", id)
	}
	if text := test.Text("description"); text != "" {
		one.Set("description", text)
	}
	vars := row.Object("resolvedVars")
	if vars == nil {
		vars = row.Object("vars")
	}
	if vars.Len() > 0 {
		one.Set("vars", vars)
	}
	list, _ := test.At("assert").([]any)
	if n := len(defaults.assert); n <= len(list) && same(list[:n], defaults.assert) {
		list = list[n:]
	}
	if len(list) > 0 {
		one.Set("assert", list)
	}
	if threshold, ok := test.At("threshold").(float64); ok {
		one.Set("threshold", threshold)
	}
	metadata := value.NewObject(0)
	for key, v := range test.Object("metadata").All() {
		if known, ok := defaults.metadata.Get(key); !ok || !same(known, v) {
			metadata.Set(key, v)
		}
	}
	if metadata.Len() > 0 {
		one.Set("metadata", metadata)
	}
	if one.Len() == 0 || one.Len() == 1 && one.Has("id") {
		one.Set("vars", value.NewObject(0)) // the suite has the whole content
	}
	return one
}

// same reports whether two values are the same JSON.
func same(a, b any) bool {
	return string(value.AppendJSON(nil, a)) == string(value.AppendJSON(nil, b))
}
