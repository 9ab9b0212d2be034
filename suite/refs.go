package suite

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// maxReferred limits how many values the $refs of one document may add.
const maxReferred = 1_000_000

// resolve replaces every $ref of a document by its target, in the same document or in
// another file, and links the place where it is used to the place where it is
// written. JSON schemas keep their own references.
func (r *reading) resolve(d *document.Document, clean string) error {
	if !d.Mentions("$ref") || r.flag("PROMPTFOO_DISABLE_REF_PARSER") {
		return nil
	}
	r.loading = append(r.loading, clean)
	x := refs{reading: r, doc: d, name: clean, raw: d.Root, done: map[string]referred{}}
	d.Root = x.value("", d.Root)
	r.loading = r.loading[:len(r.loading)-1]
	if x.added > maxReferred {
		return &document.SyntaxError{
			Place: d.Place(x.last), Message: fmt.Sprintf("$refs expand to more than %d values", maxReferred),
		}
	}
	return nil
}

// refs resolves the references of one document.
type refs struct {
	*reading
	doc   *document.Document
	name  string // clean name of the file
	raw   any    // the document before it was resolved
	done  map[string]referred
	added int
	last  string // pointer of the reference that exceeded the limit
}

// referred is the target of a reference.
type referred struct {
	value any
	size  int    // 0 while it is being resolved
	at    string // pointer in the whole suite
}

// value returns v with its references resolved. Containers without references are not
// copied.
func (x *refs) value(pointer string, v any) any {
	if x.added > maxReferred {
		return v
	}
	if o, ok := v.(*value.Object); ok {
		if ref, ok := o.At("$ref").(string); ok {
			return x.follow(pointer, o, ref)
		}
	}
	return document.Map(pointer, v, func(at, key string, e any) any {
		if isSchemaKey(key) {
			return e
		}
		return x.value(at, e)
	})
}

// isSchemaKey reports whether a key holds a JSON schema, which has its own
// references.
func isSchemaKey(key string) bool {
	switch key {
	case "parameters", "input_schema", "inputSchema", "json_schema", "schema":
		return true
	}
	return false
}

// follow returns the target of one reference, overridden by the other members of the
// object.
func (x *refs) follow(pointer string, o *value.Object, ref string) any {
	before := len(x.mistakes)
	t, ok := x.target(pointer, ref)
	if !ok {
		if len(x.mistakes) > before {
			x.broken = append(x.broken, x.at(x.doc, pointer))
		}
		return o
	}
	x.added += t.size
	if x.added > maxReferred {
		x.last = pointer
		return nil
	}
	used := x.at(x.doc, pointer)
	base, isObject := t.value.(*value.Object)
	if o.Len() == 1 || !isObject {
		x.places.link(used, t.at)
		return t.value
	}
	merged := base.Clone()
	for key := range base.All() {
		if !o.Has(key) {
			x.places.link(document.Join(used, key), document.Join(t.at, key))
		}
	}
	for key, v := range o.All() {
		if key != "$ref" {
			merged.Set(key, x.value(document.Join(pointer, key), v))
		}
	}
	return merged
}

// target finds the target of ref and records mistakes.
func (x *refs) target(pointer, ref string) (referred, bool) {
	file, fragment, _ := strings.Cut(ref, "#")
	if unescaped, err := url.PathUnescape(fragment); err == nil {
		fragment = unescaped
	}
	fragment = strings.TrimSuffix(fragment, "/")
	switch {
	case strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://"):
		x.unsupported(x.doc, pointer, "a $ref to an address is not followed: %s", ref)
		return referred{}, false
	case fragment != "" && fragment[0] != '/':
		if !inValue(pointer) {
			x.mistake(x.doc, pointer, proviso.Invalid, nil, "a $ref is written #/key/key, got %s", quoteName(ref))
		}
		return referred{}, false
	case file != "":
		return x.external(pointer, ref, file, fragment)
	}
	return x.internal(pointer, ref, fragment)
}

