package lint

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/pattern"
)

// Vague words. They are reported only if the verdict depends on them alone, not if the
// sentence then defines them.
const (
	vagueAdjective = `(?:good|bad|nice|great|decent|appropriate|inappropriate|proper|suitable|adequate|acceptable|reasonable|sensible|satisfactory|sufficient|high[- ]quality|excellent|effective|meaningful|well[- ](?:written|formed|structured|crafted|phrased|done)|user[- ]friendly|natural[- ]sounding|helpful|useful|relevant|engaging|compelling|interesting|informative|okay|ok|fine)`
	// subjectiveAdjective expresses an opinion about a text as a whole, not about its
	// content.
	subjectiveAdjective = `(?:professional|concise|clear|simple|friendly|natural|detailed|comprehensive|thorough|modern|clean|polished|creative|elegant|attractive|readable|understandable|easy to (?:understand|read|follow|use))`
	forWhom             = `(?:\s+for\s+(?:(?:the|a|an|all|most|young|its|general|our)\s+)*(?:beginners?|children|kids|adults?|experts?|audiences?|readers?|users?|professionals?|students?|learners?|customers?|everyone|everybody|ages))`
	vagueAdverb         = `(?:appropriately|properly|adequately|well|nicely|reasonably|suitably|sufficiently|effectively|as (?:needed|appropriate|necessary|required)|(?:if|where|when) (?:appropriate|needed|necessary|applicable|possible))`
	ownNoun             = `(?:response|output|answer|reply|text|tone|style|quality|length|manner|way|format|formatting|structure|wording|language|summary|level of detail|detail|details|grammar|explanation|information)`
)

const vagueOrSubjective = `(?:` + vagueAdjective + `|` + subjectiveAdjective + `)`

var vaguePatterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		// "the tone is appropriate", "the answer is very good and reasonable"
		regexp.MustCompile(`\b(?:is|are|be|been|seems?|sounds?|looks?|reads?|feels?|remains?)\s+(?:\w+ly\s+|very\s+|quite\s+|of\s+|both\s+)*` + vagueOrSubjective + `(?:\s+and\s+\w+)?(?:\s+in\s+(?:tone|style|nature|manner|wording))?` + forWhom + `?\s*[.!?]?$`),
		regexp.MustCompile(`\bof\s+(?:a\s+)?(?:high|good|sufficient|professional)\s+(?:quality|standard)\s*[.!?]?$`),
		// "uses an appropriate tone", "gives a good answer"
		regexp.MustCompile(`\b` + vagueOrSubjective + `\s+` + ownNoun + `\s*[.!?]?$`),
		regexp.MustCompile(`^(?:\W*(?:a|an|the)\s+)?` + vagueAdjective + `\s+` + ownNoun + `s?\s*[.!?]?$`),
		regexp.MustCompile(`^(?:is|are|was|were)\s+(?:the|its|this|that)\s+\w+\s+(?:\w+ly\s+|very\s+|quite\s+)*` + vagueAdjective + `\s*[.!?]?$`),
		regexp.MustCompile(`^\W*(?:is\s+)?(?:very\s+)?` + vagueAdjective + `\s*[.!?]?$`),
		// "is formatted properly"
		regexp.MustCompile(`\b` + vagueAdverb + `\s*[.!?]?$`),
		// "not too long", "short enough"
		regexp.MustCompile(`\b(?:too (?:long|short|much|many|detailed|brief|verbose|technical|formal|informal)|(?:long|short|detailed|brief|clear|good|simple|concise|polite|formal) enough)\s*[.!?]?$`),
		// an open list
		regexp.MustCompile(`\b(?:etc\b\.?|and so on\b|and the like\b)`),
	}
})

const (
	vagueWhy   = "%q leaves it to the judge what is meant"
	vagueWrite = "what one would see in the output, such as \"addresses the reader as Sie\""
)

