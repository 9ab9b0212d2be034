// Package stance reads whether a sentence of a prompt demands a thing that it names,
// forbids it, or neither. It reads English, and says where it does not understand:
// checking the opposite of the demand would be worse than no check. Start at [On].
package stance

import (
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
)

// Stance is what a clause demands about one thing that it names. If Unread is set, the
// clause combines words in a way that this package does not understand, and whether it
// demands or forbids is unknown.
type Stance struct {
	Not           bool   // the thing is forbidden
	Unread        string // the words that are not understood
	Allows        bool   // Unread is set because the thing is optional
	Or            bool   // the clause is one of several alternatives
	Before, After string // the clause around the thing
}

// The words that change what a clause demands.
var (
	notWords  = pattern.Of(`(?i)\b(?:not|never|no|none|nothing|nobody|nowhere|neither|nor|cannot|dont|forbidden|prohibited|banned|disallowed|unacceptable)\b|\w+n['’]t\b`)
	omitWords = pattern.Of(`(?i)\b(?:avoid\w*|without|refrain\w*|exclud\w+|omit\w*|leav\w+ (?:\S+ ){0,4}?(?:out|off|away)|left (?:out|off|away)|instead of|rather than|remov\w+|free (?:of|from)|skip\w*|drop(?:s|ped|ping)?|delet\w+)\b` +
		`|\b(?:forget\w*|forgot\w*|fail(?:s|ed|ing)?|lack\w*|miss(?:es|ed|ing)?|neglect\w*|hesitat\w+|stop\w*|forbid\w*|prohibit\w*|prevent\w*|abstain\w*|eliminat\w+|strip\w*|ignor\w+|withhold\w*|devoid|shun\w*|overlook\w*|den(?:y|ies|ied)|refus\w+|steer clear|stay away|leave)\b`)
	// plainOmit matches the words of omission that forbid on their own.
	plainOmit   = pattern.Of(`(?i)^(?:avoid|without|refrain|exclud|omit|leav\w+ .*(?:out|off|away)$|left (?:out|off|away)|instead of|rather than|remov|free (?:of|from)$)`)
	idleNot     = pattern.Of(`(?i)\b(?:no matter|no later than|whether or not|no doubt|if not)\b`)
	exceptWords = pattern.Of(`(?i)\b(?:except\w*|other than|(?:any|no|every|some)thing (?:but|else|other)|(?:all|none|nothing|anything|everything|any \w+) but|no \w+ but|nothing else|else|hardly|rarely|seldom|barely|sparingly|apart from|aside from|besides|save for|unless|not only|not just|not merely|not simply|not always|not necessarily)\b`)
	permitWords = pattern.Of(`(?i)\b(?:may|can|could|might|feel free|free to|(?:is|it['’]s|are|be|also) (?:fine|ok|okay|acceptable|possible|optional|good|alright|all right|welcome)|(?:fine|ok|okay|acceptable) to|allow\w*|permit\w*|permissible|optional(?:ly)?|consider|welcome to|at your discretion|prefer(?:ably|red)?|ideally|if you like|tolerat\w+)\b`)
	needless    = pattern.Of(`(?i)\b(?:no need|need not|needn['’]t|(?:not|n['’]t) (?:have to|need|required?|necessar\w+|mandatory|obligat\w+|oblig\w+|compulsory|essential|a must|worry|mind|be afraid|limit\w*|restrict\w*|bound|forced)|nor (?:have to|need))\b`)
	degreeWords = pattern.Of(`(?i)\b(?:only|just|merely|solely|simply|alone|always|necessarily|all|every\w*|both|too|many|much|more|most|less|fewer|few|several|multiple|excessive\w*|overly|overus\w*|again|until|before|need\w*|ha(?:ve|s) to|requir\w+|unnecessar\w*|consecutive|nested|same|different|anything|something|everything|else|longer|shorter|over|under|but|plain|twice|once|times|exactly|about|at (?:least|most))\b`)
	otherPeople = pattern.Of(`(?i)^\W*(?:(?:the|a|an|our|your|most|many|some|all|these|those|my|few|other|one|each|every|any|and|but)\s+)*(?:[a-z-]+\s+)?(?:users?|customers?|clients?|people|visitors?|readers?|callers?|patients?|students?|employees?|buyers?|guests?|they|he|she|we|i|competitors?|authors?|persons?|everyone|somebody|someone|products?|company|companies|shops?|stores?|apps?|compan(?:y|ies)|inputs?|questions?|transcripts?|tickets?|documents?|articles?|requests?|quer(?:y|ies))\s+(?:\w|\x00)`)
	produces    = pattern.Of(`(?i)^\W*(?:(?:ever|please|be|in (?:your|the|any) \w+|at any \w+|explicitly|directly|to|from|circumstances|case|time|account|means|you|the|model|assistant|output|answer|response|should|must)\W+)*(?:(?:` + ProduceVerbs + `)\b|(?:a|an|any|the|words?|phrases?|terms?|expressions?|such|[a-z]+ing)?\s*(?:words?|phrases?|terms?|expressions?|names?)\b|$)`)
	direct      = pattern.Of(`(?i)^\W*(?:(?:any|the|a|an|of|all|these|those|words?|phrases?|terms?|expressions?|like|such as|use|using|kinds?|forms?|type|types|or|and|nor|as)\W+)*$`)
	afterBad    = pattern.Of(`(?i)\b(?:if|when|whenever|for|as|so|that|which|while|more|less|longer|shorter|before|after|until|twice|once|times|to|with|of|on|at|where|about|together|inside|between|in|only|alone|both|by|than|but|from|directly|instead|who|must|should|may|can|is|are|has|have|first|initially|again|immediately|yet|too often|right)\b`)
	afterFine   = pattern.Of(`(?i)\b(?:at all|at any (?:time|point)|in any (?:way|form|case|circumstances?)|of any kind|(?:anywhere )?(?:in|from|to|of) (?:(?:any|the|your|its|all|a|an|our|this)\s+(?:of (?:the|your)\s+)?)?(?:final |whole |entire )?(?:answers?|response|responses|reply|replies|outputs?|results?|messages?|texts?|e-?mails?|letters?|story|poem|posts?|tweets?|reports?|summary)|(?:to|with) (?:the |our |a )?(?:customers?|users?|clients?|readers?))\b`)
	boundary    = pattern.Of(`(?i)(\s*[.!?;,:—–-]+\s+(?:(?:and|but|then|or|so|nor)\s+)?|\s(?:and|but|then|or|nor)\s+)` + adverbs +
		`((?:never|do not|don['’]t|does not|must not|mustn['’]t|should not|cannot|can['’]t|avoid|refrain|no|neither|and without|omit|exclude)\b` +
		`|(?:` + ProduceVerbs + `|keep|make|ask|be|ensure|limit|summari[sz]e|explain|remember|thank|translate|stay|do)\s` +
		`|(?:it|you|they|this|(?:the|your|all|each|every|its) [a-z-]+(?: [a-z-]+)?) (?:must|should|shall|has to|have to|needs to|may|can|cannot|is|are|does|do)\b)`)
	onlyNot = pattern.Of(`(?i)^\W*(?:(?:never|ever|not|please|don['’]t|do|(?:under|in|by|at|on) no \w+|no)\W*)+$|\b(?:not|never|n['’]t),`)
	// choices match an "or", or a word that goes with one, before or after the named
	// thing.
	choiceBefore = pattern.Of(`(?i)\b(?:either|or|oder|entweder|ou|soit|bien)\s+(?:(?:a|an|the|in|as|with|use|\d+|eine?|un|une)\s+)*$`)
	choiceAfter  = pattern.Of(`(?i)^\s*,?\s*(?:or|oder|ou)\s`)
	orVerb       = pattern.Of(`(?i)\b(?:or|nor)\s+(?:even\s+)?[a-z]+`)
)

