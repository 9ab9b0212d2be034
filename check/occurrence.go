package check

import (
	"context"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// newCount is `count`: how often a text or a pattern occurs, without overlaps.
// Without min and max it must occur at least once.
func newCount(c *Compiler, s *Spec) (Check, error) {
	var a amount
	text, ok := s.Value.(string)
	pattern := ""
	fold := s.IgnoreCase
	if o, isObject := s.Value.(*value.Object); isObject {
		var err error
		if a, err = s.rangeOf(o, true); err != nil {
			return nil, err
		}
		text, ok = o.At("text").(string)
		pattern = o.Text("regex")
		if ignore, _ := o.At("ignoreCase").(bool); ignore {
			fold = true
		}
	}
	if (ok && text != "") == (pattern != "") {
		return nil, s.badValue("a text, or an object with text or regex")
	}
	if !a.hasMin && !a.hasMax {
		a.min, a.hasMin = 1, true
	}
	if pattern != "" {
		return countPattern(c, s, a, pattern, fold)
	}
	if fold {
		text = lower(text)
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		return a.occurs(strings.Count(sub.folded(fold), text), text, s.Not), nil
	}), nil
}

func countPattern(c *Compiler, s *Spec, a amount, pattern string, fold bool) (Check, error) {
	re, err := c.pattern(pattern, fold)
	if err != nil {
		return nil, err
	}
	shown := "/" + pattern + "/"
	if fold {
		shown += "i"
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		all, err := re.FindAllIndex(ctx, sub.Text, -1)
		if err != nil {
			return Finding{}, err
		}
		return a.occurs(len(all), shown, s.Not), nil
	}), nil
}

// occurs compares n, the number of occurrences of what.
func (a amount) occurs(n int, what string, not bool) Finding {
	f := found(a.holds(n))
	if f.Pass == not {
		f.Reason = "\"" + what + "\" occurs " + times(n) + ", expected " + a.wanted(not)
	}
	return f
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// wanted describes the expected amount.
func (a amount) wanted(not bool) string {
	text := ""
	switch {
	case a.hasMin && a.hasMax && a.min == a.max:
		text = "exactly " + value.FormatNumber(a.min)
	case a.hasMin && a.hasMax:
		text = value.FormatNumber(a.min) + " to " + value.FormatNumber(a.max)
	case a.hasMin:
		text = "at least " + value.FormatNumber(a.min)
	default:
		text = "at most " + value.FormatNumber(a.max)
	}
	if not {
		return "not " + text
	}
	return text
}

// newInOrder is `in-order`: every marker occurs after the previous one.
func newInOrder(_ *Compiler, s *Spec) (Check, error) {
	shown, markers, err := s.phrases()
	if err != nil {
		return nil, err
	}
	if len(markers) == 0 {
		return nil, s.badValue("a list that is not empty")
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		rest := sub.folded(s.folds())
		for i, m := range markers {
			at := strings.Index(rest, m)
			if at < 0 {
				f := found(false)
				f.Reason = "\"" + shown[i] + "\" does not occur"
				if i > 0 {
					f.Reason += " after \"" + shown[i-1] + "\""
				}
				return f, nil
			}
			rest = rest[at+len(m):]
		}
		f := found(true)
		if s.Not {
			f.Reason = "The texts occur in order: " + strings.Join(shown, ", ")
		}
		return f, nil
	}), nil
}
