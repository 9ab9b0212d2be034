package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// amount is a quantity and its place in a sentence.
type amount struct {
	bound
	unit, words string
	start, end  int
	compared    bool // with words such as "more than" before the number
	bare        bool // without words that define the kind of bound
}

// count is a quantity that became a draft.
type count struct {
	bound
	unit  string
	scope *value.Object
	draft int
}

// otherNouns are things that an output has many of, or that are in its input: a quantity of
// their words or characters does not apply to the output.
const otherNouns = `words?|sentences?|lines?|paragraphs?|bullets?|bullet points?|items?|points?|passwords?|(?:user ?)?names?|identifiers?|codes?|keys?|numbers?|urls?|variables?|functions?|strings?|fields?|cells?|tags?|labels?|titles?|headings?|headlines?|sections?|steps?|options?|questions?|examples?|inputs?|subject(?: line)?|quotes?|comments?|rows?|columns?|slides?|files?|documents?|articles?`

var (
	// comparedNoun finds the noun that a quantity is about.
	comparedNoun = pattern.Of(`(?i)\b([a-z-]+)(?:\s+(?:that|which|who|are|is|be|have|has|having|contain|contains|containing|of|with|run|must|should|shall|may|can|cannot|will|never|not|only|always|do|does|each|they))*\s*$`)
	otherNoun    = pattern.Of(`(?i)^(?:` + otherNouns + `)$`)
	wholePlural  = pattern.Of(`(?i)^(?:answers|responses|replies|outputs|results|messages|texts|e-?mails|letters|stories|poems|posts|tweets|reports|essays|translations|explanations|completions|reviews|summaries|descriptions|always|is|was|has|contains|includes|consists|exceeds|uses|this|stays|as|its|takes|less|concise|times|thus|yes|plus|across|unless|us|does|lists|keeps|gives|makes|words)$`)
	existing     = pattern.Of(`(?i)\b(?:the|these|those|this|that|your|my|our|his|her|their|its|all|any|each|every|first|last|previous|following|other|another|next|of all)(?:\s+(?:first|last|next|top|other|following))?\s*$`)
	inInput      = pattern.Of(`(?i)^\s*(?:\w+\s+)?(?:below|above|provided|given|that follow|following|attached|(?:from|of|in) (?:the|this|that|my|each) (?:text|input|document|article|transcript|file|source|context|original|paper|e-?mail thread|conversation|table|list))\b`)
	inPart       = pattern.Of(`(?i)^\s*(?:in|for|of|inside|within|on|under|as) (?:the|your|its|a|an|any|this|those|these|all)\s+(?:\w+\s+)?(` + otherNouns + `|introduction|conclusion|header|footer|caption|abstract|greeting|intro|first|last)\b`)
	eachOne      = pattern.Of(`(?i)\beach(?:\s+(?:one|of (?:them|which|these)))?(?:\s+(?:with|of|has|have|having|must|should|be|is|at|in|not|no))*\s*$`)
	orNumber     = pattern.Of(`(?i)^\s*(?:,|;)?\s*(?:or|and/or)\s+(?:else\s+)?(?:with\s+|in\s+)?(?:exactly|precisely|at (?:least|most)|about|around|up to|no more than|maybe|even)?\s*(?:` + digitsPart + `|` + wordsPart + `)\b`)
	numberOr     = pattern.Of(`(?i)(?:` + digitsPart + `|` + wordsPart + `)\s*,?\s+or(?:\s+(?:with|in))?\s*$|\x00\s*,?\s*\bor(?:\s+(?:with|in))?\s*$`)
	reversible   = pattern.Of(`(?i)^\W*(?:(?:ever|please|` + stance.ProduceVerbs + `|go|run|be|ask|asking|circumstances|case|account|get|let|make|produce|answer|grow|become|exceed|it|answers?|response|responses|reply|replies|outputs?|results?|messages?|texts?|e-?mails?|letters?|story|stories|poems?|posts?|tweets?|reports?|essays?|summary|summaries|explanations?|a|an|any|the|your|with|that|which|is|are|has|have|to|in|up|out|on|for|from|using|writing|giving|us|as|of)\b\W*)*$`)
)

