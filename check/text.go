package check

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	locale "golang.org/x/text/language"

	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// newContains is `contains` and `icontains`: the value occurs in the output.
func newContains(_ *Compiler, s *Spec) (Check, error) {
	needle, err := s.phrase()
	if err != nil {
		return nil, err
	}
	fold := s.folds()
	if fold {
		needle = lower(needle)
	}
	what := "contain \"" + value.ToString(s.Value) + "\""
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		return s.expects(s.occurs(sub.folded(fold), needle), what), nil
	}), nil
}

// newContainsAll is `contains-all` and `icontains-all`.
func newContainsAll(_ *Compiler, s *Spec) (Check, error) {
	list, needles, err := s.phrases()
	if err != nil {
		return nil, err
	}
	fold := s.folds()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		text := sub.folded(fold)
		var missing []string
		for i, n := range needles {
			if !s.occurs(text, n) {
				missing = append(missing, list[i])
			}
		}
		f := found(len(missing) == 0)
		if f.Pass == s.Not {
			f.Reason = "Expected output to " + s.not() + "contain all of [" + strings.Join(list, ", ") + "]. Missing: [" + strings.Join(missing, ", ") + "]"
		}
		return f, nil
	}), nil
}

// newContainsAny is `contains-any` and `icontains-any`.
func newContainsAny(_ *Compiler, s *Spec) (Check, error) {
	list, needles, err := s.phrases()
	if err != nil {
		return nil, err
	}
	fold := s.folds()
	what := "contain one of \"" + strings.Join(list, ", ") + "\""
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		text := sub.folded(fold)
		return s.expects(slices.ContainsFunc(needles, func(n string) bool { return s.occurs(text, n) }), what), nil
	}), nil
}

func newStartsWith(_ *Compiler, s *Spec) (Check, error) {
	return newAffix(s, "start", hasPrefix)
}

func newEndsWith(_ *Compiler, s *Spec) (Check, error) {
	return newAffix(s, "end", hasSuffix)
}

func newAffix(s *Spec, verb string, has func(text, affix string) bool) (Check, error) {
	affix, ok := s.Value.(string)
	if !ok || affix == "" {
		return nil, s.badValue("a text")
	}
	want := affix
	if s.IgnoreCase {
		want = lower(affix)
	}
	what := verb + " with \"" + affix + "\""
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		text := sub.folded(s.IgnoreCase)
		return s.expects(has(text, want) && (!s.WholeWords || s.endsWord(text, want, verb)), what), nil
	}), nil
}

// hasPrefix is JavaScript's startsWith: half a surrogate pair counts as a prefix too.
func hasPrefix(text, prefix string) bool {
	if !strings.Contains(prefix, "\xed") {
		return strings.HasPrefix(text, prefix)
	}
	a, b := value.UTF16(text), value.UTF16(prefix)
	return len(a) >= len(b) && slices.Equal(a[:len(b)], b)
}

// hasSuffix is JavaScript's endsWith.
func hasSuffix(text, suffix string) bool {
	if !strings.Contains(suffix, "\xed") {
		return strings.HasSuffix(text, suffix)
	}
	a, b := value.UTF16(text), value.UTF16(suffix)
	return len(a) >= len(b) && slices.Equal(a[len(a)-len(b):], b)
}

// occurs reports whether text contains needle; with WholeWords, only between the
// ends of words.
func (s *Spec) occurs(text, needle string) bool {
	if !s.WholeWords || needle == "" {
		return strings.Contains(text, needle)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], needle)
		if i < 0 {
			return false
		}
		start := from + i
		if end := start + len(needle); wordEnds(text, start) && wordEnds(text, end) {
			return true
		}
		_, size := utf8.DecodeRuneInString(needle)
		from = start + size
	}
}

// endsWord reports whether the inner end of an affix is not inside a word.
func (s *Spec) endsWord(text, affix, verb string) bool {
	if verb == "start" {
		return wordEnds(text, min(len(text), len(affix)))
	}
	return wordEnds(text, max(0, len(text)-len(affix)))
}

// wordEnds reports whether an offset is not inside a word, which is made of letters,
// digits, marks and underscores.
func wordEnds(text string, at int) bool {
	before, n := utf8.DecodeLastRuneInString(text[:at])
	after, m := utf8.DecodeRuneInString(text[at:])
	return n == 0 || m == 0 || !ofWord(before) || !ofWord(after)
}

func ofWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// phrase returns the value as the text to look for.
func (s *Spec) phrase() (string, error) {
	switch v := s.Value.(type) {
	case string:
		if v != "" {
			return v, nil
		}
	case float64:
		if v == v {
			return value.FormatNumber(v), nil
		}
	}
	return "", s.badValue("a text or a number")
}

// phrases returns the members of a list value, as shown and as searched for.
func (s *Spec) phrases() (shown, needles []string, err error) {
	switch v := s.Value.(type) {
	case []any:
		shown = asTexts(v)
	case string:
		if v == "" {
			return nil, nil, s.badValue("a list")
		}
		if shown, err = textlist.Split(v); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, s.badValue("a list")
	}
	switch {
	case len(shown) == 0:
		s.vacuous = "the list of \"" + s.Type + "\" is empty"
	case slices.Contains(shown, ""):
		s.trivial = "the list of \"" + s.Type + "\" holds an empty text, which every output contains"
	}
	if !s.folds() {
		return shown, shown, nil
	}
	needles = make([]string, len(shown))
	for i, t := range shown {
		needles[i] = lower(t)
	}
	return shown, needles, nil
}

// folds reports whether the assertion ignores case.
func (s *Spec) folds() bool { return s.IgnoreCase || s.kind.FoldsCase }

// folded returns the text, in lower case if fold is set; this is computed once per
// row.
func (s *Subject) folded(fold bool) string {
	if !fold {
		return s.Text
	}
	return memo(s, foldKey(s.Text), func() string { return lower(s.Text) })
}

type foldKey string

// lower is JavaScript's toLowerCase: full Unicode lower-casing without a locale. Most
// texts use the standard library, which is faster. It maps single characters, so İ
// and Σ need more, and it replaces lone surrogates, which must stay.
func lower(s string) string {
	if strings.Contains(s, "İ") || strings.Contains(s, "Σ") || !utf8.ValidString(s) {
		return cases.Lower(locale.Und).String(s)
	}
	return strings.ToLower(s)
}
