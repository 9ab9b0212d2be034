package coverage

import "github.com/proviso-eval/proviso/internal/pattern"

// terse are instructions without a word that tells the rules a topic: "No preamble.", "Code
// only.", "One sentence.", "Stay on topic.", "Language: English.".
var terse = []*pattern.Lazy{
	pattern.Of(`(?i)^no [\w'’/-]+(?: [\w'’/-]+|(?:, [\w'’/-]+)*,? (?:or|and) (?:no )?[\w'’/-]+)?\W*$`),
	pattern.Of(`(?i)^(?:[\w'’/-]+ ){1,4}only\W*$|^only (?:[\w'’/-]+ ){0,4}[\w'’/-]+\W*$`),
	pattern.Of(`(?i)^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+)(?: (?:short|brief|single|or|to|two|three|four|five|\d+))* (?:words?|sentences?|paragraphs?|lines?|bullets?|bullet points?|points?|items?|characters?|questions?)(?: (?:max(?:imum)?|at most|each|per \w+))?\W*$`),
	pattern.Of(`(?i)^(?:language|length|format|tone|style|voice|register|audience|spelling|limit|length limit|units?|currency|tense) ?: ?\S`),
	pattern.Of(`(?i)^\W*(?:(?:please|always|then|also|and|only|just) )*(?:answer|stay|stick|sign|skip|leave|drop|be|limit|spell|indent|wrap|attach|sound|prefix|prefer|capitali[sz]e) \S`),
}

// silent are sentences that ask for nothing, though a word in them has a topic: thanks, a
// greeting, a wish and a permission.
var silent = []*pattern.Lazy{
	pattern.Of(`(?i)^\W*(?:thank you|thanks|many thanks|good luck|hello|hi|welcome|no (?:problem|worries|pressure|rush|hurry)|well done|great)(?: (?:so|very) much| a lot| in advance| again| there| everyone| all)?\W*$`),
	pattern.Of(`(?i)^(?:[\w'’-]+ ){1,5}(?:is|are) (?:(?:also|always|very|perfectly) )?(?:welcome|allowed|fine|okay|ok|optional|permitted|acceptable)\W*$`),
}

func anyOf(list []*pattern.Lazy, text string) bool {
	for _, p := range list {
		if p.Get().MatchString(text) {
			return true
		}
	}
	return false
}
