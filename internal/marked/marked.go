// Package marked writes values as JSON text with marks, and reads them back: a mark is
// a string that begins with U+0001 and stands for a value that JSON lacks, such as
// undefined or NaN. The workers of package sandbox and the bridge of internal/script
// read and write the same marks.
package marked

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// Mark is the first character of a mark. A string that begins with it is written as
// the mark "s" followed by the string.
const Mark = '\x01'

// ErrDepth is the error for a value that nests deeper than [value.MaxDepth].
var ErrDepth = errors.New("an argument nests deeper than " + strconv.Itoa(value.MaxDepth))

// Encoder writes values as JSON text.
type Encoder struct {
	Buf         []byte
	Plain       bool // values that JSON lacks become null instead of marks
	NoUndefined bool // undefined becomes null, and a member that is undefined is left out
	Opaque      bool // a value of another language becomes null instead of an error
	Special     bool // set if a value has no plain form
}

// Value writes a value. The error is [ErrDepth], or that of a value of an unknown type.
func (e *Encoder) Value(v any) error { return e.value(v, 0) }

func (e *Encoder) value(v any, depth int) error {
	if depth > value.MaxDepth {
		return ErrDepth
	}
	switch v := v.(type) {
	case nil, bool:
		e.Buf = value.AppendJSON(e.Buf, v)
	case string:
		e.string(v)
	case int:
		e.Buf = strconv.AppendInt(e.Buf, int64(v), 10)
	case float64:
		e.number(v)
	case value.Undefined:
		if e.NoUndefined {
			e.Buf = append(e.Buf, "null"...)
		} else {
			e.special('u')
		}
	case []any:
		return e.list(v, depth)
	case []string:
		e.strings(v)
	case *value.Object:
		return e.object(v, depth)
	default:
		if _, ok := v.(*value.Opaque); !ok || !e.Opaque {
			return fmt.Errorf("a %T cannot be given to code", v)
		}
		e.Buf = append(e.Buf, "null"...)
	}
	return nil
}

func (e *Encoder) special(kind byte) {
	e.Special = true
	if e.Plain {
		e.Buf = append(e.Buf, "null"...)
		return
	}
	e.Buf = append(e.Buf, `"\u0001`...)
	e.Buf = append(e.Buf, kind, '"')
}

func (e *Encoder) string(s string) {
	if !e.Plain && s != "" && s[0] == Mark {
		e.Special = true
		s = "\x01s" + s
	}
	e.Buf = value.AppendQuoted(e.Buf, s)
}

func (e *Encoder) number(f float64) {
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
		e.Buf = value.AppendNumber(e.Buf, f)
	}
}

func (e *Encoder) list(list []any, depth int) error {
	e.Buf = append(e.Buf, '[')
	for i, v := range list {
		if i > 0 {
			e.Buf = append(e.Buf, ',')
		}
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.Buf = append(e.Buf, ']')
	return nil
}

func (e *Encoder) strings(list []string) {
	e.Buf = append(e.Buf, '[')
	for i, s := range list {
		if i > 0 {
			e.Buf = append(e.Buf, ',')
		}
		e.string(s)
	}
	e.Buf = append(e.Buf, ']')
}

func (e *Encoder) object(o *value.Object, depth int) error {
	if o == nil {
		e.Buf = append(e.Buf, "null"...)
		return nil
	}
	e.Buf = append(e.Buf, '{')
	first := true
	for k, v := range o.All() {
		if _, absent := v.(value.Undefined); absent && e.NoUndefined {
			continue
		}
		if !first {
			e.Buf = append(e.Buf, ',')
		}
		first = false
		e.Buf = value.AppendQuoted(e.Buf, k)
		e.Buf = append(e.Buf, ':')
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.Buf = append(e.Buf, '}')
	return nil
}

// Revive replaces the marks inside v, in place, by the values that they stand for.
func Revive(v any) any {
	switch v := v.(type) {
	case string:
		return revived(v)
	case []any:
		for i, e := range v {
			v[i] = Revive(e)
		}
	case *value.Object:
		for k, e := range v.All() {
			v.Set(k, Revive(e))
		}
	}
	return v
}

// revived returns the value of a mark. An unknown mark is a string.
func revived(s string) any {
	if len(s) < 2 || s[0] != Mark {
		return s
	}
	switch s[1] {
	case 's':
		return s[2:]
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
	return s
}
