package rules

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// stance is what a clause says of one thing that it names. If unread is set, the clause
// combines words in a way that the rules do not read, and nothing may be proposed: a check
// of the opposite would be worse than none.
type stance struct {
	not           bool   // forbidden
	unread        string // the words that the rules do not read
	allows        bool   // unread, because it may and need not be there
	or            bool   // the clause is one of several to choose from
	before, after string // the clause around the thing
}

// The words that change what a clause asks for.
var (
	notWords  = pattern(`(?i)\b(?:not|never|no|none|nothing|nobody|nowhere|neither|nor|cannot|dont|forbidden|prohibited|banned|disallowed|unacceptable)\b|\w+n['’]t\b`)
	omitWords = pattern(`(?i)\b(?:avoid\w*|without|refrain\w*|exclud\w+|omit\w*|leav\w+ (?:\S+ ){0,4}?(?:out|off|away)|left (?:out|off|away)|instead of|rather than|remov\w+|free (?:of|from)|skip\w*|drop(?:s|ped|ping)?|delet\w+)\b` +
		`|\b(?:forget\w*|forgot\w*|fail(?:s|ed|ing)?|lack\w*|miss(?:es|ed|ing)?|neglect\w*|hesitat\w+|stop\w*|forbid\w*|prohibit\w*|prevent\w*|abstain\w*|eliminat\w+|strip\w*|ignor\w+|withhold\w*|devoid|shun\w*|overlook\w*|den(?:y|ies|ied)|refus\w+|steer clear|stay away|leave)\b`)
	// plainOmit are the words of omission that forbid on their own.
	plainOmit   = pattern(`(?i)^(?:avoid|without|refrain|exclud|omit|leav\w+ .*(?:out|off|away)$|left (?:out|off|away)|instead of|rather than|remov|free (?:of|from)$)`)
	idleNot     = pattern(`(?i)\b(?:no matter|no later than|whether or not|no doubt|if not)\b`)
	exceptWords = pattern(`(?i)\b(?:except\w*|other than|(?:any|no|every|some)thing (?:but|else|other)|(?:all|none|nothing|anything|everything|any \w+) but|no \w+ but|nothing else|else|hardly|rarely|seldom|barely|sparingly|apart from|aside from|besides|save for|unless|not only|not just|not merely|not simply|not always|not necessarily)\b`)
	permitWords = pattern(`(?i)\b(?:may|can|could|might|feel free|free to|(?:is|it['’]s|are|be|also) (?:fine|ok|okay|acceptable|possible|optional|good|alright|all right|welcome)|(?:fine|ok|okay|acceptable) to|allow\w*|permit\w*|permissible|optional(?:ly)?|consider|welcome to|at your discretion|prefer(?:ably|red)?|ideally|if you like|tolerat\w+)\b`)
	needless    = pattern(`(?i)\b(?:no need|need not|needn['’]t|(?:not|n['’]t) (?:have to|need|required?|necessar\w+|mandatory|obligat\w+|oblig\w+|compulsory|essential|a must|worry|mind|be afraid|limit\w*|restrict\w*|bound|forced)|nor (?:have to|need))\b`)
	degreeWords = pattern(`(?i)\b(?:only|just|merely|solely|simply|alone|always|necessarily|all|every\w*|both|too|many|much|more|most|less|fewer|few|several|multiple|excessive\w*|overly|overus\w*|again|until|before|need\w*|ha(?:ve|s) to|requir\w+|unnecessar\w*|consecutive|nested|same|different|anything|something|everything|else|longer|shorter|over|under|but|plain|twice|once|times|exactly|about|at (?:least|most))\b`)
	describing  = pattern(`(?i)\b(?:often|usually|sometimes|typically|generally|commonly|frequently|normally|tends? to|likes? to|(?:is|are|was|were|am|been) (?:also )?(?:called|named|titled|known|labell?ed|defined|said|referred|written|spelled|pronounced)|known as|refers? to|stands? for|also called|means|say(?:s|ing) that|calls? (?:it|them|this|us)|asked|said|wrote|used to)\b`)
	otherPeople = pattern(`(?i)^\W*(?:(?:the|a|an|our|your|most|many|some|all|these|those|my|few|other|one|each|every|any|and|but)\s+)*(?:[a-z-]+\s+)?(?:users?|customers?|clients?|people|visitors?|readers?|callers?|patients?|students?|employees?|buyers?|guests?|they|he|she|we|i|competitors?|authors?|persons?|everyone|somebody|someone|products?|company|companies|shops?|stores?|apps?|compan(?:y|ies)|inputs?|questions?|transcripts?|tickets?|documents?|articles?|requests?|quer(?:y|ies))\s+(?:\w|\x00)`)
	modalWords  = pattern(`(?i)\b(?:must|should|shall|has to|have to|needs? to|ought to|required to|is to|are to)\b`)
	oftenWords  = pattern(`(?i)\b(?:once|twice|thrice|(?:\d+|one|two|three|four|five|six|seven|ten|several|many|multiple|a few|more|fewer) times?|one time|a single time|only time)\b`)
	onceAtLeast = pattern(`(?i)\bat least (?:once|one time|twice|\w+ times)\b`)
	giveExample = pattern(`(?i)(?:\b(?:such as|like|for example|for instance|similar to|for inspiration|say,|think of|along the lines of|something in the style of)|\be\.\s?g\.?|\bi\.\s?e\.|\beg)\W*(?:[^.;]{0,40})$`)
	endExample  = pattern(`(?i)^\W*(?:for example|for instance|etc|and so on|and the like|or (?:similar|something|the like|equivalent|so|comparable|any|another|other)|e\.\s?g\.)`)
)

