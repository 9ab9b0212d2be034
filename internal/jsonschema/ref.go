package jsonschema

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// resolver finds the targets of $ref.
type resolver struct {
	root  any
	base  string            // the root's $id without an empty fragment
	ids   map[string]target // by absolute id; built when a reference first needs it
	refs  map[*value.Object]bool
	built bool
}

// target is a schema with the base of the references inside it.
type target struct {
	schema any
	base   string
}

func newResolver(root any) *resolver {
	r := &resolver{root: root, refs: map[*value.Object]bool{}}
	if o, ok := root.(*value.Object); ok {
		id := o.Text("$id")
		r.base = trimFragment(id)
	}
	return r
}

// join resolves ref against base (RFC 3986).
func join(base, ref string) string {
	ref = trimFragment(ref)
	if base == "" || ref == "" {
		return base + ref
	}
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

// trimFragment removes an empty fragment from an id.
func trimFragment(ref string) string {
	if strings.HasSuffix(ref, "#/") {
		return ref[:len(ref)-2]
	}
	return strings.TrimSuffix(ref, "#")
}

// find returns the target of ref under base.
func (r *resolver) find(base, ref string) (target, error) {
	doc, fragment, _ := strings.Cut(ref, "#")
	if doc == "" {
		doc = base
	} else {
		doc = join(base, doc)
	}
	missing := invalid("can't resolve reference %s from id %s", ref, base)
	at, ok := r.document(doc)
	if !ok {
		return target{}, missing
	}
	switch {
	case fragment == "" || fragment == "/":
		return at, nil
	case fragment[0] == '/':
		if at, ok = at.follow(fragment); ok {
			return at, nil
		}
	default:
		r.index()
		if at, ok = r.ids[doc+"#"+fragment]; ok {
			return at, nil
		}
	}
	return target{}, missing
}

// document returns the schema with the given id.
func (r *resolver) document(id string) (target, bool) {
	switch id {
	case r.base:
		return target{r.root, r.base}, true
	case metaID:
		return target{metaDocument(), metaID}, true
	}
	r.index()
	at, ok := r.ids[id]
	return at, ok
}

// follow follows a JSON pointer in a fragment.
func (t target) follow(pointer string) (target, bool) {
	for part := range strings.SplitSeq(pointer[1:], "/") {
		name := unescapeFragment(part)
		var ok bool
		switch in := t.schema.(type) {
		case *value.Object:
			t.schema, ok = in.Get(name)
		case []any:
			t.schema, ok = element(in, name)
		}
		if !ok {
			return t, false
		}
		// Members of properties and definitions are not keywords, even if they have the
		// name of one.
		switch name {
		case "properties", "patternProperties", "enum", "dependencies", "definitions":
		default:
			t.base = innerBase(t.schema, t.base)
		}
	}
	return t, true
}

func element(list []any, name string) (any, bool) {
	n := 0
	for _, c := range []byte(name) {
		if c < '0' || c > '9' || n > len(list) {
			return nil, false
		}
		n = n*10 + int(c-'0')
	}
	if name == "" || len(name) > 1 && name[0] == '0' || n >= len(list) {
		return nil, false
	}
	return list[n], true
}

// innerBase returns the base inside schema.
func innerBase(schema any, base string) string {
	if o, ok := schema.(*value.Object); ok {
		if id, ok := o.At("$id").(string); ok && id != "" {
			return join(base, id)
		}
	}
	return base
}

// index collects the ids and anchors of all schemas inside the root.
func (r *resolver) index() {
	if r.built {
		return
	}
	r.built, r.ids = true, map[string]target{}
	r.gather(r.root, r.base, true)
}

func (r *resolver) gather(v any, base string, isRoot bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.gather(e, base, false)
		}
	case *value.Object:
		if id, ok := v.At("$id").(string); ok && !isRoot {
			full := join(base, id)
			if !strings.HasPrefix(id, "#") {
				base = full
			}
			r.ids[full] = target{v, base}
		}
		if anchor, ok := v.At("$anchor").(string); ok {
			r.ids[base+"#"+anchor] = target{v, base}
		}
		for _, e := range v.All() {
			r.gather(e, base, false)
		}
	}
}

// refersOn reports whether a schema contains a reference. Ajv then makes the schema
// a separate function, with paths that start anew.
func (r *resolver) refersOn(v any) bool {
	switch v := v.(type) {
	case []any:
		if slices.ContainsFunc(v, r.refersOn) {
			return true
		}
	case *value.Object:
		known, ok := r.refs[v]
		if ok {
			return known
		}
		found := v.Has("$ref")
		for _, e := range v.All() {
			found = found || r.refersOn(e)
		}
		r.refs[v] = found
		return found
	}
	return false
}
