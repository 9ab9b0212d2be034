package segment

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// neverLast are abbreviations that do not end a sentence, without their full stops, in
// English, German, French and Spanish.
var neverLast = strings.Fields("e.g i.e eg ie vs approx incl excl resp max min no nos fig figs eq ref refs vol pp ed eds ca cf viz dr mr mrs ms prof rev hon st gen col sgt capt lt " +
	"z.b d.h u.a z.t bzw ggf vgl evtl inkl hr fr nr abs mme mlle env p.ex sra dra ud uds sr jan feb mar apr jun jul aug sep sept oct nov dec")

// oftenLast are abbreviations that end a sentence only before a word that begins one.
var oftenLast = strings.Fields("etc al inc ltd corp co jr usw ave blvd dept est u.s u.k e.u u.n d.c a.m p.m ph.d b.a m.a b.sc m.sc")

// alsoWords are those of neverLast that are also words or names: they end a
// sentence before a capitalized word that begins one.
var alsoWords = strings.Fields("min max fig figs mar dec ed eds col gen st sr hr")

// beginners are words that begin a sentence more often than they continue a name.
var beginners = strings.Fields("the a an this that these those there it its you your we our they he she i if when while for in on at as do don't never always not no use write answer be make keep return include mention list give say add avoid please then next finally ensure provide respond reply output however then also only each every all any")

// SentenceMarks end a sentence if a blank follows, and WideMarks also without one.
// ClosingMarks may follow either.
const (
	SentenceMarks = ".!?…"
	WideMarks     = "。！？｡．॥।؟۔"
	ClosingMarks  = "\"'”’»)]}*_`“"
)

// longestStop is the number of bytes read before a full stop.
const longestStop = 60

// EndsSentence reports whether a sentence ends between two texts, at an end
// according to Unicode Standard Annex #29. It does not end after an abbreviation,
// in a URL, or after a quotation with which the sentence continues.
func EndsSentence(before, after string) bool {
	trimmed := strings.TrimRightFunc(before, unicode.IsSpace)
	bare := strings.TrimRight(trimmed, ClosingMarks)
	last, _ := utf8.DecodeLastRuneInString(bare)
	if strings.ContainsRune(WideMarks, last) {
		return true
	}
	if len(trimmed) == len(before) { // as in a URL: no blank follows, and the script uses blanks
		return unicode.In(firstRune(after), unicode.Han, unicode.Hiragana, unicode.Katakana)
	}
	after = strings.TrimLeftFunc(after, unicode.IsSpace)
	if len(bare) < len(trimmed) && unicode.IsLower(firstRune(after)) {
		return false // as in: Say "Hi!" and go.
	}
	return last != '.' || !Abbreviated(bare, after)
}

// LowerStop reports whether a full stop after a word ends a sentence although a
// lower-case letter follows.
func LowerStop(before, after string) bool {
	before = before[max(0, len(before)-longestStop):]
	i := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })
	if i >= 0 {
		_, size := utf8.DecodeRuneInString(before[i:]) // 1 for a byte that is not UTF-8
		i += size - 1
	}
	word, next := before[i+1:], firstRune(strings.TrimLeft(after, " "))
	number := word == "" && i >= 0 && before[i] >= '0' && before[i] <= '9'
	switch {
	case unicode.IsDigit(next) && (number || utf8.RuneCountInString(word) >= 3):
	case !unicode.IsLower(next) || utf8.RuneCountInString(word) < 3, strings.ToUpper(word) == word:
		return false
	}
	if !number && i >= 0 && strings.IndexByte("./@", before[i]) >= 0 {
		return false
	}
	return !Abbreviated(before+".", strings.TrimLeft(after, " "))
}

// Abbreviated reports whether a text ends in the full stop of an abbreviation.
// after is the text that follows.
func Abbreviated(text, after string) bool {
	word := lastToken(text)
	lower := strings.ToLower(word)
	if slices.Contains(neverLast, lower) {
		capital := unicode.IsUpper(firstRune(after))
		return !(lower == "no" && capital || capital && slices.Contains(alsoWords, lower) && begins(after)) // "Say yes or no. Then …", and "No. 5"
	}
	initials := slices.Contains(oftenLast, lower) || utf8.RuneCountInString(word) == 1 && unicode.IsLetter(firstRune(word))
	return initials && !begins(after)
}

// EndsInTitle reports whether a text ends in an abbreviation that precedes a name
// or a number.
func EndsInTitle(text string) bool {
	switch strings.ToLower(lastToken(text)) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "no", "fig", "e.g", "i.e", "vs", "approx":
		return true
	}
	return false
}

// begins reports whether the first word of a text often begins a sentence.
func begins(text string) bool {
	return slices.Contains(beginners, strings.ToLower(strings.TrimRight(FirstWord(text), ",.:;!?")))
}

// FirstWord returns the text before the first blank; leading blanks do not count.
func FirstWord(text string) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i]
	}
	return text
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastToken returns the last word of a text with the full stops in it, but without
// a final one.
func lastToken(text string) string {
	text = strings.TrimSuffix(text, ".")
	text = text[max(0, len(text)-longestStop):]
	i := strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([{\"'“„«,;:/", r) })
	if i < 0 {
		return text
	}
	_, n := utf8.DecodeRuneInString(text[i:])
	return text[i+n:]
}
