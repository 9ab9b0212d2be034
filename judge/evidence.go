package judge

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/segment"
	"golang.org/x/text/unicode/norm"
)

// Limits on what is kept of a reply.
const (
	maxReason   = 400  // characters of a reason
	maxQuotes   = 5    // quotes kept per criterion
	maxLooked   = 32   // quotes checked per criterion
	maxQuote    = 1000 // bytes of a quote
	maxSentence = 4000 // bytes of a reason searched for its first sentence
)

// quoteChecker checks quotes against one output.
type quoteChecker struct {
	output string

	once  sync.Once // guards the computation of plain, which few outputs need
	plain plainText
}

// verify returns the quotes that occur in the output, in the output's wording, and the
// number of quotes that do not occur.
func (w *quoteChecker) verify(quotes []string) (kept []proviso.Evidence, missing int) {
	if len(quotes) > maxLooked { // the rest is not looked up
		missing = len(quotes) - maxLooked
	}
	for _, q := range quotes[:min(len(quotes), maxLooked)] {
		if noQuote(q) {
			continue
		}
		found := w.find(q)
		if len(found) == 0 {
			missing++
		}
		for _, at := range found {
			if len(kept) < maxQuotes {
				kept = append(kept, proviso.Evidence{Quote: excerpt.Head(w.output[at.start:at.end], maxQuote), Start: at.start})
			}
		}
	}
	return kept, missing
}

// noQuote reports whether a quote is empty, or a placeholder that models write instead of
// a quote.
func noQuote(quote string) bool {
	switch strings.ToLower(strings.Trim(quote, " \t\r\n()[].-–—\"'")) {
	case "", "none", "n/a":
		return true
	}
	return false
}

// supports reports whether a quote that occurs is long enough to make up for others that
// do not: a single letter or mark occurs in any output.
func supports(e proviso.Evidence) bool {
	letters := 0
	for _, r := range e.Quote {
		switch {
		case unicode.IsDigit(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Lo, r): // such as a number, an emoji or a Chinese character
			return true
		case unicode.IsLetter(r):
			letters++
		}
	}
	return letters >= minEvidence
}

// minEvidence is the minimum number of letters in a quote that makes up for others.
const minEvidence = 3

// dropped returns the note for quotes that do not occur in the output.
func dropped(missing int) string {
	switch missing {
	case 0:
		return ""
	case 1:
		return "a quote of the judge was dropped: it does not occur in the output"
	}
	return "quotes of the judge were dropped: they do not occur in the output"
}

// notes joins the non-empty notes.
func notes(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(note string) bool { return note == "" }), "; ")
}

// sentence returns the first sentence of a reason, with limited length.
func sentence(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(excerpt.Head(reason, maxSentence), string(utf8.RuneError)))
	reason = strings.Join(strings.Fields(reason), " ")
	if all := segment.Sentences(reason); len(all) > 0 {
		reason = all[0]
	}
	return shorten(reason, maxReason)
}

// shorten cuts a text to a maximum number of characters.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}

// span is a part of a text, in bytes.
type span struct{ start, end int }

// find searches the output for a quote: first exactly, then in plain text, then for its
// parts between ellipses, in order. It returns their positions, or nil if a part does not
// occur.
func (w *quoteChecker) find(quote string) []span {
	quote = strings.ToValidUTF8(quote, string(utf8.RuneError))
	if i := strings.Index(w.output, quote); i >= 0 {
		return []span{{i, i + len(quote)}}
	}
	w.once.Do(func() { w.plain = plain(w.output) })
	if s, ok := w.plain.find(quote, 0); ok {
		return []span{w.widened(w.plain.source(s), quote)}
	}
	var found []span
	from, size := 0, 0
	for part := range strings.SplitSeq(ellipses().Replace(quote), cutOut) {
		if strings.Trim(part, " \t\r\n.\"'") == "" {
			continue
		}
		s, ok := w.plain.find(part, from)
		if !ok {
			return nil
		}
		found = append(found, w.plain.source(s))
		from = s.end
		size += s.end - s.start
	}
	if size < minParts {
		return nil
	}
	return found
}

// widened extends a span by the surrounding quotation marks if the quote has them, too.
func (w *quoteChecker) widened(s span, quote string) span {
	quote = strings.TrimSpace(quote)
	if r, _ := utf8.DecodeRuneInString(quote); quotes(r) {
		if r, n := utf8.DecodeLastRuneInString(w.output[:s.start]); quotes(r) {
			s.start -= n
		}
	}
	if r, _ := utf8.DecodeLastRuneInString(quote); quotes(r) {
		if r, n := utf8.DecodeRuneInString(w.output[s.end:]); quotes(r) {
			s.end += n
		}
	}
	return s
}

