package lint

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// unseenDocument matches a comparison with a document.
var unseenDocument = sync.OnceValue(func() *regexp.Regexp {
	const relation = `(?:same(?:\s+\w+){0,3}\s+as(?:\s+in|\s+those\s+(?:in|of)|\s+that\s+of)?|(?:agrees?|comply|complies|consistent|in\s+line|in\s+accordance|in\s+agreement)\s+with|conforms?\s+to|adheres?\s+to|sticks?\s+to|follows?|match(?:es)?|according\s+to|as\s+(?:\w+\s+)?(?:in|per|by)|(?:the\s+ones?|those|that)\s+(?:in|of|from)|based\s+on|taken\s+from|violates?|contradicts?|in\s+the\s+order\s+of)`
	const document = `(?:handbooks?|manuals?|style\s+guides?|guidelines?|polic(?:y|ies)|terms\s+and\s+conditions|terms\s+of\s+(?:use|service)|catalog(?:ue)?s?|price\s+lists?|attached\s+\w+|attachments?|knowledge\s+base|documentation|faqs?|specifications?|wiki|playbooks?|contracts?|glossar(?:y|ies)|templates?|source\s+documents?|reference\s+(?:text|answer|document)s?|database)`
	return regexp.MustCompile(`\b` + relation + `\s+(?:the|our|your|its|their|this|that|a|an)\s+(?:[\w'-]+\s+){0,2}?` + document + `\b`)
})

// shownText matches the names of texts that the judge sees, and quoted texts.
var shownText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:inputs?|prompt|conversation|context|question|message|instructions?|request)\b|quoted`)
})

// reportedSpeech matches the beginning of reported speech: the clause is about what the
// output says, not about the output itself.
var reportedSpeech = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:says?|saying|states?|mentions?|explains?|explaining|confirms?|notes?|claims?|tells?|asks?|asking|warns?|promises?|denies|describes?|answers?)\s+(?:\S+\s+){0,4}?(?:that|what|whether|how|why|where|when|if|which)\b`)
})

// reported reports whether the text before a match begins such a clause.
func reported(before string) bool { return reportedSpeech().MatchString(before) }

// findUnseen finds criteria that compare with a document that the judge does not see.
func findUnseen(text string) (message, suggestion string) {
	words := plainWords(text)
	at := unseenDocument().FindStringIndex(words)
	if at == nil || shownText().MatchString(strings.ToLower(words)) || reported(words[:at[0]]) {
		return "", ""
	}
	return fmt.Sprintf("the judge sees the input and the output only, and not what %q is about unless the input holds it", words[at[0]:at[1]]),
		"what the document says, or put its text into the input and write \"as the input says\""
}
