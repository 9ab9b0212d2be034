package judge

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/segment"
)

// Bounds of what is kept of a reply.
const (
	maxReason   = 400  // characters of a reason
	maxQuotes   = 5    // quotes for one criterion that are looked for
	maxQuote    = 1000 // bytes of a quote
	maxSentence = 4000 // bytes of a reason in which the first sentence is looked for
)

// witness verifies quotes from one output.
type witness struct {
	output string

	once  sync.Once // makes the fields below, which few outputs need
	plain string    // the output without differences that do not matter
	at    []int     // for each byte of plain, where it stands in output
}

// verify keeps the quotes that occur in the output, in the output's own words, and
// says how many do not.
func (w *witness) verify(quotes []string) (kept []proviso.Evidence, note string) {
	missing := 0
	for _, q := range quotes[:min(len(quotes), maxQuotes)] {
		if strings.TrimSpace(q) == "" {
			continue
		}
		start, end, ok := w.find(q)
		if !ok {
			missing++
		} else {
			kept = append(kept, proviso.Evidence{Quote: w.output[start:end], Start: start})
		}
	}
	switch missing {
	case 0:
		return kept, ""
	case 1:
		return kept, "a quote of the judge was dropped: it does not occur in the output"
	}
	return kept, "quotes of the judge were dropped: they do not occur in the output"
}

// find looks for a quote as it is, then without regard to white space, to the
// kind of quotation marks and dashes, and to marks around it.
func (w *witness) find(quote string) (start, end int, ok bool) {
	if len(quote) > maxQuote {
		return 0, 0, false
	}
	if i := strings.Index(w.output, quote); i >= 0 {
		return i, i + len(quote), true
	}
	w.once.Do(func() { w.plain, w.at = plainText(w.output) })
	plain, _ := plainText(quote)
	for _, p := range []string{plain, strings.Trim(plain, `'. `)} {
		if p == "" {
			continue
		}
		if i := strings.Index(w.plain, p); i >= 0 {
			last := w.at[i+len(p)-1]
			_, size := utf8.DecodeRuneInString(w.output[last:])
			return w.at[i], last + size, true
		}
	}
	return 0, 0, false
}

// plainText returns text with one space for all white space, and one kind of
// quotation mark and of dash, and where each byte of that stands in text.
func plainText(text string) (string, []int) {
	var b strings.Builder
	at := make([]int, 0, len(text))
	space := true // none at the beginning
	for i, r := range text {
		if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			if !space {
				b.WriteByte(' ')
				at = append(at, i)
			}
			space = true
			continue
		}
		space = false
		n := b.Len()
		b.WriteRune(plainRune(r))
		for range b.Len() - n {
			at = append(at, i)
		}
	}
	plain := b.String()
	if strings.HasSuffix(plain, " ") {
		plain, at = plain[:len(plain)-1], at[:len(at)-1]
	}
	return plain, at
}

func plainRune(r rune) rune {
	switch r {
	case '"', '`', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '´':
		return '\''
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	return r
}

// sentence makes one sentence of bounded length of a reason.
func sentence(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut(reason, maxSentence), string(utf8.RuneError)))
	reason = strings.Join(strings.Fields(reason), " ")
	if all := segment.Sentences(reason); len(all) > 0 {
		reason = all[0]
	}
	return shorten(reason, maxReason)
}

// shorten bounds a text to a number of characters.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}
