package check

import (
	"context"

	"github.com/proviso-eval/proviso/internal/htmltext"
)

// newIsHTML is `is-html`: the output is HTML and nothing else.
func newIsHTML(*Compiler, *Spec) (Check, error) {
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		reason, err := htmltext.Check(ctx, sub.Text)
		if err != nil {
			return Finding{}, err
		}
		f := found(reason == "")
		if f.Reason = reason; f.Pass {
			f.Reason = "Output is valid HTML"
		}
		return f, nil
	}), nil
}

// newContainsHTML is `contains-html`: something in the output looks like HTML.
func newContainsHTML(_ *Compiler, s *Spec) (Check, error) {
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		return s.expects(htmltext.Contains(sub.Text), "contain HTML content"), nil
	}), nil
}