// reads reports whether a quantity is required of the output, and converts a forbidden one
// into what is allowed: not more than three becomes at most three. For anything else it adds a
// reason why the rules cannot read it. reversed means that the quantity was forbidden.
func (s *sentence) reads(a *amount) (reversed, ok bool) {
	st := stance.On(s.plain, a.start, a.end)
	before := s.plain[:a.start]
	switch {
	case !st.Not && st.Or || orNumber.Get().MatchString(s.plain[a.end:]) || numberOr.Get().MatchString(before):
		s.refuse(delta.Quantity, "it names several numbers to choose from: a model is needed (--model)")
	case a.bare && (existing.Get().MatchString(before) || inInput.Get().MatchString(s.plain[a.end:])):
		s.refuse(delta.Quantity, "“%s” counts what is there already, not the output", short(s.plain[a.start:a.end]))
	case giveExample.Get().MatchString(st.Before) || endExample.Get().MatchString(s.plain[a.end:]):
		s.refuse(delta.Quantity, "“%s” is an example, not a demand", short(a.words))
	case describing.Get().MatchString(st.Before) && !modalWords.Get().MatchString(st.Before):
		s.refuse(delta.Quantity, "it describes, and demands no number: a model is needed (--model)")
	case s.ofOther(st.Before, a):
		s.refuse(delta.Quantity, "it counts in something else than the whole output: a model is needed (--model)")
	case st.Allows && a.compared && a.low == "" && mostWords.Get().MatchString(strings.TrimSpace(a.words)):
		return false, true
	case st.Unread != "":
		s.refuse(delta.Quantity, "%s", needsModel(st.Unread))
	case st.Not && !a.reverse(st.Before):
		s.refuse(delta.Quantity, "%s", needsModel(strings.TrimSpace(st.Before)+" "+strings.TrimSpace(a.words)))
	default:
		return st.Not, true
	}
	return false, false
}

// counted returns the place of the number and of the words that bound it: "limit your answer
// to" belongs to the surrounding clause.
func (a *amount) counted(at []int) [2]int {
	if a.bare || len(at) > 5 && limits.Get().MatchString(a.words) {
		for i := 2; i+1 < len(at); i += 2 {
			if at[i] >= 0 && (a.bare || i > 2) {
				return [2]int{at[i], at[1]}
			}
		}
	}
	return [2]int{at[0], at[1]}
}

var limits = pattern.Of(`(?i)^\W*limit`)

// ofOther reports whether a quantity applies to something other than the output: words longer
// than 12 characters.
func (s *sentence) ofOther(before string, a *amount) bool {
	if m := inPart.Get().FindStringSubmatch(s.plain[a.end:]); m != nil {
		return true
	}
	if eachOne.Get().MatchString(before) {
		return true
	}
	if eachPattern.Get().MatchString(strings.Replace(s.plain, a.words, "\x00", 1)) {
		return false
	}
	m := comparedNoun.Get().FindStringSubmatch(before)
	if m == nil || wholePlural.Get().MatchString(m[1]) && !strings.EqualFold(m[1], "words") {
		return false
	}
	if partPattern.Get().MatchString(strings.ReplaceAll(before, "\x00", " ")) { // scopeOf rejects it and names the part
		return false
	}
	return otherNoun.Get().MatchString(m[1]) || strings.HasSuffix(strings.ToLower(m[1]), "s") && !strings.HasSuffix(strings.ToLower(m[1]), "ss")
}

// reverse converts a forbidden comparison into a limit, if the rules understand the words
// between.
func (a *amount) reverse(before string) bool {
	at, omit := stance.Negation(before)
	if !a.compared || !reversible.Get().MatchString(before[max(at[1], omit[1]):]) {
		return false
	}
	return a.complement(strings.TrimSpace(a.words))
}

// complement replaces a forbidden "more than" or "fewer than" with the bound that remains.
func (b *bound) complement(words string) bool {
	step := func(n string, by int) string {
		v, err := strconv.Atoi(n)
		if err != nil {
			return n
		}
		return strconv.Itoa(v + by)
	}
	switch {
	case aboveWords.Get().MatchString(words) && b.low != "":
		*b = bound{high: step(b.low, -1)}
	case belowWords.Get().MatchString(words) && b.high != "":
		*b = bound{low: step(b.high, 1)}
	default:
		return false
	}
	return true
}

