package rules

import (
	"strings"

	"github.com/proviso-eval/proviso/spade/delta"
)

// foreignStance reads what a sentence in another language says of what stands between two
// offsets. Many languages negate twice without turning the meaning, so that only a
// negation with a word of leaving out counts as a double one. Where a language puts its
// verb, and how far a negation reaches, the rules do not know: what forbids has to stand in
// the same part of the sentence, between conjunctions and punctuation, or nowhere.
func (s *sentence) foreignStance(text string, start, end int) stance {
	t := s.tongue
	from, to := joint.get().FindAllStringIndex(text[:start], -1), joint.get().FindStringIndex(text[end:])
	st := stance{before: text[:start], after: text[end:]}
	if len(from) > 0 {
		st.before = text[from[len(from)-1][1]:start]
	}
	if to != nil {
		st.after = text[end : end+to[0]]
	}
	whole := text[:start] + " \x00 " + text[end:]
	near := st.before + " \x00 " + st.after
	never, omits := t.negative.get().MatchString(near), t.omits.get().MatchString(near)
	switch {
	case t.weakens.get().MatchString(near):
		st.unread = t.weakens.get().FindString(near)
	case t.omits.get().MatchString(whole) && t.negative.get().MatchString(t.omits.get().ReplaceAllString(whole, " \x00 ")):
		// Only if the words of leaving out are of this part, or begin the sentence.
		if omits || !hasWords(st.before) || t.omits.get().MatchString(text[:start]) {
			if !never || omits {
				st.unread = strings.TrimSpace(whole)
			}
		}
	}
	if st.unread != "" {
		return st
	}
	switch {
	case never || omits:
		st.not = true
		if !omits && !t.writes.get().MatchString(text) || more.get().MatchString(near) {
			st.unread = strings.TrimSpace(near)
		}
	case t.negative.get().MatchString(text[:start]) && !t.writes.get().MatchString(st.before):
		st.unread = strings.TrimSpace(text[:start])
	case t.allows.get().MatchString(near):
		st.unread, st.allows = t.allows.get().FindString(near), true
	}
	st.unread = strings.TrimSpace(st.unread)
	return st
}

func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > ' ' })
}

// joint is what separates the parts of a sentence; more are signs that a negation is one of
// degree.
var (
	joint = pattern(`(?i)[.,;:!?]\s+|\s(?:und|et|y|e|en|aber|sondern|mais|pero|sino|ma|mas|maar)\s`)
	// French negates with two words; ownNot is the second in a bound, full others.
	ownNot = pattern(`(?i)^pas `)
	full   = pattern(`(?i)(?:^|\s)(?:jamais|aucun\w*|rien|sans|ni|pas)(?:$|\s)`)
	more   = pattern(`(?i)(?:^|\s)(?:nur|zu viele?|seulement|uniquement|trop|solo|sólo|solamente|demasiad[oa]s|soltanto|troppi|troppe|só|apenas|somente|demais|muit[oa]s|alleen|slechts|te veel|zu oft|immer|toujours|siempre|sempre|altijd|alle|tous|toutes|todos|todas|tutti|tutte)(?:$|[\s.,;:!?)])`)
)

// foreignReads reports whether a count is demanded of the output, and turns a forbidden
// comparison into a limit; reversed says that it was forbidden.
func (s *sentence) foreignReads(b *bound, compared bool, m []string, at []int) (reversed, ok bool) {
	t := s.tongue
	// The pattern takes a blank or a comma on both sides along.
	start := at[0] + len(m[0]) - len(strings.TrimLeft(m[0], " \n\t.,;:!?"))
	end := at[1] - len(m[0]) + len(strings.TrimRight(m[0], " \n\t.,;:!?"))
	st := s.foreignStance(s.plain, start, end)
	if ownNot.get().MatchString(m[1]) && !full.get().MatchString(st.before) { // ne … pas plus de
		st.not, st.unread = false, ""
	}
	above, below := compared && among(m[1], t.above), compared && among(m[1], t.below)
	switch {
	case st.allows && compared && among(m[1], t.most):
		return false, true
	case st.not && (above || below) && st.unread == "":
		words := "more"
		if below {
			words = "less"
		}
		if b.complement(words) {
			return true, true
		}
	case st.unread == "" && !st.not:
		return false, true
	}
	s.refuse(delta.Quantity, "%s", needsModel(strings.TrimSpace(st.before+" "+strings.TrimSpace(m[0])+st.after)))
	return false, false
}