// inValue reports whether a pointer leads into an assertion's value, which may be a
// JSON schema.
func inValue(pointer string) bool {
	return slices.Contains(document.Split(pointer), "value")
}

func (x *refs) internal(pointer, ref, fragment string) (referred, bool) {
	x.refersTo(x.doc, fragment)
	t, ok := x.done[fragment]
	if ok && t.size == 0 {
		if !inValue(pointer) {
			x.mistake(x.doc, pointer, proviso.Invalid, nil, "the $ref %s refers back to itself", ref)
		}
		return t, false
	}
	if ok {
		return t, true
	}
	x.done[fragment] = referred{}
	v, found := x.lookup(fragment)
	if !found {
		delete(x.done, fragment)
		if !inValue(pointer) {
			x.missing(pointer, ref, x.raw, fragment)
		}
		return t, false
	}
	t = referred{value: v, size: size(v, maxReferred), at: x.at(x.doc, fragment)}
	x.done[fragment] = t
	return t, true
}

// lookup resolves the value at a pointer of this document. The path may lead through
// other references.
func (x *refs) lookup(fragment string) (any, bool) {
	cur, at := x.raw, ""
	for _, s := range document.Split(fragment) {
		if o, ok := cur.(*value.Object); ok && o.Has("$ref") && !o.Has(s) {
			cur = x.value(at, o)
		}
		next, ok := document.Lookup(cur, document.Join("", s))
		if !ok {
			return nil, false
		}
		cur, at = next, document.Join(at, s)
	}
	return x.value(at, cur), true
}

func (x *refs) external(pointer, ref, file, fragment string) (referred, bool) {
	name := strings.TrimPrefix(file, "file://")
	if !path.IsAbs(name) && !strings.HasPrefix(file, "file://") {
		name = path.Join(path.Dir(x.name), name)
	}
	name = x.files.Clean(name)
	if name == x.name {
		return x.internal(pointer, ref, fragment)
	}
	if slices.Contains(x.loading, name) {
		x.mistake(x.doc, pointer, proviso.Invalid, nil, "the $ref %s leads back to this file", ref)
		return referred{}, false
	}
	d, ok := x.raws[name]
	if !ok {
		var err error
		if d, err = x.load(name); err != nil {
			x.failed(x.doc, pointer, err)
			return referred{}, false
		}
		x.raws[name] = d
	}
	x.refersTo(d, fragment)
	v, ok := document.Lookup(d.Root, fragment)
	if !ok {
		x.missing(pointer, ref, d.Root, fragment)
		return referred{}, false
	}
	return referred{value: v, size: size(v, maxReferred), at: x.at(d, fragment)}, true
}

// refersTo records that a top-level key holds values for references.
func (r *reading) refersTo(d *document.Document, fragment string) {
	if segments := document.Split(fragment); len(segments) > 0 {
		r.referred[r.at(d, document.Join("", segments[0]))] = true
	}
}

// missing records a reference without a target, with the keys that exist.
func (x *refs) missing(pointer, ref string, root any, fragment string) {
	var valid []string
	cur := root
	segments := document.Split(fragment)
	last := ""
	for _, s := range segments {
		last = s
		valid = nil
		if o, ok := cur.(*value.Object); ok {
			valid = o.Keys()
		}
		next, ok := document.Lookup(cur, document.Join("", s))
		if !ok {
			break
		}
		cur = next
	}
	m := proviso.Mistake{Code: proviso.NotFound, Message: "the $ref " + quoteName(ref) + " points to nothing"}
	m.Nearest = document.Nearest(last, valid)
	x.record(x.doc, pointer, m, nil)
}

// size counts the values in v, at most limit+1.
func size(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if n > limit {
				break
			}
			n += size(e, limit-n)
		}
	case *value.Object:
		for _, e := range v.All() {
			if n > limit {
				break
			}
			n += size(e, limit-n)
		}
	}
	return n
}
