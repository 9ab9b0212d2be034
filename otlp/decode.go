package otlp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Limits of one span.
const (
	maxNested = 32  // lists and objects in a value
	overhead  = 256 // approximate overhead of a span in bytes
)

// Record is one span of a request, with its trace.
type Record struct {
	TraceID string // 32 hexadecimal digits in lower case
	Span    proviso.Span
	Size    int // approximate size in memory
}

// Batch is the content of one request.
type Batch struct {
	Records []Record
	// Rejected counts the spans without valid ids; Reason describes the first of
	// them.
	Rejected int
	Reason   string
}

func (b *Batch) reject(reason string) {
	if b.Rejected++; b.Reason == "" {
		b.Reason = reason
	}
}

// DecodeProto reads an ExportTraceServiceRequest, or a TracesData, which has
// the same wire format (opentelemetry-proto 1.7). The error describes what is
// malformed.
func DecodeProto(data []byte) (*Batch, error) { return DecodeProtoContext(context.Background(), data) }

// DecodeProtoContext is [DecodeProto] with a context. If ctx ends, the error is
// its cause.
func DecodeProtoContext(ctx context.Context, data []byte) (*Batch, error) {
	d := decoder{steps: steps{ctx: ctx}, batch: &Batch{}, names: map[string]string{}, values: map[string]any{}, traces: map[[16]byte]string{}}
	switch err := d.request(data); {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, proviso.Errorf(proviso.Invalid, "malformed protobuf: %w", err)
	}
	return d.batch, nil
}

// steps stops decoding when its context ends.
type steps struct {
	ctx  context.Context
	made int
}

// next counts a step: a span, an event, an attribute or a value. It regularly
// checks the context and returns the cause once it has ended.
func (s *steps) next() error {
	if s.made++; s.made%1024 == 0 && s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return nil
}

// decoder reads one request field by field, without an intermediate form:
// generated types allocate several objects for each attribute, and their
// packages slow down every start of the program.
type decoder struct {
	steps  steps
	batch  *Batch
	names  map[string]string   // names of attributes and the like, which most spans share
	values map[string]any      // short texts, which are often equal
	traces map[[16]byte]string // ids of traces
	size   int                 // number of attributes of the last span
	parent string              // parent id of the last span
}

// field is one field of a message. A length-delimited field sets data, any other sets bits.
type field struct {
	number protowire.Number
	kind   protowire.Type
	data   []byte
	bits   uint64
}

// is reports whether f has this number and type. Fields whose type differs from the schema are
// skipped like unknown fields.
func (f *field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// reader iterates over the fields of a message.
type reader struct {
	field
	rest []byte
	size int // bytes of the field
	err  error
}

// next reads the next field. It returns false at the end, and if err is set.
func (r *reader) next() bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	n := 0
	if c := r.rest[0]; c >= 1<<3 && c < 0x80 { // a field number below 16, as nearly all are
		r.number, r.kind, n = protowire.Number(c>>3), protowire.Type(c&7), 1
	} else if r.number, r.kind, n = protowire.ConsumeTag(r.rest); n < 0 {
		r.err = protowire.ParseError(n)
		return false
	}
	m := 0
	switch rest := r.rest[n:]; r.kind {
	case protowire.BytesType:
		r.data, m = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		r.bits, m = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		r.bits, m = protowire.ConsumeFixed64(rest)
	default:
		m = protowire.ConsumeFieldValue(r.number, r.kind, rest)
	}
	if m < 0 {
		r.err = fmt.Errorf("field %d: %w", r.number, protowire.ParseError(m))
		return false
	}
	r.size = n + m
	r.rest = r.rest[r.size:]
	return true
}

// each calls take for each message in the fields with this number.
func each(data []byte, number protowire.Number, take func(data []byte) error) error {
	r := reader{rest: data}
	for r.next() {
		if !r.is(number, protowire.BytesType) {
			continue
		}
		if err := take(r.data); err != nil {
			return err
		}
	}
	return r.err
}

// request reads resource_spans = 1, and scope_spans = 2 in each. Attributes of
// the resource are left out: they describe the process, not a single operation.
func (d *decoder) request(data []byte) error {
	return each(data, 1, func(resource []byte) error { return each(resource, 2, d.scope) })
}

