package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
	"github.com/proviso-eval/proviso/spade/delta"
)

// The words around a thing that the rules check besides its stance.
var (
	describing  = pattern.Of(`(?i)\b(?:often|usually|sometimes|typically|generally|commonly|frequently|normally|tends? to|likes? to|(?:is|are|was|were|am|been) (?:also )?(?:called|named|titled|known|labell?ed|defined|said|referred|written|spelled|pronounced)|known as|refers? to|stands? for|also called|means|say(?:s|ing) that|calls? (?:it|them|this|us)|asked|said|wrote|used to)\b`)
	modalWords  = pattern.Of(`(?i)\b(?:must|should|shall|has to|have to|needs? to|ought to|required to|is to|are to)\b`)
	oftenWords  = pattern.Of(`(?i)\b(?:once|twice|thrice|(?:\d+|one|two|three|four|five|six|seven|ten|several|many|multiple|a few|more|fewer) times?|one time|a single time|only time)\b`)
	onceAtLeast = pattern.Of(`(?i)\bat least (?:once|one time|twice|\w+ times)\b`)
	giveExample = pattern.Of(`(?i)(?:\b(?:such as|like|for example|for instance|similar to|for inspiration|say,|think of|along the lines of|something in the style of)|\be\.\s?g\.?|\bi\.\s?e\.|\beg)\W*(?:[^.;]{0,40})$`)
	endExample  = pattern.Of(`(?i)^\W*(?:for example|for instance|etc|and so on|and the like|or (?:similar|something|the like|equivalent|so|comparable|any|another|other)|e\.\s?g\.)`)
	demand      = pattern.Of(`(?i)(?:^\W*|[,:;(—–.!?]\s*|\b(?:and|then|to|please|always|also|or|but|just|only|simply|first|finally|instead|that you|you)\s+)(?:` + stance.ProduceVerbs + `|sign off|summari[sz]e|explain|ask|thank|keep|make|refer|address|introduce|write|describe)\b`)
)

// masked returns a text with NUL in place of each quoted phrase and its marks, because the
// words of a phrase are not words of the sentence.
func masked(text string) string {
	out := []byte(text)
	for _, m := range quotedPattern.Get().FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(m); i += 2 {
			if m[i] < 0 {
				continue
			}
			_, left := utf8.DecodeLastRuneInString(text[:m[i]])
			_, right := utf8.DecodeRuneInString(text[m[i+1]:])
			for at := m[i] - left; at < m[i+1]+right; at++ {
				out[at] = 0
			}
		}
	}
	return string(out)
}

// needsModel returns the reason why nothing is proposed for words that the rules do not read.
func needsModel(words string) string {
	return "the rules do not understand “" + short(words) + "” well enough: a model is needed (--model)"
}

// foreignStance reads the stance of a sentence in another language on the text between two
// offsets. In many languages a second negation does not reverse the meaning, so only a
// negation with a word of omission counts as a double one. The rules do not know where a
// language puts its verb, or how far a negation reaches: a forbidding word has to be in the
// same part of the sentence, between conjunctions and punctuation, or there must be none at
// all.
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
		// Only if the words of omission are in this part or start the sentence.
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

// joint separates the parts of a sentence; more indicates that a negation only limits a
// degree.
var (
	joint = pattern.Of(`(?i)[.,;:!?]\s+|\s(?:und|et|y|e|en|aber|sondern|mais|pero|sino|ma|mas|maar)\s`)
	// French negates with two words; ownNot matches the second one in a bound, full matches
	// others.
	ownNot = pattern.Of(`(?i)^pas `)
	full   = pattern.Of(`(?i)(?:^|\s)(?:jamais|aucun\w*|rien|sans|ni|pas)(?:$|\s)`)
	more   = pattern.Of(`(?i)(?:^|\s)(?:nur|zu viele?|seulement|uniquement|trop|solo|sólo|solamente|demasiad[oa]s|soltanto|troppi|troppe|só|apenas|somente|demais|muit[oa]s|alleen|slechts|te veel|zu oft|immer|toujours|siempre|sempre|altijd|alle|tous|toutes|todos|todas|tutti|tutte)(?:$|[\s.,;:!?)])`)
)

// foreignReads reports whether a count is required of the output, and converts a forbidden
// comparison into a limit; reversed means that the count was forbidden.
func (s *sentence) foreignReads(b *bound, compared bool, m []string, at []int) (reversed, ok bool) {
	t := s.tongue
	// The match includes a space or a comma on both sides.
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
