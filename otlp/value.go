package otlp

import (
	"encoding/base64"
	"errors"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// attribute reads a KeyValue into o.
func (d *decoder) attribute(o *value.Object, data []byte, depth int) error {
	if err := d.steps.next(); err != nil {
		return err
	}
	key := ""
	var val any
	r := reader{rest: data}
	for r.next() {
		switch {
		case r.is(1, protowire.BytesType):
			key = d.name(r.data)
		case r.is(2, protowire.BytesType):
			var err error
			if val, err = d.value(r.data, depth+1); err != nil {
				return err
			}
		}
	}
	if r.err == nil {
		o.Set(key, val)
	}
	return r.err
}

var errNested = errors.New("an attribute is nested too deep")

// value reads an AnyValue. Integers become JavaScript numbers.
func (d *decoder) value(data []byte, depth int) (v any, err error) {
	if err := d.steps.next(); err != nil {
		return nil, err
	}
	if depth > maxNested {
		return nil, errNested
	}
	r := reader{rest: data}
	for r.next() && err == nil {
		switch {
		case r.is(1, protowire.BytesType):
			v = d.text(r.data)
		case r.is(2, protowire.VarintType):
			v = r.bits != 0
		case r.is(3, protowire.VarintType):
			v = float64(int64(r.bits))
		case r.is(4, protowire.Fixed64Type):
			v = math.Float64frombits(r.bits)
		case r.is(5, protowire.BytesType):
			v, err = d.list(r.data, depth)
		case r.is(6, protowire.BytesType):
			v, err = d.object(r.data, depth)
		case r.is(7, protowire.BytesType):
			v = base64.StdEncoding.EncodeToString(r.data)
		}
	}
	if err == nil {
		err = r.err
	}
	return v, err
}

func (d *decoder) list(data []byte, depth int) (any, error) {
	list := []any{}
	err := each(data, 1, func(data []byte) error {
		v, err := d.value(data, depth+1)
		list = append(list, v)
		return err
	})
	return list, err
}

func (d *decoder) object(data []byte, depth int) (any, error) {
	o := &value.Object{}
	return o, each(data, 1, func(data []byte) error { return d.attribute(o, data, depth) })
}

// maxNames bounds the names that are shared within one request.
const maxNames = 1024

// name returns a text that other spans may share.
func (d *decoder) name(data []byte) string {
	if s, ok := d.names[string(data)]; ok {
		return s
	}
	s := text(data)
	if len(d.names) < maxNames {
		d.names[string(data)] = s
	}
	return s
}

// text returns a value that other spans may share.
func (d *decoder) text(data []byte) any {
	const short = 32
	if len(data) > short {
		return text(data)
	}
	if v, ok := d.values[string(data)]; ok {
		return v
	}
	v := any(text(data))
	if len(d.values) < maxNames {
		d.values[string(data)] = v
	}
	return v
}

// text copies a string, so that the request does not stay in memory.
func text(data []byte) string { return strings.ToValidUTF8(string(data), "\uFFFD") }

// shortened cuts a text for a message.
func shortened(s string) string { return excerpt.Bytes(s, 80) }