// ProduceVerbs are the verbs for what an output contains or does.
const ProduceVerbs = `use|using|say|saying|write|writing|includ(?:e|ing)|mention(?:ing)?|contain(?:ing)?|state|stating|add(?:ing)?|put(?:ting)?|print(?:ing)?|output(?:ting)?|cit(?:e|ing)|giv(?:e|ing)|return(?:ing)?|answer(?:ing)?|respond(?:ing)?|reply(?:ing)?|start(?:ing)?|begin(?:ning)?|open(?:ing)?|end(?:ing)?|finish(?:ing)?|clos(?:e|ing)|conclud(?:e|ing)|call|quote|insert(?:ing)?|generate|generating|creat(?:e|ing)|produc(?:e|ing)|provid(?:e|ing)|offer|employ(?:ing)?|utter|have|having|tell(?:ing)?|describe|nam(?:e|ing)|prefac(?:e|ing)|prefix|sign|present|format(?:ting)?|return|show(?:ing)?|display|greet|apologi[sz]e|speak|label|head|title|list|render|wrap|structure|make use of`

// adverbs matches words that may stand between a conjunction and its verb.
const adverbs = `(?:(?:please|always|instead|then|just|only|rather|also|simply|finally|first|next|you|but|and)\s+)*`

// IsOr reports whether a word is a conjunction of alternatives.
func IsOr(word string) bool {
	switch strings.ToLower(strings.Trim(word, " ,;.\n\t")) {
	case "or", "oder", "ou", "o", "of":
		return true
	}
	return false
}

// On reads the clause around text[start:end].
func On(text string, start, end int) Stance {
	st := clauseAround(text, start, end)
	if st.Unread != "" {
		return st
	}
	before := idleNot.Get().ReplaceAllString(st.Before, " ")
	clause := before + " \x00 " + st.After
	nots, omits := Negations(before)
	switch {
	case exceptWords.Get().MatchString(clause):
		st.Unread = exceptWords.Get().FindString(clause)
	case needless.Get().MatchString(clause):
		st.Unread = needless.Get().FindString(clause)
	case nots+len(omits) > 1:
		st.Unread = strings.Join(negatingWords(before), " … ")
	case otherPeople.Get().MatchString(before):
		st.Unread = strings.TrimSpace(before)
	case nots+len(omits) == 1:
		st.Not = true
		if len(omits) == 1 && !plainOmit.Get().MatchString(omits[0]) {
			st.Unread = omits[0]
		}
	case Permission(before) != "":
		st.Unread, st.Allows = Permission(before), true
	}
	return st
}

