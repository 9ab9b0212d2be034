package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

func FuzzFrame(f *testing.F) {
	f.Add([]byte{}, byte('R'), uint64(1))
	f.Add([]byte("true"), byte('E'), uint64(math.MaxUint64))
	f.Add(sandbox.AppendFrame(nil, 'R', 7, []byte("[1]")), byte('r'), uint64(3))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3}, byte(0), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, kind byte, id uint64) {
		wire := sandbox.AppendFrame(nil, kind, id, data)
		for _, src := range []io.Reader{bytes.NewReader(wire), iotest.OneByteReader(bytes.NewReader(wire)), iotest.DataErrReader(bytes.NewReader(append(wire[:len(wire):len(wire)], 'x')))} {
			gotKind, gotID, payload, _, err := sandbox.ReadFrame(src, len(data))
			if err != nil || gotKind != kind || gotID != id || !bytes.Equal(payload, data) {
				t.Fatalf("%q comes back as %c %d %q %v", data, gotKind, gotID, payload, err)
			}
		}
		if _, _, _, _, err := sandbox.ReadFrame(bytes.NewReader(wire), len(data)-1); err == nil && len(data) > 0 {
			t.Fatal("a frame that is too large is taken")
		}
		if _, _, _, _, err := sandbox.ReadFrame(bytes.NewReader(wire[:len(wire)-1]), len(data)); err == nil {
			t.Fatal("half a frame is taken")
		}
		_, _, payload, _, err := sandbox.ReadFrame(bytes.NewReader(data), 1<<10) // what a hostile worker writes
		if err == nil && len(payload) > 1<<10 {
			t.Fatalf("%d bytes are taken", len(payload))
		}
	})
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{`true`, `{"a":[1,"\u0001n"]}`, `"\u0001s\u0001"`, `[`, "\"\xff\"", strings.Repeat("[", 100)} {
		f.Add(byte('R'), []byte(seed))
		f.Add(byte('V'), []byte(seed))
		f.Add(byte('O'), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		v, err := sandbox.DecodeResult(kind, payload)
		if err != nil {
			return
		}
		if _, _, err := sandbox.EncodeArgs([]any{v}, false); err != nil {
			t.Fatalf("%q gives a value that cannot be passed on: %v", payload, err)
		}
	})
}

// TestHugeLength: an announced length alone causes no allocation.
func TestHugeLength(t *testing.T) {
	t.Parallel()
	r := &widest{Reader: bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, sandbox.MaxFrame), "R and no more"...))}
	if _, _, _, _, err := sandbox.ReadFrame(r, sandbox.MaxFrame); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	if r.n > 64<<10 {
		t.Errorf("%d bytes were asked for", r.n)
	}
}

// widest records the largest buffer that was read into.
type widest struct {
	io.Reader
	n int
}

func (w *widest) Read(p []byte) (int, error) {
	w.n = max(w.n, len(p))
	return w.Reader.Read(p)
}

// TestValues passes values through Python and back.
func TestValues(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{})
	same := compile(t, s, proviso.Expression, "output")
	for _, v := range []any{
		nil, true, false, 0.0, 1.0, -1.5, 1e21, 1e-7, float64(1 << 60), math.MaxFloat64, 5e-324, "", "text", "ünï 😀 \x00\u2028", "\xed\xa0\x80", "\x01n", "\x01",
		[]any{}, []any{1.0, []any{nil, "x"}}, value.NewObject(0), value.ObjectOf("b", 1.0, "a", []any{}, "10", nil, "2", "x"),
		math.Inf(1), math.Inf(-1), []any{math.Inf(1), "\x01s", value.ObjectOf("k", math.Inf(-1))}, strings.Repeat("long", 100000),
	} {
		got, err := same.Call(t.Context(), v)
		_, want, _ := sandbox.EncodeArgs([]any{v}, true)
		_, have, _ := sandbox.EncodeArgs([]any{got}, true)
		if err != nil || !bytes.Equal(want, have) {
			t.Errorf("%.100v comes back as %.100v, %v", v, got, err)
		}
	}
	if v, err := same.Call(t.Context(), math.NaN()); err != nil || !math.IsNaN(v.(float64)) {
		t.Errorf("NaN comes back as %v, %v", v, err)
	}
	if v, err := same.Call(t.Context(), math.Copysign(0, -1)); err != nil || !math.Signbit(v.(float64)) {
		t.Errorf("-0 comes back as %v, %v", v, err)
	}
	if v, err := same.Call(t.Context(), "bad \xff\xfe utf-8"); v != "bad \ufffd\ufffd utf-8" || err != nil {
		t.Errorf("bytes that are no UTF-8 come back as %q, %v", v, err)
	}
	sees := compile(t, s, proviso.Expression, "repr(output)")
	for _, tc := range []struct {
		in   any
		want string
	}{
		{5.0, "5"}, {5.5, "5.5"}, {value.Undefined{}, "None"}, {[]any{value.Undefined{}}, "[None]"}, {value.ObjectOf("a", value.Undefined{}, "b", 1.0), "{'b': 1}"},
		{[]string{"a", "b"}, "['a', 'b']"}, {7, "7"}, {(*value.Object)(nil), "None"},
	} {
		if v, err := sees.Call(t.Context(), tc.in); v != tc.want || err != nil {
			t.Errorf("%#v is seen as %v, %v; want %s", tc.in, v, err, tc.want)
		}
	}
	for text, want := range map[string]string{
		"(1, (2, 3))": `[1,[2,3]]`, "2 ** 53 + 1": "9007199254740992", "10 ** 400": "null", "{1: 2, None: 3, True: 4}": `{"1":4,"null":3}`,
		"{'a': (float('inf'), 1)}": `{"a":[null,1]}`, "type('S', (str,), {})('x')": `"x"`, "type('D', (dict,), {})(a=1)": `{"a":1}`,
		"__import__('enum').IntEnum('E', 'A').A": "1", "'\\ud83d'": `"\ud83d"`, "-0.0": "0",
	} {
		if v, err := run(t, s, proviso.Expression, text); err != nil || value.Stringify(v) != want {
			t.Errorf("%s gives %s, %v; want %s", text, value.Stringify(v), err, want)
		}
	}
	for text, want := range map[string]string{"len": "builtin_function_or_method", "lambda: 1": "function", "int": "type", "json": "module"} {
		v, err := run(t, s, proviso.Expression, text)
		if o, ok := v.(*value.Opaque); err != nil || !ok || o.Kind != want {
			t.Errorf("%s gives %#v, %v", text, v, err)
		}
	}
	var deep any
	for range value.MaxDepth + 1 {
		deep = []any{deep}
	}
	if _, err := same.Call(t.Context(), deep); codeOf(err) != proviso.Limit {
		t.Errorf("deep arguments: %v", err)
	}
	if _, err := same.Call(t.Context(), strings.Repeat("x", sandbox.MaxFrame)); codeOf(err) != proviso.Limit {
		t.Errorf("large arguments: %v", err)
	}
}