// findVague finds criteria whose verdict depends on a vague word.
func findVague(text string) (message, suggestion string) {
	words := strings.TrimSpace(plainWords(text))
	for _, re := range vaguePatterns() {
		if at := re.FindStringIndex(words); at != nil && !reported(words[:at[0]]) {
			return fmt.Sprintf(vagueWhy, strings.Trim(words[at[0]:at[1]], " .!?")), vagueWrite
		}
	}
	if at := foreignVague(text); at != "" {
		return fmt.Sprintf(vagueWhy, at), vagueWrite
	}
	return "", ""
}

// Verbs that begin a second question after "and". A verb that is also a noun counts only
// before a word that cannot follow a noun.
const (
	sureVerb  = `(?:is|are|was|were|has|does|do|did|must|should|shall|will|can|cannot|may|doesn't|isn't|contains|includes|avoids|gives|provides|explains|keeps|stays|remains|refers|follows|begins|tells|says|addresses the|mentions|suggests|recommends|recommend|identifies|describes|does not|never|also)`
	maybeVerb = `(?:states|cites|names|lists|asks|answers|uses|offers|ends|starts|quotes|links|shows|makes|writes|apologi[sz]es|thanks|closes|greets|summari[sz]es|corrects|repeats|addresses|supports|covers|notes|marks|requests|sounds|reads|directs|invites|confirms|signs|warns|opens|refuses|promises|thanks|advises|reminds|returns|escalates)`
	afterVerb = `(?:the|a|an|its|their|his|her|each|every|all|any|no|at|in|with|that|what|how|why|when|where|which|whether|for|to|on|by|about|only|one|two|three|it|them|this|these|you|your|user|customers?|polite\w*|clear\w*|short|formal)`
)

var secondQuestion = pattern.Of(`(?:,|;)?\s(?:and|as well as|but)\s(?:also\s+|then\s+|it\s+|the (?:output|response|answer|reply|agent)\s+)?(?:` + sureVerb + `|` + maybeVerb + `\s` + afterVerb + `|uses\s+\w+\s+(?:spelling|language|words|sentences|terms|units|tense|voice|format)|[a-z]{3,}s\s(?:the|a|an|its|his|her|their|your|any|no|how|why|whether))\b` +
	`|\sas well as\s(?:[a-z]{3,}ing|` + quality + `)\b`)

// secondClause matches a second question with its own subject.
var secondClause = pattern.Of(`,?\s(?:and|but)\s(?:the|its|their|every|each|all|no)\s(?:\w+\s){1,3}?(?:is|are|has|have|was|were|does|must|should)\b`)

// sureFirst matches the first of two questions if the second has its own subject.
var sureFirst = pattern.Of(`\b(?:` + sureVerb + `|` + maybeVerb + `\s` + afterVerb + `)\b`)

// finiteVerb matches the first of two questions.
var finiteVerb = pattern.Of(`\b(?:` + sureVerb + `|` + maybeVerb + `)\b`)

// subordinate matches the beginning of a clause in which "and" joins conditions, not
// questions.
var subordinate = pattern.Of(`\b(?:if|when|whenever|where|wherever|unless|until|while|before|after|because|so|that|which|who|whose|what|how|why|whether|both|either|as|than|between)\b`)

// quality matches an adjective that is judged on its own.
const quality = `(?:polite|friendly|concise|clear|accurate|helpful|complete|correct|formal|informal|professional|relevant|short|brief|empathetic|honest|neutral|specific|consistent|truthful|factual|respectful|warm|readable|understandable|engaging|actionable|safe|unbiased|coherent|comprehensive)`

// twoQualities matches two adjectives that are judged separately.
var twoQualities = pattern.Of(`\b(?:is|are|be|remains?|stays?|sounds?)\s+(?:both\s+)?(?:\w+ly\s+)?` + quality + `(?:,\s+(?:\w+ly\s+)?` + quality + `)*,?\s+and\s+(?:\w+ly\s+)?` + quality + `\b`)

