package check

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// classes returns the character classes of `chars`, except emoji, which are sequences
// of characters.
func classes() map[string]func(r rune) bool {
	return map[string]func(r rune) bool{
		"ascii":       func(r rune) bool { return r < utf8.RuneSelf },
		"cjk":         isCJK,
		"control":     func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' },
		"digit":       unicode.IsDigit,
		"letter":      unicode.IsLetter,
		"lower":       unicode.IsLower,
		"non-ascii":   func(r rune) bool { return r >= utf8.RuneSelf },
		"punctuation": unicode.IsPunct,
		"space":       value.IsSpace,
		"symbol":      unicode.IsSymbol,
		"upper":       unicode.IsUpper,
	}
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// newChars is `chars`: how many characters of a class the output has. Without min and
// max it must have none; with min alone there is no upper limit.
func newChars(_ *Compiler, s *Spec) (Check, error) {
	var a amount
	class, _ := s.Value.(string)
	if o, ok := s.Value.(*value.Object); ok {
		var err error
		if a, err = s.rangeOf(o, true); err != nil {
			return nil, err
		}
		class = o.Text("class")
	}
	if !a.hasMin && !a.hasMax {
		a.hasMax = true
	}
	count, err := classCounter(class)
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		return a.decide(count(sub.Text), class+" character", s.Not), nil
	}), nil
}

func classCounter(class string) (func(text string) int, error) {
	if class == "emoji" || class == "emojis" {
		return countEmoji, nil
	}
	known := classes()
	in, ok := known[class]
	if !ok { // digits is accepted for digit
		in, ok = known[strings.TrimSuffix(class, "s")]
	}
	if !ok {
		names := append(slices.Collect(maps.Keys(known)), "emoji")
		slices.Sort(names)
		return nil, &proviso.Error{Code: proviso.Invalid, Message: "unknown class of characters \"" + class + "\"", Valid: names}
	}
	return func(text string) int {
		n := 0
		for _, r := range text {
			if in(r) {
				n++
			}
		}
		return n
	}, nil
}

// countEmoji counts the emoji sequences of text: a flag or a family is one
// (Unicode Technical Standard #51). Characters that are text unless a variation
// selector follows, such as © and ✔, count only with it.
func countEmoji(text string) int {
	if isASCII(text) {
		return 0
	}
	n := 0
	for g := graphemes.FromString(text); g.Next(); {
		for _, r := range g.Value() {
			if emojiRune(r) {
				n++
				break
			}
		}
	}
	return n
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// emojiRune reports whether r makes its grapheme cluster an emoji.
func emojiRune(r rune) bool {
	const (
		variationSelector16 = 0xfe0f
		enclosingKeycap     = 0x20e3
	)
	if r < emojiPresentation[0][0] {
		return r == enclosingKeycap
	}
	_, ok := slices.BinarySearchFunc(emojiPresentation[:], r, func(span [2]rune, r rune) int {
		switch {
		case span[1] < r:
			return -1
		case span[0] > r:
			return 1
		}
		return 0
	})
	return ok || r == variationSelector16
}

// emojiPresentation are the characters that are emoji by themselves (Unicode 17,
// emoji-data.txt, Emoji_Presentation), as first and last of each run.
var emojiPresentation = [...][2]rune{
	{0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3}, {0x25fd, 0x25fe},
	{0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1},
	{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4},
	{0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd},
	{0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e},
	{0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf},
	{0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f1e6, 0x1f1ff}, {0x1f201, 0x1f201}, {0x1f21a, 0x1f21a},
	{0x1f22f, 0x1f22f}, {0x1f232, 0x1f236}, {0x1f238, 0x1f23a}, {0x1f250, 0x1f251}, {0x1f300, 0x1f320},
	{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3},
	{0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc},
	{0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
	{0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
	{0x1f6d5, 0x1f6d8}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb},
	{0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1fa7c},
	{0x1fa80, 0x1fa8a}, {0x1fa8e, 0x1fac6}, {0x1fac8, 0x1fac8}, {0x1facd, 0x1fadc}, {0x1fadf, 0x1faea},
	{0x1faef, 0x1faf8},
}