// minParts is the minimum total size of a quote's parts, in bytes: parts of one or two
// letters occur everywhere.
const minParts = 8

// cutOut represents every kind of ellipsis.
const cutOut = "\x00"

// ellipses replaces the marks for omitted words in a quote by cutOut.
var ellipses = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("[...]", cutOut, "[…]", cutOut, "(...)", cutOut, "(…)", cutOut, "...", cutOut, "…", cutOut)
})

// plainText is a text without the differences that do not matter between a quote and its
// source: in normalization form C, in one case, with single spaces, one kind of dash, no
// quotation marks and no Markdown marks.
type plainText struct {
	text       string
	start, end []int32 // position in the source for each byte
}

// source returns the span in the source that a span of p comes from.
func (p *plainText) source(s span) span { return span{int(p.start[s.start]), int(p.end[s.end-1])} }

// find searches for a quote, starting at offset from, then for the quote without
// surrounding dots and spaces.
func (p *plainText) find(quote string, from int) (span, bool) {
	text := plain(quote).text
	for _, q := range []string{text, strings.Trim(text, ". ")} {
		if q == "" {
			continue
		}
		if i := strings.Index(p.text[from:], q); i >= 0 {
			return span{from + i, from + i + len(q)}, true
		}
	}
	return span{}, false
}

// plainer builds a plainText in one pass.
type plainer struct {
	text       []byte
	start, end []int32
	word       int  // start of the current word
	letters    bool // the word has characters other than marks
	link       int  // start of a link target in the word; -1 if there is none
	bracket    bool // the last character closed a link text
}

func plain(text string) plainText {
	p := plainer{text: make([]byte, 0, len(text)), start: make([]int32, 0, len(text)), end: make([]int32, 0, len(text)), link: -1}
	var forms norm.Iter
	forms.InitString(norm.NFC, text)
	for !forms.Done() {
		from := forms.Pos()
		segment := forms.Next()
		source := span{from, forms.Pos()}
		for len(segment) > 0 {
			r, n := utf8.DecodeRune(segment)
			segment = segment[n:]
			p.add(r, source)
		}
	}
	p.endWord()
	p.cut(len(strings.TrimRight(string(p.text), " ")))
	return plainText{string(p.text), p.start, p.end}
}

func (p *plainer) add(r rune, source span) {
	bracket := p.bracket
	p.bracket = r == ']'
	switch {
	case unicode.IsSpace(r) || r == '|':
		p.endWord()
		if n := len(p.text); n > 0 && p.text[n-1] != ' ' {
			p.put(' ', source)
		}
		p.word = len(p.text)
		return
	case r == '(' && bracket:
		p.link = len(p.text)
	case r == ')' && p.link >= 0:
		p.cut(p.link)
		p.link = -1
		return
	case left(r):
		return
	}
	r = foldedRune(r)
	p.letters = p.letters || !mark(r)
	if r == 'ß' {
		p.put('s', source)
		r = 's'
	}
	p.put(r, source)
}

func (p *plainer) put(r rune, source span) {
	n := len(p.text)
	p.text = utf8.AppendRune(p.text, r)
	for range len(p.text) - n {
		p.start, p.end = append(p.start, int32(source.start)), append(p.end, int32(source.end))
	}
}

func (p *plainer) cut(n int) { p.text, p.start, p.end = p.text[:n], p.start[:n], p.end[:n] }

// endWord ends a word. It removes the word if it is only a line mark, such as that of a
// heading or a list item.
func (p *plainer) endWord() {
	if !p.letters {
		p.cut(p.word)
	}
	p.letters, p.link = false, -1
}

// left reports whether a character is omitted: quotation marks, inline Markdown marks and
// invisible characters.
func left(r rune) bool {
	switch r {
	case '*', '_', '~', '[', ']', '\\', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
		return true
	}
	return quotes(r)
}

// quotes reports whether a character is a quotation mark.
func quotes(r rune) bool {
	switch r {
	case '"', '\'', '`', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '´':
		return true
	}
	return false
}

// mark reports whether a character is a Markdown mark at the beginning of a line.
func mark(r rune) bool {
	switch r {
	case '#', '>', '-', '+', '•', '=':
		return true
	}
	return false
}

// foldedRune maps all cases of a letter, and all dashes, to one form.
func foldedRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case strings.ContainsRune("‐‑‒–—―−", r):
		return '-'
	case r == 'ẞ':
		return 'ß'
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return foldedRune(least)
	}
	return least
}