// alternatives removes counts of the same thing that one output cannot have together, or
// between which the output may choose.
func (s *sentence) alternatives() {
	gone := map[int]bool{}
	for i, a := range s.counts {
		for _, b := range s.counts[:i] {
			same := a.unit == b.unit && value.Stringify(a.scope) == value.Stringify(b.scope)
			if same && (above(a.low, b.high) || above(b.low, a.high) || strings.Contains(s.lower, " or ")) {
				gone[a.draft], gone[b.draft] = true, true
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	var kept []draft
	for i, d := range s.drafts {
		if !gone[i] {
			kept = append(kept, d)
		}
	}
	s.drafts = slices.Clip(kept)
	s.refuse(delta.Quantity, "it names several numbers of the same thing: a model is needed (--model)")
}

func above(low, high string) bool {
	l, err1 := strconv.Atoi(low)
	h, err2 := strconv.Atoi(high)
	return err1 == nil && err2 == nil && l > h
}

// short shortens a text for a reason: one line, without its hidden parts.
func short(text string) string {
	words := slices.Compact(strings.Fields(strings.ReplaceAll(text, "\x00", " … ")))
	if len(words) > 12 {
		words = append([]string{"…"}, words[len(words)-12:]...)
	}
	return strings.Join(words, " ")
}

var (
	// eachPattern finds a requirement on each part.
	eachPattern = pattern.Of(`(?i)\b(?:each|every|per)\s+(?:of the\s+)?(bullet(?:[- ]point)?|list item|item|point|line|sentence|paragraph)s?\b|\b(bullet(?:[- ]point)?s|items|lines|sentences|paragraphs)\s+(?:should|must|may|can|are|have)\b`)
	// partPattern finds a sentence about a part of the output.
	partPattern = pattern.Of(`(?i)\b(?:the|each|every|your|a|an|its|first|last|second|final|opening|closing)?\s*(subject(?: line)?|title|headline|heading|introduction|intro|conclusion|header|footer|caption|name|summary|description|body|section|chapter|step|answer to each|question|option|example|definition|abstract|overview|greeting|closing|sign-off|tl;dr|line|paragraph|sentence|bullet(?: point)?|slide|row|column|field|key|value)s?\b[^.;:]{0,40}$`)
	wholeNouns  = pattern.Of(`(?i)\b(answer|response|reply|output|result|message|text|e-?mail|letter|story|poem|article|post|tweet|report|essay|translation|explanation|completion|review)\b`)
)

// scopeOf returns the part of the output that a quantity applies to: nil for the whole. part
// is the name of a part that cannot be located. before is the text before the quantity; words
// are the quantity.
func (s *sentence) scopeOf(before, words string) (scope *value.Object, part string) {
	if m := eachPattern.Get().FindStringSubmatch(strings.Replace(s.text, words, "\x00", 1)); m != nil {
		return value.ObjectOf("each", eachOf(m[1]+m[2])), ""
	}
	m := partPattern.Get().FindStringSubmatch(strings.ReplaceAll(before, "\x00", " "))
	if m == nil {
		return nil, ""
	}
	noun := strings.ToLower(m[1])
	if heading := s.heading(noun); heading != "" {
		return value.ObjectOf("section", value.ObjectOf("from", heading)), ""
	}
	subject := regexp.MustCompile(`(?i)^(the|your|each|every|its|a|an)?\s*([a-z-]+ )?` + regexp.QuoteMeta(noun) + `s?\b`)
	isSubject := subject.MatchString(strings.TrimSpace(before))
	if noun == "summary" || noun == "description" { // often means the whole output
		if isSubject && strings.Contains(strings.ToLower(s.prompt), noun+" section") {
			return nil, noun
		}
		return nil, ""
	}
	if isSubject || !wholeNouns.Get().MatchString(before) {
		return nil, noun
	}
	return nil, ""
}

func eachOf(word string) string {
	word = strings.ToLower(word)
	for _, unit := range []string{"line", "sentence", "paragraph"} {
		if strings.HasPrefix(word, unit) {
			return unit
		}
	}
	return "item"
}

// heading returns the Markdown heading in the prompt that matches a noun, or "".
func (s *sentence) heading(noun string) string {
	for line := range strings.Lines(s.prompt) {
		title := strings.TrimLeft(strings.TrimSpace(line), "#")
		if level := len(strings.TrimSpace(line)) - len(title); level > 0 && level <= 6 && strings.EqualFold(strings.TrimSpace(title), noun) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func scopeName(scope *value.Object) string {
	if each, ok := scope.At("each").(string); ok {
		return "each_" + each
	}
	section, _ := scope.At("section").(*value.Object)
	from := section.Text("from")
	return "in_" + Slug(from)
}

func scopeText(scope *value.Object) string {
	if each, ok := scope.At("each").(string); ok {
		return "each " + each
	}
	section, _ := scope.At("section").(*value.Object)
	from := section.Text("from")
	return "the section " + from
}
