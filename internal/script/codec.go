package script

import (
	"fmt"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
	"modernc.org/quickjs"
)

// mark begins text that is not simply a string; bridge.js says what follows it.
// Few strings begin with U+0001, so nearly all cross as they are.
const mark = '\x01'

// encode turns v into what quickjs passes natively: strings, booleans and
// numbers as they are, everything else as marked JSON.
func (m *machine) encode(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case value.Undefined:
		return quickjs.Undefined{}, nil
	case int:
		return v, nil
	case float64:
		// QuickJS computes faster with what it knows to be an integer.
		if i := int32(v); float64(i) == v && (i != 0 || !math.Signbit(v)) {
			return i, nil
		}
		return m.vm.NewFloat64(v), nil
	case string:
		if v != "" && v[0] == mark {
			return "\x01s" + v, nil
		}
		return v, nil
	}
	e := encoder{buf: append(make([]byte, 0, 256), mark, 'j')}
	if err := e.value(v, 0); err != nil {
		return nil, err
	}
	if e.marked {
		e.buf[1] = 'e'
	}
	return string(e.buf), nil
}

// encoder writes JSON text with the values JSON lacks as marked strings.
type encoder struct {
	buf    []byte
	marked bool
}

func (e *encoder) value(v any, depth int) error {
	if depth > value.MaxDepth {
		return proviso.Errorf(proviso.Limit, "an argument nests deeper than %d", value.MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		e.buf = value.AppendJSON(e.buf, v)
	case string:
		e.string(v)
	case int:
		e.buf = fmt.Append(e.buf, v)
	case float64:
		e.number(v)
	case value.Undefined:
		e.special('u')
	case []any:
		return e.list(v, depth)
	case []string:
		e.strings(v)
	case *value.Object:
		return e.object(v, depth)
	default:
		return proviso.Errorf(proviso.Internal, "a %T is no value that JavaScript could be given", v)
	}
	return nil
}

func (e *encoder) special(kind byte) {
	e.marked = true
	e.buf = append(e.buf, `"\u0001`...)
	e.buf = append(e.buf, kind, '"')
}

func (e *encoder) string(s string) {
	if s != "" && s[0] == mark {
		e.marked = true
		s = "\x01s" + s
	}
	e.buf = value.AppendQuoted(e.buf, s)
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

func (e *encoder) strings(list []string) {
	e.buf = append(e.buf, '[')
	for i, s := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.string(s)
	}
	e.buf = append(e.buf, ']')
}

func (e *encoder) object(o *value.Object, depth int) error {
	if o == nil {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	e.buf = append(e.buf, '{')
	first := true
	for k, v := range o.All() {
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

// decode turns what bridge.js made of a result into a value of the root package.
func decode(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, nil
	case int:
		return float64(v), nil
	case quickjs.Undefined:
		return value.Undefined{}, nil
	case string:
		if v == "" || v[0] != mark {
			return v, nil
		}
		return decodeMarked(v)
	}
	return nil, proviso.Errorf(proviso.Internal, "unexpected %T from JavaScript", v)
}

func decodeMarked(s string) (any, error) {
	if len(s) < 2 {
		return nil, proviso.Errorf(proviso.Internal, "malformed result from JavaScript")
	}
	switch text := s[2:]; s[1] {
	case 's':
		return text, nil
	case 'o':
		return &value.Opaque{Kind: text}, nil
	case 'j', 'e':
		v, err := value.ParseJSON(text)
		if err != nil {
			return nil, proviso.Errorf(proviso.Internal, "malformed result from JavaScript: %w", err)
		}
		if s[1] == 'e' {
			v = revive(v)
		}
		return v, nil
	}
	return nil, proviso.Errorf(proviso.Internal, "malformed result from JavaScript")
}

// revive replaces marked strings inside v, in place, by what they stand for.
func revive(v any) any {
	switch v := v.(type) {
	case string:
		return reviveString(v)
	case []any:
		for i, e := range v {
			v[i] = revive(e)
		}
	case *value.Object:
		for _, k := range v.Keys() {
			v.Set(k, revive(v.At(k)))
		}
	}
	return v
}

func reviveString(s string) any {
	if !strings.HasPrefix(s, string(mark)) || len(s) < 2 {
		return s
	}
	switch s[1] {
	case 'u':
		return value.Undefined{}
	case 'n':
		return math.NaN()
	case '+':
		return math.Inf(1)
	case '-':
		return math.Inf(-1)
	case '0':
		return math.Copysign(0, -1)
	}
	return s[2:]
}