// scope reads spans = 2.
func (d *decoder) scope(data []byte) error {
	r := reader{rest: data}
	for r.next() {
		if !r.is(2, protowire.BytesType) {
			continue
		}
		if n := len(d.batch.Records); n == cap(d.batch.Records) {
			d.batch.Records = slices.Grow(d.batch.Records, min(1+len(r.rest)/r.size, 4096)) // estimated number of spans, from the size of this one
		}
		if err := d.span(r.data); err != nil {
			return err
		}
	}
	return r.err
}

// span reads a Span.
func (d *decoder) span(data []byte) error {
	if err := d.steps.next(); err != nil {
		return err
	}
	out := Record{Size: len(data) + overhead}
	span := &out.Span
	span.Attributes = value.NewObject(d.size)
	var trace, id, parent []byte
	exception, said := "", contents{}
	r := reader{rest: data}
	for r.next() {
		var err error
		switch {
		case r.is(9, protowire.BytesType):
			err = d.attribute(span.Attributes, r.data, 0)
		case r.is(1, protowire.BytesType):
			trace = r.data
		case r.is(2, protowire.BytesType):
			id = r.data
		case r.is(4, protowire.BytesType):
			parent = r.data
		case r.is(5, protowire.BytesType):
			span.Name = d.name(r.data)
		case r.is(7, protowire.Fixed64Type):
			span.Start = instant(r.bits)
		case r.is(8, protowire.Fixed64Type):
			span.End = instant(r.bits)
		case r.is(11, protowire.BytesType):
			exception, err = d.event(r.data, exception, &said)
		case r.is(15, protowire.BytesType):
			err = d.status(span, r.data)
		}
		if err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	said.into(span.Attributes)
	d.size = span.Attributes.Len()
	if len(trace) != 16 || len(id) != 8 || allZero(trace) || allZero(id) {
		d.batch.reject(fmt.Sprintf("the span %q has no valid trace_id and span_id", shortened(span.Name)))
		return nil
	}
	out.TraceID, span.ID = d.trace([16]byte(trace)), spanID(id)
	if len(parent) == 8 && !allZero(parent) {
		if !isSpanID(d.parent, parent) {
			d.parent = spanID(parent)
		}
		span.ParentID = d.parent
	}
	explain(span, exception)
	d.batch.Records = append(d.batch.Records, out)
	return nil
}

// trace returns a trace id in hexadecimal, as one string shared by all spans of the trace.
func (d *decoder) trace(id [16]byte) string {
	s, ok := d.traces[id]
	if !ok {
		s = hex.EncodeToString(id[:])
		d.traces[id] = s
	}
	return s
}

// spanID returns a span id in hexadecimal.
func spanID(id []byte) string {
	var digits [16]byte
	hex.Encode(digits[:], id)
	return string(digits[:])
}

// isSpanID reports whether text is the hexadecimal form of an id.
func isSpanID(text string, id []byte) bool {
	var digits [16]byte
	hex.Encode(digits[:], id)
	return text == string(digits[:])
}

// explain sets the status message of a failed span that has none to that of the recorded exception.
func explain(s *proviso.Span, exception string) {
	if s.StatusCode == 2 && s.StatusMessage == "" {
		s.StatusMessage = exception
	}
}

// instant returns the time of nanoseconds since 1970; 0 means no time.
func instant(nanos uint64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(int64(nanos/1e9), int64(nanos%1e9)).UTC()
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// status reads message = 2 and code = 3.
func (d *decoder) status(s *proviso.Span, data []byte) error {
	r := reader{rest: data}
	for r.next() {
		switch {
		case r.is(2, protowire.BytesType):
			s.StatusMessage = text(r.data)
		case r.is(3, protowire.VarintType):
			s.StatusCode = int(int32(r.bits))
		}
	}
	return r.err
}

// event returns the message of an exception event, and known for any other event. Messages to and
// from a model are added to said. The conventions name the attributes exception.message and
// exception.type.
func (d *decoder) event(data []byte, known string, said *contents) (string, error) {
	if err := d.steps.next(); err != nil {
		return "", err
	}
	name := ""
	attributes := &value.Object{}
	r := reader{rest: data}
	for r.next() {
		switch {
		case r.is(2, protowire.BytesType):
			name = d.name(r.data)
		case r.is(3, protowire.BytesType):
			if err := d.attribute(attributes, r.data, 0); err != nil {
				return "", err
			}
		}
	}
	said.event(name, attributes)
	return exceptionOf(name, attributes, known), r.err
}

func exceptionOf(name string, attributes *value.Object, known string) string {
	if name != "exception" {
		return known
	}
	return cmp.Or(first(attributes, "exception.message", "exception.type"), known)
}
