package script

import (
	"context"
	"errors"
	"math"

	"modernc.org/quickjs"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/marked"
	"github.com/proviso-eval/proviso/value"
)

// encode turns v into a value that quickjs passes natively: strings, booleans and
// numbers unchanged, everything else as marked JSON. A string that begins with
// U+0001 is also marked; bridge.js documents the marks.
func (m *machine) encode(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case value.Undefined:
		return quickjs.Undefined{}, nil
	case int:
		return v, nil
	case float64:
		// QuickJS computes faster with a value that is typed as an integer.
		if i := int32(v); float64(i) == v && (i != 0 || !math.Signbit(v)) {
			return i, nil
		}
		return m.vm.NewFloat64(v), nil
	case string:
		if v != "" && v[0] == marked.Mark {
			return "\x01s" + v, nil
		}
		return v, nil
	}
	e := marked.Encoder{Buf: append(make([]byte, 0, 256), marked.Mark, 'j')}
	switch err := e.Value(v); {
	case errors.Is(err, marked.ErrDepth):
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	case err != nil:
		return nil, proviso.Errorf(proviso.Internal, "%w", err)
	}
	if e.Special {
		e.Buf[1] = 'e'
	}
	return string(e.Buf), nil
}

// decode turns a result encoded by bridge.js into a value of the root package.
func decode(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, nil
	case int:
		return float64(v), nil
	case quickjs.Undefined:
		return value.Undefined{}, nil
	case string:
		if v == "" || v[0] != marked.Mark {
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
		v, err := value.ParseReply(context.Background(), text)
		if errors.Is(err, value.ErrTooMany) {
			return nil, proviso.Errorf(proviso.Limit, "%w", err)
		}
		if err != nil {
			return nil, proviso.Errorf(proviso.Internal, "malformed result from JavaScript: %w", err)
		}
		if s[1] == 'e' {
			v = marked.Revive(v)
		}
		return v, nil
	}
	return nil, proviso.Errorf(proviso.Internal, "malformed result from JavaScript")
}
