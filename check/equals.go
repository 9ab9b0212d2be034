package check

import (
	"context"
	"math"

	"github.com/proviso-eval/proviso/value"
)

// newEquals is `equals`: text for text, or structure for structure when the value
// is an object, a list or null.
func newEquals(_ *Compiler, s *Spec) (Check, error) {
	switch s.Value.(type) {
	case nil, []any, *value.Object:
		return equalStructure(s), nil
	}
	want := value.ToString(s.Value)
	if s.IgnoreCase {
		want = lower(want)
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		f := found(sub.folded(s.IgnoreCase) == want)
		if f.Pass == s.Not {
			f.Reason = "Expected output \"" + sub.Text + "\" to " + s.not() + "equal \"" + value.ToString(s.Value) + "\""
		}
		return f, nil
	}), nil
}

func equalStructure(s *Spec) Check {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		got, err := value.ParseReply(ctx, sub.Text)
		if unread(ctx, err) {
			return Finding{}, err
		}
		f := found(err == nil && deepEqual(got, s.Value))
		if f.Pass == s.Not {
			f.Reason = "Expected output \"" + sub.Text + "\" to " + s.not() + "equal \"" + value.Stringify(s.Value) + "\""
		}
		return f, nil
	})
}

// deepEqual is Node's util.isDeepStrictEqual on JSON values: the order of keys does
// not matter, 0 and -0 differ, NaN equals itself.
func deepEqual(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b)
	case []any, *value.Object:
		return value.EqualFunc(a, b, deepEqual)
	case nil, bool, string, value.Undefined:
		return a == b
	}
	return false
}
