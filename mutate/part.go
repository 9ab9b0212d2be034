package mutate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
)

// emptyWords are words in instructions that do not identify a part of an output.
const emptyWords = " about above after again all also always and answer answers any are ask asks before begin below best between both but can could does each end every example following for form format from generate give given good has have her here him his how include includes including into its keep least list make makes must need needs never not note only other our output outputs over part please possible provide response should show some sure text than that the their them then there these they this through use used uses using well what when where which while who will with within without word words would write you your "

// contentWords returns the stems of the words in a text that name something.
func contentWords(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if runes := []rune(word); len(runes) >= 4 && !strings.Contains(emptyWords, " "+word+" ") {
			words[string(runes[:min(len(runes), 5)])] = true
		}
	}
	return words
}

var (
	partLead = pattern.Of(`(?i)^\W*(?:(?:please|always|also|and|finally|then)\W+)*(?:add|include|mention|give|name|state|list|provide|recommend|thank|offer|suggest|report|ask for|tell (?:the )?(?:customer|user))\b`)
	partRisk = pattern.Of(`(?i)\b(?:if|when\w*|unless|where|while|only|not|no|never|without|except\w*|but|or|either|any|some|one of|at least|at most|more|less|in|as|for|with|before|after|first|last|instead|because|why|how)\b|\d|["“„«]`)
)

// wantsPart reports whether an instruction plainly demands a part somewhere in the output.
func wantsPart(in *Instruction) bool {
	switch in.Category {
	case delta.Inclusion, delta.WorkflowDescription, delta.ResponseFormat:
		return partLead.Matches(in.Text) && !partRisk.Matches(in.Text) && len(contentWords(in.Text)) > 0
	}
	return false
}

// dropPart removes the section, the list item, the line and the sentence, each in its own
// mutant, that share the most words with the instruction: at least two, or half of the
// instruction's words.
func dropPart(w *work) {
	words := contentWords(w.in.Text)
	for _, parts := range [][]span{sectionsOf(w.body), itemsOf(w.body), linesOf(w.body), sentencesOf(w.body)} {
		if len(parts) < 2 {
			continue
		}
		best, most := span{}, 0
		for _, p := range parts {
			shared := 0
			for word := range contentWords(p.of(w.body)) {
				if words[word] {
					shared++
				}
			}
			if shared > most && (shared > 1 || 2*shared >= len(words)) && 2*(p.end-p.start) < len(w.body) {
				best, most = p, shared
			}
		}
		if most > 0 {
			left := strings.TrimSpace(removeLine(w.body, best))
			if !shares(contentWords(left), words) {
				w.put(left)
			}
		}
	}
}

// sectionsOf returns the sections of a text: a heading, a bold line or a line that ends in
// a colon, with the text below it.
func sectionsOf(text string) []span {
	var list []span
	for _, line := range linesOf(text) {
		if isHeading(line.of(text)) {
			list = append(list, span{line.start, len(text)})
		}
	}
	for i := 1; i < len(list); i++ {
		list[i-1].end = list[i].start
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return list
}

func isHeading(line string) bool {
	return strings.HasPrefix(line, "#") && marker(line) > 0 ||
		len(line) <= 80 && (strings.HasSuffix(line, ":") || strings.HasPrefix(line, "**") && (strings.HasSuffix(line, "**") || strings.HasSuffix(line, ":**")))
}

func shares(a, b map[string]bool) bool {
	for word := range a {
		if b[word] {
			return true
		}
	}
	return false
}