// clauseAround finds the clause around text[start:end]. A clause ends where a conjunction
// or punctuation is followed by a verb or a forbidding word.
func clauseAround(text string, start, end int) (st Stance) {
	from, to, forbade, or := 0, len(text), false, false
	for _, m := range boundary.Get().FindAllStringSubmatchIndex(text, -1) {
		next := m[4]
		if next > start {
			if m[2] >= end {
				to = m[2]
				or = or || IsOr(text[m[2]:m[3]])
				break
			}
			continue
		}
		clause := text[from:m[2]]
		if nots, omits := Negations(clause); nots+len(omits) == 0 {
			from, or = next, IsOr(text[m[2]:m[3]])
			continue
		}
		joint := strings.ToLower(strings.TrimSpace(text[m[2]:m[3]]))
		either := IsOr(joint)
		again := notWords.Get().MatchString(text[next:m[5]]) || omitWords.Get().MatchString(text[next:m[5]])
		switch {
		case onlyNot.Get().MatchString(clause), either && !again:
			continue
		case either && omitWords.Get().MatchString(text[next:m[5]]), !again && (joint == "and" || joint == "then"):
			forbade = true
		case !again && orVerb.Get().MatchString(text[m[5]:]) && !strings.ContainsAny(joint, ";.!?"):
			forbade = true
		default:
			forbade = false
		}
		from = next
	}
	st = Stance{Or: or, Before: text[from:start], After: text[end:max(end, to)]}
	if forbade {
		st.Unread = strings.TrimSpace(text[:start])
	}
	return st
}

// Negations counts the negating words and returns the words of omission; a "nor" belongs
// to the negation before it.
func Negations(text string) (nots int, omits []string) {
	for _, w := range notWords.Get().FindAllString(text, -1) {
		if !strings.EqualFold(w, "nor") || nots == 0 {
			nots++
		}
	}
	return nots, omitWords.Get().FindAllString(text, -1)
}

func negatingWords(text string) []string {
	return append(notWords.Get().FindAllString(text, -1), omitWords.Get().FindAllString(text, -1)...)
}

// Permission returns the first word that allows without demanding; "" if there is none.
func Permission(text string) string {
	for _, at := range permitWords.Get().FindAllStringIndex(text, -1) {
		rest := strings.ToLower(text[at[1]:])
		if !strings.HasPrefix(rest, "'t") && !strings.HasPrefix(rest, "’t") && !strings.HasPrefix(rest, " not") {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

// ForbiddenPlainly reports whether a clause with a single negation forbids exactly the
// thing that it names: not a number of it, not a place for it, not only it.
func (st *Stance) ForbiddenPlainly() bool {
	at := lastIndex(notWords.Get(), st.Before)
	omit := lastIndex(omitWords.Get(), st.Before)
	rest := ""
	switch {
	case omit[1] > at[1]:
		rest = st.Before[omit[1]:]
	case at[1] > 0:
		rest = st.Before[at[1]:]
	}
	after := afterFine.Get().ReplaceAllString(st.After, " ")
	return (produces.Get().MatchString(rest) || direct.Get().MatchString(rest) || omit[1] > at[1] || lacksVerb(st.Before[at[0]:])) &&
		!degreeWords.Get().MatchString(st.Before) && !afterBad.Get().MatchString(after) && !omitWords.Get().MatchString(after) && !notInList(after)
}

// lacksVerb reports whether the negating word is a determiner: the forbidden thing
// follows it directly.
func lacksVerb(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "no ") || strings.HasPrefix(strings.ToLower(text), "neither ") || strings.HasPrefix(strings.ToLower(text), "nor ")
}

// notInList reports whether the rest of the clause negates again, other than by a "no" or
// "nor" in a list.
func notInList(after string) bool {
	for _, w := range notWords.Get().FindAllString(after, -1) {
		if !strings.EqualFold(w, "nor") && !strings.EqualFold(w, "no") {
			return true
		}
	}
	return false
}

func lastIndex(re *regexp.Regexp, text string) [2]int {
	if all := re.FindAllStringIndex(text, -1); len(all) > 0 {
		return [2]int(all[len(all)-1])
	}
	return [2]int{}
}

// Choice reports whether the clause names one of several things of which one is enough.
func (st *Stance) Choice() bool {
	return st.Or || choiceBefore.Get().MatchString(st.Before) || choiceAfter.Get().MatchString(st.After)
}

// Negation returns the positions of the last negating word in a text and of the last word
// of omission, such as avoid; each is empty if there is none.
func Negation(text string) (not, omit [2]int) {
	return lastIndex(notWords.Get(), text), lastIndex(omitWords.Get(), text)
}

// Degree reports whether a text limits how much, how often or which, as in "only" or "too
// many".
func Degree(text string) bool { return degreeWords.Matches(text) }
