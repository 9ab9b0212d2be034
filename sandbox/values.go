package sandbox

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/marked"
	"github.com/proviso-eval/proviso/value"
)

// encodeArgs returns the kind and the payload of a call. Marks are written only if the
// arguments need them; frame.go has the list.
func encodeArgs(args []any, undefined bool) (byte, []byte, error) {
	kind := byte(kindCall)
	e := marked.Encoder{Plain: true, NoUndefined: !undefined, Opaque: true}
	err := encode(&e, args)
	if err == nil && e.Special {
		kind, e = kindMarked, marked.Encoder{NoUndefined: !undefined, Opaque: true}
		err = encode(&e, args)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case len(e.Buf) > maxFrame-frameHeader:
		return 0, nil, proviso.Errorf(proviso.Limit, "the arguments of a call are larger than %d MB", maxFrame>>20)
	}
	return kind, e.Buf, nil
}

// encode writes v with e.
func encode(e *marked.Encoder, v any) error {
	err := e.Value(v)
	switch {
	case errors.Is(err, marked.ErrDepth):
		return proviso.Errorf(proviso.Limit, "%w", err)
	case err != nil:
		return proviso.Errorf(proviso.Internal, "%w", err)
	}
	return nil
}

// decodeResult returns the value of a result frame.
func decodeResult(kind byte, payload []byte) (any, error) {
	switch {
	case kind != kindResult:
	case string(payload) == "true":
		return true, nil
	case string(payload) == "false":
		return false, nil
	}
	v, err := value.ParseReply(context.Background(), string(payload))
	if errors.Is(err, value.ErrTooMany) {
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	}
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
		return marked.Revive(v), nil
	}
	return v, nil
}
