package meteor

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Stem returns the stem of a lower-case English word (M. F. Porter, "An algorithm
// for suffix stripping", Program 14(3), 1980, with the changes of his own
// implementation: the suffix "bli" for "abli", and "logi"). Words of fewer than
// three UTF-16 units are unchanged. The stems are those of the npm package natural
// 8.1.1.
func Stem(word string) string {
	if len(word) < 9 && value.UTF16Len(word) < 3 {
		return word
	}
	s := stemmer{b: []byte(word)}
	s.plural()
	s.past()
	s.finalY()
	s.replace(step2)
	s.replace(step3)
	s.strip()
	s.finalE()
	return string(s.b)
}

// stemmer holds the remaining part of the word.
type stemmer struct{ b []byte }

// consonant reports whether the letter at i is a consonant. Any character that is
// not a letter counts as one; y is one at the beginning and after a vowel.
func (s *stemmer) consonant(i int) bool {
	switch s.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences among the first n letters, in
// halves: 2 is Porter's m = 1. As in natural, a vowel after a y that is itself a
// vowel begins a new sequence, so the measure of "dying" is 3.
func (s *stemmer) measure(n int) int {
	halves := 0
	const none, consonants, vowels, y = 0, 1, 2, 3
	last := none
	for i := range n {
		group := vowels
		switch {
		case s.consonant(i):
			group = consonants
		case s.b[i] == 'y':
			group = y
		}
		if group != last {
			halves++
		}
		if last == none && group == consonants {
			halves = 0 // consonants at the beginning do not count
		}
		last = group
	}
	if last > consonants {
		halves-- // nor do vowels at the end
	}
	return halves
}

func (s *stemmer) hasVowel(n int) bool {
	for i := range n {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

// double reports whether the word ends with the same consonant twice.
func (s *stemmer) double() bool {
	n := len(s.b)
	return n > 1 && s.b[n-1] < utf8.RuneSelf && s.b[n-1] == s.b[n-2] && s.consonant(n-1)
}

// closed reports whether the first n letters end with consonant, vowel and
// consonant, the last of which is not w, x or y.
func (s *stemmer) closed(n int) bool {
	return n > 2 && s.consonant(n-3) && !s.consonant(n-2) && s.consonant(n-1) && strings.IndexByte("wxy", s.b[n-1]) < 0
}

func (s *stemmer) ends(suffix string) bool { return strings.HasSuffix(string(s.b), suffix) }

func (s *stemmer) cut(n int) { s.b = s.b[:len(s.b)-n] }

// plural is step 1a.
func (s *stemmer) plural() {
	switch {
	case s.ends("sses"), s.ends("ies"):
		s.cut(2)
	case s.ends("ss"):
	case s.ends("s"):
		s.cut(1)
	}
}

// past is step 1b.
func (s *stemmer) past() {
	switch {
	case s.ends("eed"):
		if s.measure(len(s.b)-3) > 0 {
			s.cut(1)
		}
		return
	case s.ends("ed") && s.hasVowel(len(s.b)-2):
		s.cut(2)
	case s.ends("ing") && s.hasVowel(len(s.b)-3):
		s.cut(3)
	default:
		return
	}
	switch n := len(s.b); {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.b = append(s.b, 'e')
	case s.double() && strings.IndexByte("lsz", s.b[n-1]) < 0:
		s.cut(1)
	case s.measure(n) == 2 && s.closed(n):
		s.b = append(s.b, 'e')
	}
}

// finalY is step 1c.
func (s *stemmer) finalY() {
	if n := len(s.b); s.ends("y") && s.hasVowel(n-1) {
		s.b[n-1] = 'i'
	}
}

// replacement is a suffix and its replacement.
type replacement struct{ suffix, by string }

var step2 = []replacement{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
	{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"},
	{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"},
	{"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"logi", "log"},
}

var step3 = []replacement{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

// replace is steps 2 and 3: it replaces the first suffix in the list that the word
// has, if the part before it has a measure above 0.
func (s *stemmer) replace(list []replacement) {
	for _, r := range list {
		if !s.ends(r.suffix) {
			continue
		}
		if n := len(s.b) - len(r.suffix); s.measure(n) > 0 {
			s.b = append(s.b[:n], r.by...)
		}
		return
	}
}

var step4 = []string{
	"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
	"ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
}

// strip is step 4.
func (s *stemmer) strip() {
	for _, suffix := range step4 {
		if !s.ends(suffix) {
			continue
		}
		n := len(s.b) - len(suffix)
		if s.measure(n) > 2 && (suffix != "ion" || s.b[n-1] == 's' || s.b[n-1] == 't') {
			s.b = s.b[:n]
		}
		return
	}
}

// finalE is step 5.
func (s *stemmer) finalE() {
	if n := len(s.b) - 1; s.ends("e") {
		if m := s.measure(n); m > 2 || m == 2 && !s.closed(n) {
			s.cut(1)
		}
	}
	if s.ends("ll") && s.measure(len(s.b)) > 2 {
		s.cut(1)
	}
}
