package check

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/segment"
	"github.com/proviso-eval/proviso/value"
)

// amount is the expected count: one number, or a range.
type amount struct {
	exact    bool
	want     float64
	min, max float64
	hasMin   bool
	hasMax   bool
}

// amountOf reads the value of a count: a number, a number written as text, or an
// object with min, max or both.
func (s *Spec) amountOf() (amount, error) {
	switch v := s.Value.(type) {
	case float64:
		return amount{exact: true, want: v}, nil
	case string:
		if f := value.ToNumber(v); f == f {
			return amount{exact: true, want: f}, nil
		}
	case *value.Object:
		return s.rangeOf(v, false)
	}
	return amount{}, s.badValue("a number or an object with min and max")
}

// rangeOf reads min and max of an object. One of them is required unless the object
// has other keys.
func (s *Spec) rangeOf(o *value.Object, others bool) (a amount, err error) {
	if a.min, a.hasMin, err = s.bound(o, "min"); err != nil {
		return a, err
	}
	if a.max, a.hasMax, err = s.bound(o, "max"); err != nil {
		return a, err
	}
	if a.hasMin && a.hasMax && a.min > a.max {
		return a, proviso.Errorf(proviso.Invalid, "%q has a min of %s above its max of %s", s.Type, value.FormatNumber(a.min), value.FormatNumber(a.max))
	}
	if !a.hasMin && !a.hasMax && !others {
		return a, proviso.Errorf(proviso.Invalid, "%q needs min or max in its value", s.Type)
	}
	return a, nil
}

func (s *Spec) bound(o *value.Object, key string) (float64, bool, error) {
	v, ok := o.Get(key)
	if _, undefined := v.(value.Undefined); !ok || undefined || v == nil {
		return 0, false, nil
	}
	switch v.(type) {
	case float64, string:
		if f := value.ToNumber(v); f == f {
			return f, true, nil
		}
	}
	return 0, false, proviso.Errorf(proviso.Invalid, "%s of %q must be a number, found %s", key, s.Type, value.Stringify(v))
}

// holds reports whether n matches the amount.
func (a amount) holds(n int) bool {
	f := float64(n)
	if a.exact {
		return f == a.want
	}
	return (!a.hasMin || f >= a.min) && (!a.hasMax || f <= a.max)
}

// decide compares n, the count of noun, such as "word".
func (a amount) decide(n int, noun string, not bool) Finding {
	f := found(a.holds(n))
	if f.Pass != not {
		return f
	}
	if not {
		f.Reason = "Expected " + noun + " count to " + a.refused() + ", but got " + strconv.Itoa(n)
	} else {
		f.Reason = strings.ToUpper(noun[:1]) + noun[1:] + " count " + strconv.Itoa(n) + " " + a.missed(n)
	}
	return f
}

// missed describes how n differs from the amount.
func (a amount) missed(n int) string {
	switch {
	case a.exact:
		return "does not equal expected " + value.FormatNumber(a.want)
	case a.hasMin && a.hasMax:
		return "is not between " + value.FormatNumber(a.min) + " and " + value.FormatNumber(a.max)
	case a.hasMin && float64(n) < a.min:
		return "is less than minimum " + value.FormatNumber(a.min)
	}
	return "is greater than maximum " + value.FormatNumber(a.max)
}

// refused describes the requirement of a negated count.
func (a amount) refused() string {
	switch {
	case a.exact:
		return "not equal " + value.FormatNumber(a.want)
	case a.hasMin && a.hasMax:
		return "not be between " + value.FormatNumber(a.min) + " and " + value.FormatNumber(a.max)
	case a.hasMin:
		return "be less than " + value.FormatNumber(a.min)
	}
	return "be greater than " + value.FormatNumber(a.max)
}

// newCounter makes a check of a count of units of the text.
func newCounter(s *Spec, noun string, count func(text string) int) (Check, error) {
	a, err := s.amountOf()
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		return a.decide(count(sub.Text), noun, s.Not), nil
	}), nil
}

// newWordCount is `word-count`: words are separated by JavaScript's white space.
func newWordCount(_ *Compiler, s *Spec) (Check, error) { return newCounter(s, "word", countWords) }

// newCharCount is `char-count`: characters are grapheme clusters (Unicode Standard
// Annex #29), which people see as one: é is one in any encoding, and so is a family
// emoji.
func newCharCount(_ *Compiler, s *Spec) (Check, error) { return newCounter(s, "character", countChars) }

// newSentenceCount is `sentence-count`.
func newSentenceCount(_ *Compiler, s *Spec) (Check, error) {
	return newCounter(s, "sentence", func(text string) int { return len(segment.Sentences(text)) })
}

// newLineCount is `line-count`: lines that are not blank.
func newLineCount(_ *Compiler, s *Spec) (Check, error) {
	return newCounter(s, "line", func(text string) int { return len(segment.Lines(text)) })
}

// newItemCount is `item-count`: the items of bulleted and numbered lists.
func newItemCount(_ *Compiler, s *Spec) (Check, error) {
	return newCounter(s, "item", func(text string) int { return len(segment.Items(text)) })
}

func countWords(text string) int {
	n, inside := 0, false
	for _, r := range text {
		space := value.IsSpace(r)
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n
}

func countChars(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return countClusters(text)
		}
		if text[i] != '\n' || i == 0 || text[i-1] != '\r' {
			n++
		}
	}
	return n
}

func countClusters(text string) int {
	n := 0
	for g := graphemes.FromString(text); g.Next(); {
		n++
	}
	return n
}