// produceVerbs are the verbs of what an output has or does.
const produceVerbs = `use|using|say|saying|write|writing|includ(?:e|ing)|mention(?:ing)?|contain(?:ing)?|state|stating|add(?:ing)?|put(?:ting)?|print(?:ing)?|output(?:ting)?|cit(?:e|ing)|giv(?:e|ing)|return(?:ing)?|answer(?:ing)?|respond(?:ing)?|reply(?:ing)?|start(?:ing)?|begin(?:ning)?|open(?:ing)?|end(?:ing)?|finish(?:ing)?|clos(?:e|ing)|conclud(?:e|ing)|call|quote|insert(?:ing)?|generate|generating|creat(?:e|ing)|produc(?:e|ing)|provid(?:e|ing)|offer|employ(?:ing)?|utter|have|having|tell(?:ing)?|describe|nam(?:e|ing)|prefac(?:e|ing)|prefix|sign|present|format(?:ting)?|return|show(?:ing)?|display|greet|apologi[sz]e|speak|label|head|title|list|render|wrap|structure|make use of`

// adverbs may stand between a conjunction and its verb.
const adverbs = `(?:(?:please|always|instead|then|just|only|rather|also|simply|finally|first|next|you|but|and)\s+)*`

var (
	produces  = pattern(`(?i)^\W*(?:(?:ever|please|be|in (?:your|the|any) \w+|at any \w+|explicitly|directly|to|from|circumstances|case|time|account|means|you|the|model|assistant|output|answer|response|should|must)\W+)*(?:(?:` + produceVerbs + `)\b|(?:a|an|any|the|words?|phrases?|terms?|expressions?|such|[a-z]+ing)?\s*(?:words?|phrases?|terms?|expressions?|names?)\b|$)`)
	direct    = pattern(`(?i)^\W*(?:(?:any|the|a|an|of|all|these|those|words?|phrases?|terms?|expressions?|like|such as|use|using|kinds?|forms?|type|types|or|and|nor|as)\W+)*$`)
	demand    = pattern(`(?i)(?:^\W*|[,:;(—–.!?]\s*|\b(?:and|then|to|please|always|also|or|but|just|only|simply|first|finally|instead|that you|you)\s+)(?:` + produceVerbs + `|sign off|summari[sz]e|explain|ask|thank|keep|make|refer|address|introduce|write|describe)\b`)
	afterBad  = pattern(`(?i)\b(?:if|when|whenever|for|as|so|that|which|while|more|less|longer|shorter|before|after|until|twice|once|times|to|with|of|on|at|where|about|together|inside|between|in|only|alone|both|by|than|but|from|directly|instead|who|must|should|may|can|is|are|has|have|first|initially|again|immediately|yet|too often|right)\b`)
	afterFine = pattern(`(?i)\b(?:at all|at any (?:time|point)|in any (?:way|form|case|circumstances?)|of any kind|(?:anywhere )?(?:in|from|to|of) (?:(?:any|the|your|its|all|a|an|our|this)\s+(?:of (?:the|your)\s+)?)?(?:final |whole |entire )?(?:answers?|response|responses|reply|replies|outputs?|results?|messages?|texts?|e-?mails?|letters?|story|poem|posts?|tweets?|reports?|summary)|(?:to|with) (?:the |our |a )?(?:customers?|users?|clients?|readers?))\b`)
	boundary  = pattern(`(?i)(\s*[.!?;,:—–-]+\s+(?:(?:and|but|then|or|so|nor)\s+)?|\s(?:and|but|then|or|nor)\s+)` + adverbs +
		`((?:never|do not|don['’]t|does not|must not|mustn['’]t|should not|cannot|can['’]t|avoid|refrain|no|neither|and without|omit|exclude)\b` +
		`|(?:` + produceVerbs + `|keep|make|ask|be|ensure|limit|summari[sz]e|explain|remember|thank|translate|stay|do)\s` +
		`|(?:it|you|they|this|(?:the|your|all|each|every|its) [a-z-]+(?: [a-z-]+)?) (?:must|should|shall|has to|have to|needs to|may|can|cannot|is|are|does|do)\b)`)
	onlyNot = pattern(`(?i)^\W*(?:(?:never|ever|not|please|don['’]t|do|(?:under|in|by|at|on) no \w+|no)\W*)+$|\b(?:not|never|n['’]t),`)
	// choices are an or, or a word that belongs to one, before or behind what is named.
	choiceBefore = pattern(`(?i)\b(?:either|or|oder|entweder|ou|soit|bien)\s+(?:(?:a|an|the|in|as|with|use|\d+|eine?|un|une)\s+)*$`)
	choiceAfter  = pattern(`(?i)^\s*,?\s*(?:or|oder|ou)\s`)
	orVerb       = pattern(`(?i)\b(?:or|nor)\s+(?:even\s+)?[a-z]+`)
)

