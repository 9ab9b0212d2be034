package sandbox

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// mark is the first character of a string in marked JSON that stands for
// another value; frame.go has the list.
const mark = '\x01'

// encoder writes arguments as JSON text. If marks is set, it writes values that
// JSON lacks as marks; if not, it writes null and sets lossy.
type encoder struct {
	buf       []byte
	marks     bool
	lossy     bool
	undefined bool // the language knows undefined
}

// encodeArgs returns the kind and the payload of a call.
func encodeArgs(args []any, undefined bool) (byte, []byte, error) {
	e := encoder{undefined: undefined}
	if err := e.list(args, 0); err != nil {
		return 0, nil, err
	}
	kind := byte(kindCall)
	if e.lossy {
		kind, e = kindMarked, encoder{marks: true, undefined: undefined}
		if err := e.list(args, 0); err != nil {
			return 0, nil, err
		}
	}
	if len(e.buf) > maxFrame-frameHeader {
		return 0, nil, proviso.Errorf(proviso.Limit, "the arguments of a call are larger than %d MB", maxFrame>>20)
	}
	return kind, e.buf, nil
}

func (e *encoder) value(v any, depth int) error {
	if depth > value.MaxDepth {
		return proviso.Errorf(proviso.Limit, "an argument nests deeper than %d", value.MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		e.buf = value.AppendJSON(e.buf, v)
	case string:
		if e.marks && v != "" && v[0] == mark {
			v = "\x01s" + v
		}
		e.buf = value.AppendQuoted(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case float64:
		e.number(v)
	case value.Undefined:
		if e.undefined {
			e.special('u')
		} else {
			e.buf = append(e.buf, "null"...)
		}
	case []any:
		return e.list(v, depth)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return e.list(list, depth)
	case *value.Object:
		return e.object(v, depth)
	case *value.Opaque:
		e.buf = append(e.buf, "null"...)
	default:
		return proviso.Errorf(proviso.Internal, "a %T is no value that code could be given", v)
	}
	return nil
}

func (e *encoder) special(kind byte) {
	e.lossy = true
	if e.marks {
		e.buf = append(e.buf, `"\u0001`...)
		e.buf = append(e.buf, kind, '"')
		return
	}
	e.buf = append(e.buf, "null"...)
}

func (e *encoder) number(f float64) {
	switch {
	case math.IsNaN(f):
		e.special('n')
	case math.IsInf(f, 1):
		e.special('+')
	case math.IsInf(f, -1):
		e.special('-')
	case f == 0 && math.Signbit(f):
		e.special('0')
	default:
		e.buf = value.AppendNumber(e.buf, f)
	}
}

func (e *encoder) list(list []any, depth int) error {
	e.buf = append(e.buf, '[')
	for i, v := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

func (e *encoder) object(o *value.Object, depth int) error {
	if o == nil {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	e.buf = append(e.buf, '{')
	first := true
	for k, v := range o.All() {
		if _, absent := v.(value.Undefined); absent && !e.undefined {
			continue
		}
		if !first {
			e.buf = append(e.buf, ',')
		}
		first = false
		e.buf = value.AppendQuoted(e.buf, k)
		e.buf = append(e.buf, ':')
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// decodeResult returns the value of a result frame.
func decodeResult(kind byte, payload []byte) (any, error) {
	switch {
	case kind != kindResult && kind != kindLast:
	case string(payload) == "true":
		return true, nil
	case string(payload) == "false":
		return false, nil
	}
	v, err := value.ParseJSON(string(payload))
	if !utf8.Valid(payload) {
		return nil, errViolation
	}
	if err != nil {
		if strings.Contains(err.Error(), "deep") {
			return nil, proviso.Errorf(proviso.Limit, "the result nests deeper than %d", value.MaxDepth)
		}
		return nil, errViolation
	}
	switch kind {
	case kindOpaque:
		name, _ := v.(string)
		return &value.Opaque{Kind: name}, nil
	case kindSpecial:
		return revive(v), nil
	}
	return v, nil
}

// revive replaces marks by their values.
func revive(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) < 2 || v[0] != mark {
			return v
		}
		switch v[1] {
		case 's':
			return v[2:]
		case 'n':
			return math.NaN()
		case '+':
			return math.Inf(1)
		case '-':
			return math.Inf(-1)
		case '0':
			return math.Copysign(0, -1)
		case 'u':
			return value.Undefined{}
		}
	case []any:
		for i, e := range v {
			v[i] = revive(e)
		}
	case *value.Object:
		for k, e := range v.All() {
			v.Set(k, revive(e))
		}
	}
	return v
}
