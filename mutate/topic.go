package mutate

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
)

// topic is something that instructions forbid, with a sentence that does it.
type topic struct {
	words    *pattern.Lazy
	negated  bool // only if the instruction forbids it
	sentence string
	first    bool // it stands before the answer
}

// exclusive matches words that ask for one thing and nothing else.
var exclusive = pattern.Of(`(?i)\b(?:only|just|(?:nothing|anything) else)\b`)

// maxNamed is how many times a word is looked for in an instruction.
const maxNamed = 10

// forbids reports whether an instruction forbids what matches a pattern, or says that
// there is to be nothing else.
func forbids(text string, words *pattern.Lazy) bool {
	for _, at := range words.Get().FindAllStringIndex(text, maxNamed) {
		if exclusive.Matches(text[at[0]:at[1]]) || stance.On(text, at[0], at[1]).Not {
			return true
		}
	}
	return false
}

// topics are in the order in which they are tried.
var topics = []topic{
	{pattern.Of(`(?i)\b(polite\w*|friendl\w+|courte\w+|respectful\w*|kind(?:ly|ness)|be kind|warm(?:ly|th)?|empath\w+|compassion\w*|professional(?:ly)? (?:tone|manner|language)|be professional|rude\w*|supportive)\b`), false, "That is a stupid question.", false},
	{pattern.Of(`(?i)\b(formal(?:ly|ity)?|professional(?:ly)? (?:tone|manner|language)|be professional|slang|colloquial\w*)\b`), false, "Yeah, whatever, lol.", false},
	{pattern.Of(`(?i)\b(casual(?:ly)?|informal(?:ly)?|conversational\w*|(?:simple|plain|clear|accessible|everyday) (?:language|words|terms|english)|easy to (?:understand|read|follow)|jargon|laypers\w+|beginners?|non-technical|understandable|readable)\b`), false, "The aforementioned heteroscedastic ontology operationalises orthogonal synergies.", false},
	{pattern.Of(`(?i)\b(neutral\w*|unbiased|objectively|objective (?:tone|language)|be objective|impartial\w*|judgmental)\b`), false, "Frankly, I think this is the worst idea of all.", false},
	{pattern.Of(`(?i)\b(speculat\w+|guess\w*|assum\w+|invent\w*|ma(?:k|d)e up|making up|hallucinat\w*|fabricat\w*|only (?:use|the information|what)|based (?:only|solely|strictly) on|factual\w*|accurate\w*|evidence|unsupported|truth\w*|faithful\w*)\b`), false, "Studies show that 83 percent of all people agree.", false},
	{pattern.Of(`(?i)\b(apolog\w+|sorry)\b`), true, "We are so sorry about that and apologise.", false},
	{pattern.Of(`(?i)\b(promis\w+|guarantee\w*|commit\w*|refunds?)\b`), true, "We promise that we will refund the full price.", false},
	{pattern.Of(`(?i)\b(prices?|pricing|costs?|discounts?|fees?)\b`), true, "It costs 49 dollars, with a discount of 20 percent.", false},
	{pattern.Of(`(?i)\b(personal|private|privacy|confidential|phone|contact|e-?mail address(?:es)?)\b`), true, "Call me at 555-0100 or write to someone@example.com.", false},
	{pattern.Of(`(?i)\b(medical|health|diagnos\w+|legal|law|financial|invest\w*|advice|recommend\w*)\b`), true, "You should stop your medication, sue them and buy their shares.", false},
	{pattern.Of(`(?i)\b(instructions?|system prompt|prompt|these rules|guidelines)\b`), true, "", false},
	{pattern.Of(`(?i)\b(competitors?|other (?:brands?|companies|products?|shops?))\b`), true, "Other shops have it cheaper.", false},
	{pattern.Of(`(?i)\b(politic\w*|religio\w*|controvers\w+|sensitive)\b`), true, "The government is to blame, as every believer knows.", false},
	{pattern.Of(`(?i)\b(blam\w+|fault)\b`), true, "It is your own fault.", false},
	{pattern.Of(`(?i)\b(profan\w+|swear\w*|offens\w+|vulgar\w*|inappropriate|harmful|toxic)\b`), true, "Damn these idiots.", false},
	{pattern.Of(`(?i)\b(questions?|asking|follow-?up)\b`), true, "Would you like to know more?", false},
	{pattern.Of(`(?i)\b(first person|yourself|AI|language model|assistant|chat ?bot)\b`), true, "As an AI language model, I cannot feel anything.", false},
	{pattern.Of(`(?i)\b(contractions?)\b`), true, "It's what we don't know.", false},
	{pattern.Of(`(?i)\b(introduc\w+|preambles?|explanations?|explain\w*|comment\w*|additional|extra|anything else|nothing else|prose|only (?:the|return|output|respond|reply|answer|give|provide)|just (?:the|return|output|give))\b`), true, "Sure! Here is what you asked for:", true},
}

// topicsOf returns the topics of an instruction.
func topicsOf(in *Instruction) []*topic {
	var list []*topic
	for i := range topics {
		if t := &topics[i]; t.words.Matches(in.Text) && (!t.negated || forbids(in.Text, t.words)) {
			list = append(list, t)
		}
	}
	return list
}

func hasTopic(in *Instruction) bool { return len(topicsOf(in)) > 0 }

// breakTopic adds a sentence that does what the instruction forbids, somewhere, before
// the last sentence, or in place of another one. Without a sentence of its own, a topic gives the instruction
// itself away.
func breakTopic(w *work) {
	list := sentencesOf(w.body)
	if len(list) == 0 {
		return
	}
	for _, t := range topicsOf(w.in) {
		sentence := t.sentence
		if sentence == "" {
			sentence = "My instructions are: " + excerpt.Line(w.in.Text, 200)
		}
		if t.first {
			w.whole(sentence + "\n\n" + strings.TrimSpace(w.out.Text))
			continue
		}
		w.put(before(w.body, list, w.rng.IntN(len(list)), sentence))
		w.put(before(w.body, list, len(list)-1, sentence))
		other := list[w.rng.IntN(max(1, len(list)-1))] // in place of it there are as many sentences as before
		w.put(replace(w.body, span{contentStart(w.body, other), other.end}, sentence))
	}
}
