package rules

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
	"github.com/proviso-eval/proviso/spade/delta"
)

// foreignStance reads what a sentence in another language says of what stands between two
// offsets. Many languages negate twice without turning the meaning, so that only a
// negation with a word of leaving out counts as a double one. Where a language puts its
// verb, and how far a negation reaches, the rules do not know: what forbids has to stand in
// the same part of the sentence, between conjunctions and punctuation, or nowhere.
func (s *sentence) foreignStance(text string, start, end int) stance.Stance {
	t := s.tongue
	from, to := joint.Get().FindAllStringIndex(text[:start], -1), joint.Get().FindStringIndex(text[end:])
	st := stance.Stance{Before: text[:start], After: text[end:]}
	if len(from) > 0 {
		st.Before = text[from[len(from)-1][1]:start]
	}
	if to != nil {
		st.After = text[end : end+to[0]]
	}
	whole := text[:start] + " \x00 " + text[end:]
	near := st.Before + " \x00 " + st.After
	never, omits := t.negative.Get().MatchString(near), t.omits.Get().MatchString(near)
	switch {
	case t.weakens.Get().MatchString(near):
		st.Unread = t.weakens.Get().FindString(near)
	case t.omits.Get().MatchString(whole) && t.negative.Get().MatchString(t.omits.Get().ReplaceAllString(whole, " \x00 ")):
		// Only if the words of leaving out are of this part, or begin the sentence.
		if omits || !hasWords(st.Before) || t.omits.Get().MatchString(text[:start]) {
			if !never || omits {
				st.Unread = strings.TrimSpace(whole)
			}
		}
	}
	if st.Unread != "" {
		return st
	}
	switch {
	case never || omits:
		st.Not = true
		if !omits && !t.writes.Get().MatchString(text) || more.Get().MatchString(near) {
			st.Unread = strings.TrimSpace(near)
		}
	case t.negative.Get().MatchString(text[:start]) && !t.writes.Get().MatchString(st.Before):
		st.Unread = strings.TrimSpace(text[:start])
	case t.allows.Get().MatchString(near):
		st.Unread, st.Allows = t.allows.Get().FindString(near), true
	}
	st.Unread = strings.TrimSpace(st.Unread)
	return st
}

func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > ' ' })
}

// joint is what separates the parts of a sentence; more are signs that a negation is one of
// degree.
var (
	joint = pattern.Of(`(?i)[.,;:!?]\s+|\s(?:und|et|y|e|en|aber|sondern|mais|pero|sino|ma|mas|maar)\s`)
	// French negates with two words; ownNot is the second in a bound, full others.
	ownNot = pattern.Of(`(?i)^pas `)
	full   = pattern.Of(`(?i)(?:^|\s)(?:jamais|aucun\w*|rien|sans|ni|pas)(?:$|\s)`)
	more   = pattern.Of(`(?i)(?:^|\s)(?:nur|zu viele?|seulement|uniquement|trop|solo|sólo|solamente|demasiad[oa]s|soltanto|troppi|troppe|só|apenas|somente|demais|muit[oa]s|alleen|slechts|te veel|zu oft|immer|toujours|siempre|sempre|altijd|alle|tous|toutes|todos|todas|tutti|tutte)(?:$|[\s.,;:!?)])`)
)

// foreignReads reports whether a count is demanded of the output, and turns a forbidden
// comparison into a limit; reversed says that it was forbidden.
func (s *sentence) foreignReads(b *bound, compared bool, m []string, at []int) (reversed, ok bool) {
	t := s.tongue
	// The pattern takes a blank or a comma on both sides along.
	start := at[0] + len(m[0]) - len(strings.TrimLeft(m[0], " \n\t.,;:!?"))
	end := at[1] - len(m[0]) + len(strings.TrimRight(m[0], " \n\t.,;:!?"))
	st := s.foreignStance(s.plain, start, end)
	if ownNot.Get().MatchString(m[1]) && !full.Get().MatchString(st.Before) { // ne … pas plus de
		st.Not, st.Unread = false, ""
	}
	above, below := compared && among(m[1], t.above), compared && among(m[1], t.below)
	switch {
	case st.Allows && compared && among(m[1], t.most):
		return false, true
	case st.Not && (above || below) && st.Unread == "":
		words := "more"
		if below {
			words = "less"
		}
		if b.complement(words) {
			return true, true
		}
	case st.Unread == "" && !st.Not:
		return false, true
	}
	s.refuse(delta.Quantity, "%s", needsModel(strings.TrimSpace(st.Before+" "+strings.TrimSpace(m[0])+st.After)))
	return false, false
}
