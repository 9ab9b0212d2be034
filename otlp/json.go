package otlp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// DecodeJSON reads a request in the JSON form of OTLP: ids are hexadecimal,
// integers may be strings, names are in lower camel case (OTLP 1.7, section
// "JSON Protobuf Encoding"). The error describes what is malformed.
func DecodeJSON(data []byte) (*Batch, error) { return DecodeJSONContext(context.Background(), data) }

// DecodeJSONContext is [DecodeJSON] with a context. If ctx ends, the error is
// its cause.
func DecodeJSONContext(ctx context.Context, data []byte) (*Batch, error) {
	v, err := value.ParseReply(ctx, string(data))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, value.ErrTooMany):
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	case err != nil:
		return nil, proviso.Errorf(proviso.Invalid, "malformed JSON: %w", err)
	}
	d := jsonDecoder{batch: &Batch{}, steps: steps{ctx: ctx}}
	if err := d.request(v); err != nil {
		return nil, err
	}
	return d.batch, nil
}

// jsonDecoder reads one request.
type jsonDecoder struct {
	batch *Batch
	steps steps
}

// request reads {resourceSpans: [{scopeSpans: [{spans: […]}]}]}.
func (d *jsonDecoder) request(v any) error {
	root, ok := v.(*value.Object)
	if !ok {
		return proviso.Errorf(proviso.Invalid, "malformed JSON: a request is an object with resourceSpans")
	}
	return members(root, "resourceSpans", func(resource *value.Object) error {
		return members(resource, "scopeSpans", func(scope *value.Object) error {
			return members(scope, "spans", d.span)
		})
	})
}

// members calls each for every object in the list under key. A missing list counts as empty.
func members(o *value.Object, key string, each func(*value.Object) error) error {
	v := o.At(key)
	list, ok := v.([]any)
	if !ok && v != nil {
		return proviso.Errorf(proviso.Invalid, "malformed JSON: %s is not a list", key)
	}
	for i, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			return proviso.Errorf(proviso.Invalid, "malformed JSON: %s[%d] is not an object", key, i)
		}
		if err := each(o); err != nil {
			return err
		}
	}
	return nil
}

// span reads one span.
func (d *jsonDecoder) span(o *value.Object) error {
	if err := d.steps.next(); err != nil {
		return err
	}
	b := d.batch
	r := Record{}
	r.Span.Name = textAt(o, "name")
	trace, okTrace := identifier(o.At("traceId"), 32)
	id, okID := identifier(o.At("spanId"), 16)
	if !okTrace || !okID {
		b.reject(fmt.Sprintf("the span %q has no valid traceId and spanId", shortened(r.Span.Name)))
		return nil
	}
	r.TraceID, r.Span.ID = trace, id
	r.Span.ParentID, _ = identifier(o.At("parentSpanId"), 16)
	r.Span.Start, r.Span.End = instant(nanos(o.At("startTimeUnixNano"))), instant(nanos(o.At("endTimeUnixNano")))
	size := 0
	var err error
	if r.Span.Attributes, size, err = d.attributes(o.At("attributes"), 0); err != nil {
		return err
	}
	if status, ok := o.At("status").(*value.Object); ok {
		r.Span.StatusMessage = textAt(status, "message")
		r.Span.StatusCode = statusCode(status.At("code"))
	}
	exception, said := "", contents{}
	err = members(o, "events", func(e *value.Object) error {
		if err := d.steps.next(); err != nil {
			return err
		}
		about, more, err := d.attributes(e.At("attributes"), 0)
		if err != nil {
			return err
		}
		size += more
		said.event(textAt(e, "name"), about)
		exception = exceptionOf(textAt(e, "name"), about, exception)
		return err
	})
	said.into(r.Span.Attributes)
	explain(&r.Span, exception)
	r.Size = size + len(r.Span.Name) + len(r.Span.StatusMessage) + overhead
	b.Records = append(b.Records, r)
	return err
}

// textAt copies a text, so that the request does not stay in memory.
func textAt(o *value.Object, key string) string {
	s, _ := o.At(key).(string)
	return strings.ToValidUTF8(strings.Clone(s), "\uFFFD")
}

// identifier reads a nonzero id with this many hexadecimal digits.
func identifier(v any, digits int) (string, bool) {
	s, _ := v.(string)
	if len(s) != digits || strings.Trim(s, "0") == "" {
		return "", false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return "", false
		}
	}
	return strings.ToLower(strings.Clone(s)), true
}

// nanos reads a time, which is a string or a number. It returns 0 for any other value.
func nanos(v any) uint64 {
	switch v := v.(type) {
	case string:
		n, err := strconv.ParseUint(v, 10, 64)
		if err == nil {
			return n
		}
	case float64:
		if v > 0 && v < 1<<63 {
			return uint64(v)
		}
	}
	return 0
}

// statusCode reads a code, which is a number or its name.
func statusCode(v any) int {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<31 {
			return int(v)
		}
	case string:
		switch v {
		case "STATUS_CODE_OK":
			return 1
		case "STATUS_CODE_ERROR":
			return 2
		}
	}
	return 0
}

// attributes reads a list of {key, value} and returns its approximate size in
// bytes.
func (d *jsonDecoder) attributes(v any, depth int) (*value.Object, int, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, 0, proviso.Errorf(proviso.Invalid, "malformed JSON: attributes are not a list of {key, value}")
	}
	o, size := value.NewObject(len(list)), 0
	for _, e := range list {
		pair, ok := e.(*value.Object)
		if !ok {
			return nil, 0, proviso.Errorf(proviso.Invalid, "malformed JSON: an attribute is not {key, value}")
		}
		val, n, err := d.valueOf(pair.At("value"), depth+1)
		if err != nil {
			return nil, 0, err
		}
		key := textAt(pair, "key")
		o.Set(key, val)
		size += len(key) + n + 32
	}
	return o, size, nil
}

// valueOf reads an AnyValue: an object with one key, which names the kind of value.
func (d *jsonDecoder) valueOf(v any, depth int) (any, int, error) {
	if err := d.steps.next(); err != nil {
		return nil, 0, err
	}
	if depth > maxNested {
		return nil, 0, proviso.Errorf(proviso.Invalid, "malformed JSON: %w", errNested)
	}
	o, _ := v.(*value.Object)
	for kind, v := range o.All() {
		switch kind {
		case "stringValue", "bytesValue":
			s := textAt(o, kind)
			return s, len(s), nil
		case "boolValue", "doubleValue":
			if s, ok := v.(string); ok { // NaN, Infinity, -Infinity
				return value.ToNumber(s), 0, nil
			}
			return scalar(v), 0, nil
		case "intValue":
			return value.ToNumber(scalar(v)), 0, nil
		case "arrayValue":
			return d.listOf(v, depth)
		case "kvlistValue":
			inner, _ := v.(*value.Object)
			return d.attributes(inner.At("values"), depth)
		}
	}
	return nil, 0, nil
}

// scalar returns v, or nil if v is a list or an object.
func scalar(v any) any {
	switch v.(type) {
	case bool, float64, string:
		return v
	}
	return nil
}

func (d *jsonDecoder) listOf(v any, depth int) (any, int, error) {
	o, _ := v.(*value.Object)
	values, _ := o.At("values").([]any)
	list, size := make([]any, 0, len(values)), 0
	for _, e := range values {
		value, n, err := d.valueOf(e, depth+1)
		if err != nil {
			return nil, 0, err
		}
		list, size = append(list, value), size+n+16
	}
	return list, size, nil
}
