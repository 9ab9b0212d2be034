package check

import (
	"context"

	"github.com/proviso-eval/proviso/internal/regex"
)

// newRegex is `regex`: the pattern, an ECMAScript one without flags, matches
// somewhere in the output.
func newRegex(c *Compiler, s *Spec) (Check, error) {
	pattern, ok := s.Value.(string)
	if !ok || pattern == "" {
		return nil, s.badValue("a regular expression")
	}
	re, err := c.pattern(pattern, s.IgnoreCase)
	if err != nil {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		ok, err := re.Match(ctx, sub.Text)
		if err != nil {
			return Finding{}, err
		}
		return s.expects(ok, "match regex \""+pattern+"\""), nil
	}), nil
}

// pattern compiles an ECMAScript pattern. An error is a mistake in the suite.
func (c *Compiler) pattern(text string, ignoreCase bool) (*regex.Regexp, error) {
	flags := ""
	if ignoreCase {
		flags = "i"
	}
	return c.Engines.patterns.Compile(text, flags)
}