// masked is a text with NUL in place of each quoted phrase and its marks: what a phrase
// says is no word of the sentence.
func masked(text string) string {
	out := []byte(text)
	for _, m := range quotedPattern.get().FindAllStringSubmatchIndex(text, -1) {
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

// stanceOn reads the clause around the bytes from start to end of a text.
func stanceOn(text string, start, end int) stance {
	st := clauseAround(text, start, end)
	if st.unread != "" {
		return st
	}
	before := idleNot.get().ReplaceAllString(st.before, " ")
	clause := before + " \x00 " + st.after
	nots, omits := negations(before)
	switch {
	case exceptWords.get().MatchString(clause):
		st.unread = exceptWords.get().FindString(clause)
	case needless.get().MatchString(clause):
		st.unread = needless.get().FindString(clause)
	case nots+len(omits) > 1:
		st.unread = strings.Join(negatingWords(before), " … ")
	case otherPeople.get().MatchString(before):
		st.unread = strings.TrimSpace(before)
	case nots+len(omits) == 1:
		st.not = true
		if len(omits) == 1 && !plainOmit.get().MatchString(omits[0]) {
			st.unread = omits[0]
		}
	case permission(before) != "":
		st.unread, st.allows = permission(before), true
	}
	return st
}

// clauseAround finds the clause around a part of a text: it ends where a conjunction or
// punctuation is followed by a verb or a word that forbids.
func clauseAround(text string, start, end int) (st stance) {
	from, to, forbade, or := 0, len(text), false, false
	for _, m := range boundary.get().FindAllStringSubmatchIndex(text, -1) {
		next := m[4]
		if next > start {
			if m[2] >= end {
				to = m[2]
				or = or || isOr(text[m[2]:m[3]])
				break
			}
			continue
		}
		clause := text[from:m[2]]
		if nots, omits := negations(clause); nots+len(omits) == 0 {
			from, or = next, isOr(text[m[2]:m[3]])
			continue
		}
		joint := strings.ToLower(strings.TrimSpace(text[m[2]:m[3]]))
		either := isOr(joint)
		again := notWords.get().MatchString(text[next:m[5]]) || omitWords.get().MatchString(text[next:m[5]])
		switch {
		case onlyNot.get().MatchString(clause), either && !again:
			continue
		case either && omitWords.get().MatchString(text[next:m[5]]), !again && (joint == "and" || joint == "then"):
			forbade = true
		case !again && orVerb.get().MatchString(text[m[5]:]) && !strings.ContainsAny(joint, ";.!?"):
			forbade = true
		default:
			forbade = false
		}
		from = next
	}
	st = stance{or: or, before: text[from:start], after: text[end:max(end, to)]}
	if forbade {
		st.unread = strings.TrimSpace(text[:start])
	}
	return st
}

// negations counts the words that negate; a nor belongs to the word before it.
func negations(text string) (nots int, omits []string) {
	for _, w := range notWords.get().FindAllString(text, -1) {
		if !strings.EqualFold(w, "nor") || nots == 0 {
			nots++
		}
	}
	return nots, omitWords.get().FindAllString(text, -1)
}

func negatingWords(text string) []string {
	return append(notWords.get().FindAllString(text, -1), omitWords.get().FindAllString(text, -1)...)
}

// permission finds a word that allows without demanding; "" if there is none.
func permission(text string) string {
	for _, at := range permitWords.get().FindAllStringIndex(text, -1) {
		rest := strings.ToLower(text[at[1]:])
		if !strings.HasPrefix(rest, "'t") && !strings.HasPrefix(rest, "’t") && !strings.HasPrefix(rest, " not") {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

// forbiddenPlainly reports whether a clause that negates once forbids just what it names: not a
// number of it, not a place for it, not only it.
func (st *stance) forbiddenPlainly() bool {
	at := lastIndex(notWords.get(), st.before)
	omit := lastIndex(omitWords.get(), st.before)
	rest := ""
	switch {
	case omit[1] > at[1]:
		rest = st.before[omit[1]:]
	case at[1] > 0:
		rest = st.before[at[1]:]
	}
	after := afterFine.get().ReplaceAllString(st.after, " ")
	return (produces.get().MatchString(rest) || direct.get().MatchString(rest) || omit[1] > at[1] || lacksVerb(st.before[at[0]:])) &&
		!degreeWords.get().MatchString(st.before) && !afterBad.get().MatchString(after) && !omitWords.get().MatchString(after) && !notInList(after)
}

// lacksVerb reports whether the word that negates is a determiner: what it forbids follows.
func lacksVerb(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "no ") || strings.HasPrefix(strings.ToLower(text), "neither ") || strings.HasPrefix(strings.ToLower(text), "nor ")
}

// notInList reports whether what follows negates again, but for a nor in a list.
func notInList(after string) bool {
	for _, w := range notWords.get().FindAllString(after, -1) {
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

// choice reports whether one of several things is enough, of which the clause names one.
func (st *stance) choice() bool {
	return st.or || choiceBefore.get().MatchString(st.before) || choiceAfter.get().MatchString(st.after)
}

// needsModel is why nothing is proposed for words that the rules do not read.
func needsModel(words string) string {
	return "the rules do not understand “" + short(words) + "” well enough: a model is needed (--model)"
}
