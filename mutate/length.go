package mutate

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// Texts that make an output longer. They have no content, so that they break no other
// instruction.
const (
	fillWord     = " indeed"
	fillSentence = "It is so. "
	fillItem     = "one more"
)

// lengthen adds counted parts until a check of the instruction fails. It tries several
// places, because a check may look at only a part of the output.
func lengthen(w *work) {
	body := w.body
	list := sentencesOf(body)
	order := w.rng.Perm(len(list))
	order = order[:min(len(order), maxPlaces)]
	for _, c := range w.in.Checks {
		kind, ok := check.Lookup(strings.TrimPrefix(c.Type, "not-"))
		if !ok {
			continue
		}
		units := func(names ...string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(kind.Units, name) })
		}
		switch {
		case units("word", "character", "token"):
			w.growAt(order, func(i, n int) string { return insert(body, insideOf(body, list[i]), strings.Repeat(fillWord, n)) })
		case units("sentence"):
			w.growAt(order, func(i, n int) string {
				return before(body, list, i, strings.TrimSpace(strings.Repeat(fillSentence, n)))
			})
		case units("item"):
			items := itemsOf(body)
			w.growAt(w.rng.Perm(len(items)), func(i, n int) string {
				line := items[i].of(body)
				return insert(body, items[i].start, strings.Repeat(line[:marker(line)]+fillItem+"\n", n))
			})
		case units("line", "paragraph"):
			for _, end := range []string{"\n", "\n\n"} {
				w.growAt(order, func(i, n int) string { return insert(body, list[i].start, strings.Repeat("It is so."+end, n)) })
			}
		case kind.Match == proviso.MatchCount:
			for _, phrase := range w.phrases(c) {
				w.growAt(order, func(i, n int) string { return insert(body, insideOf(body, list[i]), strings.Repeat(" "+phrase, n)) })
			}
		}
	}
}

// maxPlaces limits the sentences at which an output is made longer.
const maxPlaces = 4

// growAt grows the output at each place.
func (w *work) growAt(places []int, text func(place, n int) string) {
	for _, i := range places {
		w.grow(func(n int) string { return text(i, n) })
	}
}

// shorten removes parts of each kind from the end, with or without sparing the last one,
// until a check of the instruction fails.
func shorten(w *work) {
	body := w.body
	for _, parts := range [][]span{sentencesOf(body), itemsOf(body), linesOf(body)} {
		w.grow(func(n int) string { return without(body, parts, n, 1) })
		w.grow(func(n int) string { return without(body, parts, n, 0) })
	}
	words := wordsAt(body)
	w.grow(func(n int) string { return without(body, words, n, 0) })
	for _, c := range w.in.Checks {
		for _, phrase := range w.phrases(c) {
			w.put(dropAll(body, phrase))
		}
	}
}

// without removes n parts from the end of a text, not counting the last spared ones. It
// keeps at least one part.
func without(text string, parts []span, n, spared int) string {
	for i := len(parts) - 1 - spared; i > 0 && n > 0; i-- {
		if n == 1 || i == 1 {
			return strings.TrimSpace(removeLine(text, span{parts[i].start, parts[len(parts)-1-spared].end}))
		}
		n--
	}
	return text
}

// itemsOf returns the lines that begin with a list marker.
func itemsOf(text string) []span {
	var list []span
	for _, line := range linesOf(text) {
		if marker(line.of(text)) > 0 && !strings.HasPrefix(line.of(text), "#") {
			list = append(list, line)
		}
	}
	return list
}

// insideOf returns an offset within a sentence: before its last word or, if it has only
// one, before its final punctuation.
func insideOf(text string, s span) int {
	words := wordsAt(s.of(text))
	if len(words) < 2 {
		return s.start + len(strings.TrimRight(s.of(text), ".!?…:;,)]}\"'*_"))
	}
	return s.start + words[len(words)-2].end
}

// pad breaks brevity: it repeats every sentence in other words, or adds many sentences
// without content.
func pad(w *work) {
	list := sentencesOf(w.body)
	if len(list) == 0 {
		return
	}
	var b strings.Builder
	at := 0
	for _, s := range list {
		b.WriteString(w.body[at:s.end] + " In other words, " + w.body[contentStart(w.body, s):s.end])
		at = s.end
	}
	w.put(b.String() + w.body[at:])
	filler := "There is much that one could say about this, and it is worth while to look at it from every side, step by step and without haste. "
	w.put(before(w.body, list, len(list)-1, strings.TrimSpace(strings.Repeat(filler, 8))))
}

// cutOff cuts the output in the middle of a word.
func cutOff(w *work) {
	words := wordsAt(w.out.Text)
	if len(words) < 4 {
		return
	}
	for _, share := range []int{60, 85} {
		cut := words[len(words)*share/100]
		middle := cut.start + (cut.end-cut.start+1)/2
		w.whole(strings.ToValidUTF8(w.out.Text[:middle], ""))
	}
}
