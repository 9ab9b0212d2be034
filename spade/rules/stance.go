package rules

import (
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
)

// The words around a thing that the rules look for besides its stance.
var (
	describing  = pattern.Of(`(?i)\b(?:often|usually|sometimes|typically|generally|commonly|frequently|normally|tends? to|likes? to|(?:is|are|was|were|am|been) (?:also )?(?:called|named|titled|known|labell?ed|defined|said|referred|written|spelled|pronounced)|known as|refers? to|stands? for|also called|means|say(?:s|ing) that|calls? (?:it|them|this|us)|asked|said|wrote|used to)\b`)
	modalWords  = pattern.Of(`(?i)\b(?:must|should|shall|has to|have to|needs? to|ought to|required to|is to|are to)\b`)
	oftenWords  = pattern.Of(`(?i)\b(?:once|twice|thrice|(?:\d+|one|two|three|four|five|six|seven|ten|several|many|multiple|a few|more|fewer) times?|one time|a single time|only time)\b`)
	onceAtLeast = pattern.Of(`(?i)\bat least (?:once|one time|twice|\w+ times)\b`)
	giveExample = pattern.Of(`(?i)(?:\b(?:such as|like|for example|for instance|similar to|for inspiration|say,|think of|along the lines of|something in the style of)|\be\.\s?g\.?|\bi\.\s?e\.|\beg)\W*(?:[^.;]{0,40})$`)
	endExample  = pattern.Of(`(?i)^\W*(?:for example|for instance|etc|and so on|and the like|or (?:similar|something|the like|equivalent|so|comparable|any|another|other)|e\.\s?g\.)`)
	demand      = pattern.Of(`(?i)(?:^\W*|[,:;(—–.!?]\s*|\b(?:and|then|to|please|always|also|or|but|just|only|simply|first|finally|instead|that you|you)\s+)(?:` + stance.ProduceVerbs + `|sign off|summari[sz]e|explain|ask|thank|keep|make|refer|address|introduce|write|describe)\b`)
)

// masked is a text with NUL in place of each quoted phrase and its marks: what a phrase
// says is no word of the sentence.
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

// needsModel is why nothing is proposed for words that the rules do not read.
func needsModel(words string) string {
	return "the rules do not understand “" + short(words) + "” well enough: a model is needed (--model)"
}
