package ngram

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Treebank splits one text into the tokens of the Penn Treebank (R. MacIntyre's
// tokenizer.sed, 1995, as NLTK and js-rouge extend it): punctuation is separate, a
// double quote becomes two backquotes or two apostrophes, clitics such as 's and
// n't and contractions such as can|not are split off, and only a full stop at the
// very end is a separate token. A blank text has no tokens.
func Treebank(text string) []string {
	return appendTreebank(make([]string, 0, len(text)/4+1), text)
}

func appendTreebank(words []string, text string) []string {
	simple := plain(text)
	if !simple {
		text = padded(text)
	}
	for start := 0; start < len(text); start++ {
		if text[start] == ' ' {
			continue
		}
		end := start + 1
		for end < len(text) && text[end] != ' ' {
			end++
		}
		if word := text[start:end]; simple && begins[word[0]] == 0 {
			words = append(words, word)
		} else {
			words = appendWord(words, word)
		}
		start = end
	}
	return words
}

// begins holds, by first byte, the contractions that can begin with it: bit i is
// set for the i-th.
var begins = func() (sets [256]uint16) {
	for i, c := range contractions {
		first := c.text[0]
		sets[first] |= 1 << i
		if isLetter(first) {
			sets[first&^0x20] |= 1 << i
		}
	}
	return sets
}()

// plain reports whether text has only ASCII letters, digits and spaces, so that
// padding would not change it.
func plain(text string) bool {
	for i := range len(text) {
		if !plainBytes[text[i]] {
			return false
		}
	}
	return true
}

// plainBytes are the bytes of a plain text.
var plainBytes = func() (bytes [256]bool) {
	bytes = wordBytes
	bytes[' '] = true
	return bytes
}()

func isWordByte(c byte) bool { return wordBytes[c] }

var wordBytes = func() (bytes [256]bool) {
	for c := range bytes {
		bytes[c] = isLetter(byte(c)) || c >= '0' && c <= '9' || c == '_'
	}
	return bytes
}()

// padder puts spaces around the punctuation of a text.
type padder struct {
	text string
	out  []byte
	stop int  // position of the final full stop, -1 if there is none
	open bool // inside a quotation
}

func padded(text string) string {
	text = strings.TrimFunc(text, isBlank)
	p := padder{text: text, out: make([]byte, 0, len(text)+len(text)/3+8), stop: finalStop(text)}
	for i := 0; i < len(text); {
		i += p.step(i)
	}
	return string(p.out)
}

// step copies the character or mark at i and returns its length.
func (p *padder) step(i int) int {
	c := p.text[i]
	switch {
	case isWordByte(c):
		p.out = append(p.out, c)
		return 1
	case c >= utf8.RuneSelf:
		return p.wide(i)
	}
	next := byte(0)
	if i+1 < len(p.text) {
		next = p.text[i+1]
	}
	switch c {
	case ' ', '\t', '\n', '\v', '\f', '\r':
		p.out = append(p.out, ' ')
		return 1
	case '"':
		return p.quote(p.opens(i), 1)
	case '`':
		if next == c {
			return p.quote(true, 2)
		}
	case '\'':
		if next == c {
			return p.quote(p.pairs(i), 2)
		}
	case '.':
		if strings.HasPrefix(p.text[i:], "...") {
			return p.mark("...")
		}
		if i == p.stop {
			return p.mark(".")
		}
	case ':', ',':
		if r, _ := utf8.DecodeRuneInString(p.text[i+1:]); !unicode.Is(unicode.Nd, r) {
			return p.mark(p.text[i : i+1])
		}
	case '-':
		if next == '-' {
			return p.mark("--")
		}
	case ';', '@', '#', '$', '%', '&', '?', '!', '(', ')', '[', ']', '{', '}', '<', '>':
		return p.mark(p.text[i : i+1])
	}
	p.out = append(p.out, c)
	return 1
}

// wide copies a non-ASCII character.
func (p *padder) wide(i int) int {
	r, size := utf8.DecodeRuneInString(p.text[i:])
	if isBlank(r) {
		p.out = append(p.out, ' ')
	} else {
		p.out = append(p.out, p.text[i:i+size]...)
	}
	return size
}

// opens reports whether a double quote at i begins a quotation: at the beginning,
// after white space or an opening bracket, and, unless the text ends here, after
// any punctuation that does not end a sentence.
func (p *padder) opens(i int) bool {
	if p.open || i == 0 {
		return !p.open
	}
	r, _ := utf8.DecodeLastRuneInString(p.text[:i])
	return isBlank(r) || strings.ContainsRune("([{<", r) || i+1 < len(p.text) && leadsQuote(r)
}

// pairs reports whether two single quotes at i begin a quotation: before a word,
// and with a counterpart as the next quote of any kind.
func (p *padder) pairs(i int) bool {
	if p.open || i == 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(p.text[:i])
	next, _ := utf8.DecodeRuneInString(p.text[i+2:])
	if !isBlank(r) && r != '<' && !leadsQuote(r) || !isWordRune(next) {
		return false
	}
	for j := i + 2; j < len(p.text); j++ {
		switch c := p.text[j]; {
		case c == '"':
			return false
		case (c == '`' || c == '\'') && j+1 < len(p.text) && p.text[j+1] == c:
			return c == '\''
		}
	}
	return false
}

// leadsQuote reports whether r is punctuation that does not end a sentence.
func leadsQuote(r rune) bool {
	return unicode.IsPunct(r) && r != '.' && r != '!' && r != '?'
}

func (p *padder) quote(opening bool, size int) int {
	p.open = opening
	if opening {
		p.mark("``")
	} else {
		p.mark("''")
	}
	return size
}

// mark writes s as a separate token and returns its length.
func (p *padder) mark(s string) int {
	p.out = append(p.out, ' ')
	p.out = append(p.out, s...)
	p.out = append(p.out, ' ')
	return len(s)
}

// finalStop returns the position of the full stop that ends text, ignoring closing
// brackets, quotes and white space after it, or -1. The last full stop of an
// ellipsis or of an acronym such as U.S. does not count.
func finalStop(text string) int {
	i := len(strings.TrimRightFunc(text, closes)) - 1
	if i < 1 || text[i] != '.' || text[i-1] == '.' {
		return -1
	}
	if i >= 3 && isLetter(text[i-1]) && text[i-2] == '.' && isLetter(text[i-3]) && (i == 3 || !isWordByte(text[i-4])) {
		return -1
	}
	return i
}

func closes(r rune) bool {
	switch r {
	case ']', ')', '}', '>', '"', '\'':
		return true
	}
	return isBlank(r)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isBlank(r rune) bool { return value.IsSpace(r) || r == '\u0085' }

// clitics are split off the end of a word, in two rounds: one of the first row,
// then one of the second.
var clitics = [2][]string{
	{"'s", "'S", "'m", "'M", "'d", "'D"},
	{"'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"},
}

// appendWord appends the tokens of a word, the parts between two spaces of a
// padded text.
func appendWord(words []string, word string) []string {
	last := word[len(word)-1]
	if last != '\'' && strings.IndexByte(word, '\'') < 0 {
		return appendContractions(words, word)
	}
	if n := len(word) - 1; last == '\'' && n > 0 && word[n-1] != '\'' {
		return append(appendWord(words, word[:n]), "'")
	}
	var tail [2]string
	for i, list := range clitics {
		word, tail[len(clitics)-1-i] = cutClitic(word, list)
	}
	words = appendContractions(words, word)
	for _, t := range tail {
		if t != "" {
			words = append(words, t)
		}
	}
	return words
}

func cutClitic(word string, list []string) (rest, clitic string) {
	for _, c := range list {
		if n := len(word) - len(c); n > 0 && word[n:] == c {
			return word[:n], c
		}
	}
	return word, ""
}

// contraction is two words written as one; at is the length of the first.
type contraction struct {
	text string
	at   int
	end  bool // only at the end of a word
}

// contractions are in search order: one that is split off is a boundary for those
// after it.
var contractions = [...]contraction{
	{"cannot", 3, false}, {"d'ye", 1, false}, {"gimme", 3, false}, {"gonna", 3, false}, {"gotta", 3, false},
	{"lemme", 3, false}, {"more'n", 4, false}, {"wanna", 3, true}, {"'tis", 2, false}, {"'twas", 2, false},
}

// shortest is the length of the shortest contraction.
const shortest = len("'tis")

// appendContractions appends word, with every contraction in it split.
func appendContractions(words []string, word string) []string {
	start, last := 0, len(contractions)
	for at := 0; at < len(word); at++ {
		if begins[word[at]] == 0 || at > start && isWordByte(word[at-1]) {
			continue
		}
		i := contractionAt(word, at)
		if i < 0 || at > 0 && (at > start || i <= last) && endsWord(word[:at]) {
			continue
		}
		if at > start {
			words = append(words, word[start:at])
		}
		c := contractions[i]
		start, last = at+len(c.text), i
		words = append(words, word[at:at+c.at], word[at+c.at:start])
		at = start - 1
	}
	if start < len(word) {
		words = append(words, word[start:])
	}
	return words
}

// contractionAt returns the index of the contraction at word[at:], if no letter or
// digit follows it, or -1.
func contractionAt(word string, at int) int {
	if len(word)-at < shortest {
		return -1
	}
	for set := begins[word[at]]; set != 0; set &= set - 1 {
		i := bits.TrailingZeros16(set)
		c := &contractions[i]
		end := at + len(c.text)
		// Few words have the second letter too. EqualFold takes longer.
		if end > len(word) || word[at+1]|0x20 != c.text[1] || !strings.EqualFold(word[at:end], c.text) {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(word[end:]); end == len(word) || !c.end && !isWordRune(after) {
			return i
		}
	}
	return -1
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isWordRune(r)
}

// isWordRune reports whether r belongs to a word (Unicode Technical Standard #18,
// annex C).
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Join_Control, unicode.Other_Alphabetic)
}