// findTwoQuestions finds criteria that ask two things at once.
func findTwoQuestions(text string) (message, suggestion string) {
	const why = "the criterion asks two things, so that its verdict does not say which one failed: %q"
	const split = "one criterion for each"
	words := plainWords(text)
	if at := twoQualities.Get().FindString(words); at != "" {
		return fmt.Sprintf(why, at), split
	}
	for _, m := range secondClause.Get().FindAllStringIndex(words, -1) {
		clause := words[clauseStart(words, m[0]):m[0]]
		if sureFirst.Matches(clause) && !subordinate.Matches(clause) {
			return fmt.Sprintf(why, strings.TrimSpace(strings.Trim(words[m[0]:m[1]], " ,;"))), split
		}
	}
	for _, m := range secondQuestion.Get().FindAllStringIndex(words, -1) {
		clause := words[clauseStart(words, m[0]):m[0]]
		if !finiteVerb.Matches(clause) || subordinate.Matches(clause) {
			continue
		}
		return fmt.Sprintf(why, strings.TrimSpace(strings.Trim(words[m[0]:m[1]], " ,;"))), split
	}
	return "", ""
}

// clauseStart returns the start of the clause before end: after the previous sentence, or
// after a comma that ends a condition.
func clauseStart(words string, end int) int {
	return 1 + max(strings.LastIndexAny(words[:end], ".;:!?"), lastComma(words, end))
}

// lastComma returns the last comma that ends a condition, such as "if the input
// is a question,"; -1 if there is none.
func lastComma(words string, end int) int {
	i := strings.LastIndexByte(words[:end], ',')
	if i < 0 || !subordinate.Matches(words[:i]) {
		return -1
	}
	return i
}

// unseenDocument matches a comparison with a document.
var unseenDocument = sync.OnceValue(func() *regexp.Regexp {
	const relation = `(?:same(?:\s+\w+){0,3}\s+as(?:\s+in|\s+those\s+(?:in|of)|\s+that\s+of)?|(?:agrees?|comply|complies|consistent|in\s+line|in\s+accordance|in\s+agreement)\s+with|conforms?\s+to|adheres?\s+to|sticks?\s+to|follows?|match(?:es)?|according\s+to|as\s+(?:\w+\s+)?(?:in|per|by)|(?:the\s+ones?|those|that)\s+(?:in|of|from)|based\s+on|taken\s+from|violates?|contradicts?|in\s+the\s+order\s+of)`
	const document = `(?:handbooks?|manuals?|style\s+guides?|guidelines?|polic(?:y|ies)|terms\s+and\s+conditions|terms\s+of\s+(?:use|service)|catalog(?:ue)?s?|price\s+lists?|attached\s+\w+|attachments?|knowledge\s+base|documentation|faqs?|specifications?|wiki|playbooks?|contracts?|glossar(?:y|ies)|templates?|source\s+documents?|reference\s+(?:text|answer|document)s?|database)`
	return regexp.MustCompile(`\b` + relation + `\s+(?:the|our|your|its|their|this|that|a|an)\s+(?:[\w'-]+\s+){0,2}?` + document + `\b`)
})

// shownText matches the names of texts that the judge sees, and quoted texts.
var shownText = pattern.Of(`\b(?:inputs?|prompt|conversation|context|question|message|instructions?|request)\b|quoted`)

// reportedSpeech matches the beginning of reported speech. Such a clause is about what
// the output says, not about the output itself.
var reportedSpeech = pattern.Of(`\b(?:says?|saying|states?|mentions?|explains?|explaining|confirms?|notes?|claims?|tells?|asks?|asking|warns?|promises?|denies|describes?|answers?)\s+(?:\S+\s+){0,4}?(?:that|what|whether|how|why|where|when|if|which)\b`)

// reported reports whether the text before a match begins reported speech.
func reported(before string) bool { return reportedSpeech.Matches(before) }

// findUnseen finds criteria that compare with a document that the judge does not see.
func findUnseen(text string) (message, suggestion string) {
	words := plainWords(text)
	at := unseenDocument().FindStringIndex(words)
	if at == nil || shownText.Matches(strings.ToLower(words)) || reported(words[:at[0]]) {
		return "", ""
	}
	return fmt.Sprintf("the judge sees the input and the output only, and not what %q is about unless the input holds it", words[at[0]:at[1]]),
		"what the document says, or put its text into the input and write \"as the input says\""
}
