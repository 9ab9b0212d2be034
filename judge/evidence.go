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
)

// Bounds of what is kept of a reply.
const (
	maxReason   = 400  // characters of a reason
	maxQuotes   = 5    // quotes for one criterion that are kept
	maxLooked   = 32   // quotes for one criterion that are checked
	maxQuote    = 1000 // bytes of a quote
	maxSentence = 4000 // bytes of a reason that are searched for the first sentence
)

// quoteChecker checks quotes against one output.
type quoteChecker struct {
	output string

	once  sync.Once // computes plain, which few outputs need
	plain plainText
}

// verify returns the quotes that occur in the output, in the wording of the output, and
// how many do not occur.
func (w *quoteChecker) verify(quotes []string) (kept []proviso.Evidence, missing int) {
	if len(quotes) > maxLooked { // the others were not looked for
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

// noQuote reports whether a quote is empty, or a placeholder that models write if they
// have no quote.
func noQuote(quote string) bool {
	switch strings.ToLower(strings.Trim(quote, " \t\r\n()[].-–—\"'")) {
	case "", "none", "n/a":
		return true
	}
	return false
}

// supports reports whether a quote that occurs says something, so that it can stand for
// others that do not occur: a letter or a mark stands in any output.
func supports(e proviso.Evidence) bool {
	letters := 0
	for _, r := range e.Quote {
		switch {
		case unicode.IsDigit(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Lo, r): // such as a number, a picture or a character of Chinese
			return true
		case unicode.IsLetter(r):
			letters++
		}
	}
	return letters >= minEvidence
}

// minEvidence is how many letters a quote has at least that stands for others.
const minEvidence = 3

// dropped says that quotes do not occur in the output.
func dropped(missing int) string {
	switch missing {
	case 0:
		return ""
	case 1:
		return "a quote of the judge was dropped: it does not occur in the output"
	}
	return "quotes of the judge were dropped: they do not occur in the output"
}

// notes joins the notes that are not empty.
func notes(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(note string) bool { return note == "" }), "; ")
}

// sentence returns the first sentence of a reason, with bounded length.
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

// shorten cuts a text to a number of characters.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}
