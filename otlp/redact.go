package otlp

import (
	"context"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// redact returns a request without the values of attributes whose name contains
// one of the names. Everything else is unchanged, including fields that this
// package does not read, so that the request can be forwarded.
func redact(ctx context.Context, kind string, body []byte, names []string) ([]byte, error) {
	r := &redactor{ctx: ctx, names: names}
	if kind == jsonType {
		v, err := value.ParseJSONContext(ctx, string(body))
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, proviso.Errorf(proviso.Invalid, "malformed JSON: %w", err)
		}
		return value.AppendJSON(nil, r.json(v, 0)), nil
	}
	out, err := r.message(nil, body, requestPlan(), 0)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, proviso.Errorf(proviso.Invalid, "malformed protobuf: %w", err)
	}
	return out, nil
}

// redactor removes attributes by their names. It is used by one goroutine.
type redactor struct {
	ctx   context.Context
	names []string
	steps int // fields so far
}

// next reads the next field, and regularly checks the context.
func (r *redactor) next(f *reader) bool {
	const lookAfter = 1024
	if r.steps++; r.steps%lookAfter == 0 && r.ctx.Err() != nil {
		f.err = context.Cause(r.ctx)
		return false
	}
	return f.next()
}

// hides reports whether the value of an attribute must be removed.
func (r *redactor) hides(key string) bool {
	key = strings.ToLower(key)
	for _, name := range r.names {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && strings.Contains(key, name) {
			return true
		}
	}
	return false
}

// plan lists the fields of a message that contain attributes, by field number. An empty plan marks
// an attribute.
type plan map[protowire.Number]plan

// requestPlan is the plan of a request.
func requestPlan() plan {
	keyValue := plan{}
	scope, span := plan{3: keyValue}, plan{9: keyValue, 11: {3: keyValue}, 13: {4: keyValue}}
	return plan{1: {1: {1: keyValue}, 2: {1: scope, 2: span}}}
}

// isKeyValue reports whether a plan marks an attribute.
func isKeyValue(p plan) bool { return p != nil && len(p) == 0 }

// message copies a message to out.
func (r *redactor) message(out, data []byte, p plan, depth int) ([]byte, error) {
	f := reader{rest: data}
	for raw := data; r.next(&f); raw = f.rest {
		inner := p[f.number]
		if inner == nil || f.kind != protowire.BytesType {
			out = append(out, raw[:f.size]...)
			continue
		}
		var part []byte
		var err error
		if isKeyValue(inner) {
			part, err = r.pair(f.data, depth)
		} else {
			part, err = r.message(nil, f.data, inner, depth)
		}
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, f.number, part)
	}
	return out, f.err
}

// pair copies a KeyValue, and replaces the value if its name is hidden.
func (r *redactor) pair(data []byte, depth int) ([]byte, error) {
	key := ""
	var value []byte
	f := reader{rest: data}
	for r.next(&f) {
		switch {
		case f.is(1, protowire.BytesType):
			key = string(f.data)
		case f.is(2, protowire.BytesType):
			value = f.data
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if r.hides(key) {
		value = appendText(nil, 1, proviso.Redaction)
	} else {
		var err error
		if value, err = r.value(value, depth+1); err != nil {
			return nil, err
		}
	}
	return appendBytes(appendText(nil, 1, key), 2, value), nil
}

// value copies an AnyValue: a list (5) of values (1), or an object (6) of pairs (1).
func (r *redactor) value(data []byte, depth int) ([]byte, error) {
	if depth > maxNested {
		return nil, errNested
	}
	var out []byte
	f := reader{rest: data}
	for raw := data; r.next(&f); raw = f.rest {
		copied := r.value
		switch {
		case f.is(6, protowire.BytesType):
			copied = r.pair
		case !f.is(5, protowire.BytesType):
			out = append(out, raw[:f.size]...)
			continue
		}
		var members []byte
		inner := reader{rest: f.data}
		for r.next(&inner) {
			if !inner.is(1, protowire.BytesType) {
				continue
			}
			part, err := copied(inner.data, depth+1)
			if err != nil {
				return nil, err
			}
			members = appendBytes(members, 1, part)
		}
		if inner.err != nil {
			return nil, inner.err
		}
		out = appendBytes(out, f.number, members)
	}
	return out, f.err
}

// json returns v without hidden values. Every object with key and value is an
// attribute.
func (r *redactor) json(v any, depth int) any {
	if depth > 4*maxNested {
		return nil // deeper than any request that can be decoded
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = r.json(e, depth+1)
		}
	case *value.Object:
		if key, ok := v.At("key").(string); ok && r.hides(key) {
			return value.ObjectOf("key", key, "value", value.ObjectOf("stringValue", proviso.Redaction))
		}
		for k, e := range v.All() {
			v.Set(k, r.json(e, depth+1))
		}
	}
	return v
}
