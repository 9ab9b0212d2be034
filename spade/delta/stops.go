package delta

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

// beginners are words that begin a sentence more often than they go on with a name.
var beginners = strings.Fields("the a an this that these those there it its you your we our they he she i if when while for in on at as do don't never always not no use write answer be make keep return include mention list give say add avoid please then next finally ensure provide respond reply output however then also only each every all any")

// sentenceMarks end a sentence where a blank follows, and wideMarks also without one.
const (
	sentenceMarks = ".!?…"
	wideMarks     = "。！？｡．॥।؟۔"
	closingMarks  = "\"'”’»)]}*_`“"
)

// longestStop is how many bytes before a full stop are read.
const longestStop = 60

// endsSentence reports whether a sentence ends between two texts, where the annex sees
// its end.
func endsSentence(before, after string) bool {
	trimmed := strings.TrimRightFunc(before, unicode.IsSpace)
	bare := strings.TrimRight(trimmed, closingMarks)
	last, _ := utf8.DecodeLastRuneInString(bare)
	if strings.ContainsRune(wideMarks, last) {
		return true
	}
	if len(trimmed) == len(before) { // as in a URL: no blank follows
		return false
	}
	after = strings.TrimLeftFunc(after, unicode.IsSpace)
	if len(bare) < len(trimmed) && unicode.IsLower(firstRune(after)) {
		return false // as in: Say "Hi!" and go.
	}
	return last != '.' || !abbreviated(bare, after)
}

// lowerStop reports whether a full stop after a word ends a sentence though a small
// letter follows.
func lowerStop(before, after string) bool {
	before = before[max(0, len(before)-longestStop):]
	i := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })
	if i >= 0 {
		_, size := utf8.DecodeRuneInString(before[i:]) // 1 for a byte that is no UTF-8
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
	return !abbreviated(before+".", strings.TrimLeft(after, " "))
}

// abbreviated reports whether a text ends in the full stop of an abbreviation, with after
// behind it.
func abbreviated(text, after string) bool {
	word := lastToken(text)
	lower := strings.ToLower(word)
	if slices.Contains(neverLast, lower) {
		return !(lower == "no" && unicode.IsUpper(firstRune(after))) // "Say yes or no. Then …", and "No. 5"
	}
	initials := slices.Contains(oftenLast, lower) || utf8.RuneCountInString(word) == 1 && unicode.IsLetter(firstRune(word))
	return initials && !slices.Contains(beginners, strings.ToLower(strings.TrimRight(firstWord(after), ",.:;!?")))
}

func firstWord(text string) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i]
	}
	return text
}

// lastToken returns the last word of a text with the full stops in it, without the one at
// its end.
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
