package suite

import (
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// datasetKeys are the keys that a case of a dataset may have. How a case is run is up to
// the suite.
var datasetKeys = []string{"id", "description", "vars", "assert", "threshold", "metadata"}

// maxCaseID bounds the id of a case of a dataset, in bytes.
const maxCaseID = 200

// DatasetCases checks the cases of a dataset and gives each an id. It remembers the ids,
// not the cases. It is not safe for concurrent use.
type DatasetCases struct {
	pass  *pass
	ids   map[string]struct{}
	names identities
	found []*proviso.Error
}

// NewDatasetCases returns a check of a dataset without cases. Facts are the tables of
// types and providers.
func NewDatasetCases(facts proviso.Facts) *DatasetCases {
	d := &DatasetCases{ids: map[string]struct{}{}, names: newIdentities()}
	s := &caseSource{files: NewFiles("", FilesOptions{Confine: true}), env: proviso.EnvMap{}, settings: proviso.EnvMap{}, facts: facts, repeat: repetition{n: 1}, sampled: &sample{}, known: newKnownIDs()}
	d.pass = newPass(s, nil)
	d.pass.Report = func(e *proviso.Error) {
		if !e.Warning {
			d.found = append(d.found, e)
		}
	}
	d.pass.enter(true)
	return d
}

// Has reports whether a case has the id.
func (d *DatasetCases) Has(id string) bool {
	_, ok := d.ids[id]
	return ok
}

// Keep records the id of a case that was checked before.
func (d *DatasetCases) Keep(id string) { d.ids[id] = struct{}{} }

// Add returns a case as a dataset keeps it: with its id first. A case without an id gets
// one from its content. The pointers of the mistakes begin with at; with a mistake, the
// case is nil.
func (d *DatasetCases) Add(at string, o *value.Object) (*value.Object, []*proviso.Error) {
	d.found = nil
	d.check(at, o)
	id := ""
	if len(d.found) == 0 {
		id = d.id(at, o)
	}
	if len(d.found) > 0 {
		return nil, d.found
	}
	d.ids[id] = struct{}{}
	kept := value.NewObject(o.Len() + 1)
	kept.Set("id", id)
	for key, v := range o.All() {
		if key != "id" && v != nil {
			kept.Set(key, v)
		}
	}
	return kept, nil
}

// ID returns the id that Add would give to a case, if it has no mistake and equals none
// before.
func (d *DatasetCases) ID(o *value.Object) string {
	if v := o.At("id"); v != nil {
		return value.ToString(v)
	}
	names := newIdentities()
	return names.name(0, names.content(o))
}

// Check returns the mistakes of a case, with pointers into it, and adds nothing.
func (d *DatasetCases) Check(o *value.Object) []*proviso.Error {
	d.found = nil
	d.check("", o)
	return d.found
}

func (d *DatasetCases) check(at string, o *value.Object) {
	for key, v := range o.All() {
		if v == nil || slices.Contains(datasetKeys, key) {
			continue
		}
		if hasRow(caseKeys, key) {
			d.wrong(document.Join(at, key), "a case of a dataset has no %s: how it is run is up to the suite", key)
			return
		}
	}
	var l layer
	d.pass.Failed = false
	d.pass.testCase(&l, written{at: at, object: o}, &layer{})
	if len(d.found) == 0 {
		d.pass.checkContent(written{at: at, object: o})
	}
	if vars := o.At("vars"); vars != nil && len(d.found) == 0 {
		if _, ok := vars.(*value.Object); !ok {
			d.wrong(at+"/vars", "vars are variables by name, not %s", kind.Shown(vars))
		}
	}
	d.types(l.asserts)
}

// types finds types that do not exist.
func (d *DatasetCases) types(list []*proviso.Assertion) {
	known := d.pass.source.facts.Types
	for _, a := range list {
		if name := strings.TrimPrefix(a.Type, "not-"); known.Of(name) == nil && !a.Broken {
			e := proviso.ErrorAt(a.Pointer+"/type", proviso.Invalid, "unknown assertion type %q", a.Type)
			for i := range known {
				e.Valid = append(e.Valid, known[i].Type)
			}
			if near := document.Nearest(name, e.Valid); near != "" {
				e.Valid = []string{near}
			}
			d.found = append(d.found, e)
		}
		d.types(a.Assert)
	}
}

// id returns the id of a case, unless it is a mistake.
func (d *DatasetCases) id(at string, o *value.Object) string {
	v := o.At("id")
	if v == nil {
		for {
			if id := d.names.name(0, d.names.content(o)); !d.Has(id) {
				return id
			}
		}
	}
	id := value.ToString(v)
	switch {
	case strings.TrimSpace(id) == "" || len(id) > maxCaseID || strings.ContainsFunc(id, unicode.IsControl):
		d.wrong(at+"/id", "the id of a case is a text of 1 to %d bytes in one line", maxCaseID)
	case d.Has(id):
		d.wrong(at+"/id", "the id %q is given to more than one case", id)
	}
	return id
}

func (d *DatasetCases) wrong(at, format string, args ...any) {
	d.found = append(d.found, proviso.ErrorAt(at, proviso.Invalid, format, args...))
}
