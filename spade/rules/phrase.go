package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/delta"
)

var (
	quotedPattern = pattern.Of("\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|„([^“”\n]{1,120})[“”]|«([^»\n]{1,120})»|`([^`\n]{1,120})`|(?:^|[\\s(\\[:,])'([^'\n]{1,120})'(?:$|[\\s.,;:!?)\\]])")
	betweenQuotes = pattern.Of(`(?i)^[\s,;/&()]*((?:and|or|nor|as well as|und|oder|et|ou|y|o|en|of)\b)?[\s,()]*(?:the\s+)?(?:(?:words?|phrases?|terms?)\s+)?$`)

	negative     = pattern.Of(`(?i)\b(do not|don['’]t|does not|never|neither|nor|avoid\w*|without|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t|may not|refrain|exclud\w+|omit\w*|instead of|rather than|forbidden|prohibited|banned|remove|no)\b`)
	negatedAfter = pattern.Of(`(?i)^[\s,]*(?:(?:must|should|may|can) ?not|is (?:forbidden|banned|prohibited|not allowed)|are (?:forbidden|banned|prohibited|not allowed)|shouldn['’]t|mustn['’]t)`)
	neededAfter  = pattern.Of(`(?i)^[\s,]*(?:must|should|has to|have to|needs? to) (?:be (?:included|mentioned|present|used|contained)|appear|occur)`)

	startVerbs   = pattern.Of(`(?i)\b(begin|start|open|preface|prefix)(s|ning|ing|ed)?\b`)
	endVerbs     = pattern.Of(`(?i)\b(end|finish|close|conclude|sign[- ]?off)(s|ing|ed)?\b`)
	orderWords   = pattern.Of(`(?i)\bin (this|the following|exactly this|that) order\b`)
	includeVerbs = pattern.Of(`(?i)\b(includ\w+|mention\w*|contain\w*|say|state|us(?:e|ing)|writ(?:e|ing)|add|put|print|output|cite|sections?|headings?|headed|called|titled|named|labell?ed|words?|phrases?|terms?|tag)\b`)
	inputWords   = pattern.Of(`(?i)\b(between|delimited by|enclosed (?:in|by)|wrapped in|marked (?:by|with)|separated by|surrounded by|the (?:text|input|context|document|transcript|article)\s*)\s*$|\b(you are|act as|known as|i will|the user)\b`)
	exampleWords = pattern.Of(`(?i)\b(such as|like|e\.g\.|for example|for instance|similar to|you can|you may|may|can|could|might|consider)\b`)
)

// quoted is a group of consecutive quoted phrases.
type quoted struct {
	phrases    []string
	any        bool // joined by or
	start, end int
}

// phrases makes checks of quoted phrases.
func (s *sentence) phrases() {
	groups := quotedGroups(s.text)
	from := 0
	for _, g := range groups {
		before, after := s.text[from:g.start], s.text[g.end:]
		from = g.end
		if strings.Count(before, "\x00") > 0 {
			continue
		}
		s.phrase(g, before, after)
	}
}

// guillemets is the group of quotedPattern for the phrase between « and ».
const guillemets = 2 * 4

func quotedGroups(text string) []quoted {
	var list []quoted
	american := false
	for _, m := range quotedPattern.Get().FindAllStringSubmatchIndex(text, -1) {
		phrase, start, end := "", 0, 0
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				phrase, start, end = text[m[i]:m[i+1]], m[i], m[i+1]
			}
		}
		if n := len(phrase); n > 1 && strings.HasSuffix(phrase, ",") && listGoesOn.Get().MatchString(text[m[1]:]) { // American punctuation
			phrase, american = phrase[:n-1], true
		} else if american {
			phrase = strings.TrimSuffix(phrase, ".")
		}
		if m[guillemets] >= 0 {
			phrase = strings.Trim(phrase, " \u00a0\u202f") // French spacing
		}
		// The quotation marks, which may have several bytes.
		start, end = max(m[0], start-3), min(m[1], end+3)
		for start < len(text) && strings.ContainsAny(text[start:start+1], " \t([:,") {
			start++
		}
		if n := len(list); n > 0 {
			if j := betweenQuotes.Get().FindStringSubmatch(trimMarks(text[list[n-1].end:max(list[n-1].end, start)])); j != nil {
				g := &list[n-1]
				g.phrases, g.end = append(g.phrases, phrase), end
				g.any = g.any || stance.IsOr(j[1])
				continue
			}
		}
		list = append(list, quoted{phrases: []string{phrase}, start: start, end: end})
	}
	return list
}

// listGoesOn matches the text after a phrase inside a list.
var listGoesOn = pattern.Of(`^\s*(?:or\b|and\b|["“])`)

func trimMarks(s string) string { return strings.Trim(s, "\"“”„«»`'") }

// templates returns phrases as values of an assertion; ok is false if a phrase cannot be one.
func (s *sentence) templates(phrases []string, shown string) (values []any, ok bool) {
	for _, p := range phrases {
		v, ok := s.template(p)
		if !ok {
			s.refuse(delta.Inclusion, "%s contains a placeholder that is not a variable of the prompt", shown)
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// phrase makes a check from one run, by the words around it. before is the text since the
// previous run.
func (s *sentence) phrase(g quoted, before, after string) {
	shown := quotedList(g.phrases)
	values, ok := s.templates(g.phrases, shown)
	if !ok {
		return
	}
	if inputWords.Get().MatchString(before) {
		s.refuse(delta.DataIntegration, "%s marks the input", shown)
		return
	}
	st := stance.On(masked(s.text), g.start, g.end)
	if len(st.Before) < len(before) {
		before = st.Before
	}
	if reason := s.vague(&st, after, shown); reason != "" {
		s.refuse(delta.Inclusion, "%s", reason)
		return
	}
	at := place{start: g.start, end: g.end, kind: phraseKind, not: st.Not}
	switch {
	case startVerbs.Get().MatchString(before):
		s.affix("starts", "begin", before[:startVerbs.Get().FindStringIndex(before)[0]], values, shown, at)
	case endVerbs.Get().MatchString(before):
		s.affix("ends", "end", before[:endVerbs.Get().FindStringIndex(before)[0]], values, shown, at)
	case st.Not && jsonKeys.Get().MatchString(before) && jsonWord.Get().MatchString(s.text):
		s.refuse(delta.Exclusion, "the rules have no check for a key that must not be there (%s)", shown)
	case st.Not:
		s.draft(at, delta.Exclusion, "excludes_"+Slug(g.phrases[0]), "The output does not say "+shown+".", words([]any{"type", "not-icontains-any", "value", withApostrophes(values)}, g.phrases)...)
	case orderWords.Get().MatchString(s.text) && len(values) > 1:
		s.draft(at, delta.WorkflowDescription, "order_of_"+Slug(g.phrases[0]), "The output has, in this order, "+shown+".", "type", "in-order", "value", values, "ignoreCase", true)
	case includeVerbs.Get().MatchString(before) || neededAfter.Get().MatchString(after):
		s.include(g, values, shown, at)
	default:
		s.refuse(delta.OtherCategory, "it quotes %s, and does not say what to do with it", shown)
	}
}

// subjectOnly matches the text before a phrase that is the subject of its clause.
var (
	subjectOnly = pattern.Of(`(?i)^\W*(?:(?:always|the|a|any|in (?:the|your) [a-z]+|words?|phrases?|terms?|expressions?|sentences?|texts?|names?|and|or|but|also)\b\W*)*$`)
	beOmitted   = pattern.Of(`(?i)^[\s,]*(?:(?:must|should|has to|have to|needs? to|is to|are to) be (?:avoided|omitted|excluded|left out|removed)|(?:must|should|is|are) (?:never|forbidden|banned|prohibited))`)
	onlyFor     = pattern.Of(`(?i)^\W*(?:for|to (?:indicate|mark|denote|show|signal)|as (?:a |the )?(?:placeholder|default|value|separator|marker)|in (?:place|case)|where|wherever|between)\b`)
	nowhere     = pattern.Of(`(?i)^\W*(?:nowhere|never|(?:in|under|at|to|on|by) no)\b`)
	outputDoes  = pattern.Of(`(?i)^\W*(?:the|your|every|each|all|any)\s+(?:answers?|response|responses|reply|replies|outputs?|messages?|e-?mails?|letters?|story|report)\s+(?:always\s+)?[a-z]+s?\b`)
)

// vague says why the words around a phrase do not make clear whether the output has it; "" if
// they do. If the phrase is the subject, its verb follows it and sets the stance.
func (s *sentence) vague(st *stance.Stance, after, shown string) string {
	if subjectOnly.Get().MatchString(st.Before) && st.Unread == "" && subjectVerb.Get().MatchString(st.After) {
		nots, omits := stance.Negations(st.After)
		forbidden := negatedAfter.Get().MatchString(st.After) || beOmitted.Get().MatchString(st.After)
		switch n := nots + len(omits); {
		case n == 1 && forbidden && !oftenWords.Get().MatchString(st.After):
			st.Not = true
			return ""
		case n > 0, stance.Permission(st.After) != "", oftenWords.Get().MatchString(st.After) && !onceAtLeast.Get().MatchString(st.After), stance.Degree(onceAtLeast.Get().ReplaceAllString(st.After, "")) && !neededAfter.Get().MatchString(st.After):
			return needsModel(st.After)
		case neededAfter.Get().MatchString(st.After):
			return ""
		}
	}
	clause := st.Before + " " + st.After
	wanted := demand.Get().MatchString(st.Before) || modalWords.Get().MatchString(st.Before) || outputDoes.Get().MatchString(st.Before)
	example := giveExample.Get().MatchString(st.Before) || endExample.Get().MatchString(after)
	switch {
	case !st.Not && st.Unread == "" && st.Choice():
		return shown + " is one of several things to choose from: a model is needed (--model)"
	case !st.Not && (example || st.Allows && exampleWords.Get().MatchString(st.Before)):
		return shown + " is an example or a choice, not a demand"
	case st.Unread != "":
		return needsModel(st.Unread)
	case oftenWords.Get().MatchString(clause) && !onceAtLeast.Get().MatchString(clause), nowhere.Get().MatchString(st.After):
		return needsModel(strings.TrimSpace(clause))
	case st.Not && !st.ForbiddenPlainly():
		return needsModel(strings.TrimSpace(clause))
	case st.Not:
		return ""
	case onlyFor.Get().MatchString(st.After):
		return "it asks for " + shown + " only sometimes: a model is needed (--model)"
	case describing.Get().MatchString(st.Before) && !modalWords.Get().MatchString(st.Before), !wanted && includeVerbs.Get().MatchString(st.Before):
		return "it describes " + shown + ", and does not plainly demand it: a model is needed (--model)"
	}
	return ""
}

// withApostrophes adds the spelling with the other apostrophe, which models often write.
func withApostrophes(values []any) []any {
	out := values
	for _, v := range values {
		text, ok := v.(string)
		if !ok || strings.Contains(text, "{{") {
			continue
		}
		for _, way := range [...][2]string{{"'", "’"}, {"’", "'"}} {
			if other := strings.ReplaceAll(text, way[0], way[1]); other != text {
				out = append(out[:len(out):len(out)], other)
			}
		}
	}
	return out
}

var subjectVerb = pattern.Of(`(?i)^\W*(?:must|should|has|have|needs?|may|can|could|might|is|are|shall|will|cannot|never|does|do|appears?|occurs?|ought)\b`)

func (s *sentence) include(g quoted, values []any, shown string, at place) {
	if spelled := withApostrophes(values); len(spelled) > len(values) {
		if len(values) > 1 && !g.any {
			s.refuse(delta.Inclusion, "%s has an apostrophe, which an output may write in two ways", shown)
			return
		}
		g.any, values = true, spelled
	}
	kind, verb := "icontains-all", "says "
	if g.any {
		kind, verb = "icontains-any", "says one of "
	}
	if len(values) == 1 {
		s.draft(at, delta.Inclusion, "includes_"+Slug(g.phrases[0]), "The output says "+shown+".", words([]any{"type", "icontains", "value", values[0]}, g.phrases)...)
		return
	}
	s.draft(at, delta.Inclusion, "includes_"+Slug(g.phrases[0]), "The output "+verb+shown+".", words([]any{"type", kind, "value", values}, g.phrases)...)
}

// words makes phrases match only as whole words, if a word could continue at one of their
// ends.
func words(pairs []any, phrases []string) []any {
	for _, p := range phrases {
		first, _ := utf8.DecodeRuneInString(p)
		last, _ := utf8.DecodeLastRuneInString(p)
		if wordRune(first) || wordRune(last) {
			return append(pairs, "wholeWords", true)
		}
	}
	return pairs
}

// affix makes a check of the start or end of the output, or of each part of it. before is the
// text before the verb.
func (s *sentence) affix(name, verb, before string, values []any, shown string, at place) {
	scope, part := s.scopeOf(before, shown)
	switch {
	case part != "":
		s.refuse(delta.ResponseFormat, "it is about a part of the output that the rules cannot find (%s)", part)
		return
	case len(values) > 1:
		s.refuse(delta.ResponseFormat, "the output can %s in several ways (%s)", verb, shown)
		return
	}
	if scope != nil && scope.At("each") == "item" && name == "starts" {
		if listMarker.Get().MatchString(fmt.Sprint(values[0])) {
			s.refuse(delta.ResponseFormat, "%s is the marker of a list item, which is not part of it", shown)
			return
		}
	}
	kind, text := name+"-with", "The output "+name+" with "+shown+"."
	category := delta.ResponseFormat
	if at.not {
		kind, text, name, category = "not-"+kind, "The output does not "+verb+" with "+shown+".", "not_"+name, delta.Exclusion
	}
	pairs := []any{"type", kind, "value", values[0], "ignoreCase", true}
	if wordAt(values[0], name) {
		pairs = append(pairs, "wholeWords", true)
	}
	if scope != nil {
		pairs = append(pairs, "scope", scope)
	}
	at.kind, at.each = affixKind, scope != nil
	s.draft(at, category, name+"_with_"+Slug(fmt.Sprint(values[0])), text, pairs...)
}

// wordAt reports whether a word could continue at the end of a required start, or before a
// required end.
func wordAt(phrase any, name string) bool {
	text := fmt.Sprint(phrase)
	r, _ := utf8.DecodeRuneInString(text)
	if strings.HasSuffix(name, "starts") {
		r, _ = utf8.DecodeLastRuneInString(text)
	}
	return wordRune(r)
}

var listMarker = pattern.Of(`^\s*(?:[-*+•–‣◦]|\d+[.)]?|#)`)

// template converts the variables of a phrase to those of a suite; ok is false if the prompt
// lacks one of them.
func (s *sentence) template(phrase string) (string, bool) {
	out := placeholder.Get().ReplaceAllStringFunc(phrase, func(v string) string { return "{{ " + strings.Trim(v, "{} ") + " }}" })
	return out, s.hasVariable(out)
}

var placeholder = pattern.Of(`\{\{\s*\w+\s*\}\}|\{[A-Za-z_]\w*\}`)

func quotedList(phrases []string) string {
	parts := make([]string, len(phrases))
	for i, p := range phrases {
		parts[i] = "“" + report.Line(p, 60) + "”"
	}
	return strings.Join(parts, ", ")
}

// unquoted makes checks that need no quotation marks: a required variable, characters with
// names, and the ends of outputs.
func (s *sentence) unquoted() {
	if at := includeVariable.Get().FindStringSubmatchIndex(s.text); at != nil {
		m := s.text[at[2]:at[3]]
		st := stance.On(s.text, at[2], at[3])
		if v, ok := s.template(m); ok && !st.Not && st.Unread == "" && !oftenWords.Get().MatchString(st.Before+st.After) {
			s.draft(place{start: at[2], end: at[3], kind: valueKind}, delta.DataIntegration, "includes_"+Slug(m), "The output says what "+m+" is.", "type", "icontains", "value", v)
		}
	}
	if at := endsInQuestion.Get().FindStringSubmatchIndex(s.text); at != nil && len(s.drafts) == 0 {
		here := place{start: at[2], end: at[1], kind: endKind}
		switch st := stance.On(s.text, at[0], at[1]); {
		case st.Unread != "":
			s.refuse(delta.ResponseFormat, "%s", needsModel(st.Unread))
		case st.Not && !st.ForbiddenPlainly():
			s.refuse(delta.ResponseFormat, "%s", needsModel(strings.TrimSpace(s.text)))
		case st.Not:
			here.not = true
			s.draft(here, delta.Exclusion, "not_ends_with_question", "The output does not end with a question.", "type", "not-regex", "value", `\?["'”’)*_\s]*$`)
		default:
			s.draft(here, delta.ResponseFormat, "ends_with_question", "The output ends with a question.", "type", "regex", "value", `\?["'”’)*_\s]*$`)
		}
	}
}

var (
	includeVariable = pattern.Of(`(?i)\b(?:include|mention|state|repeat|name)\s+(?:the\s+(?:\w+\s+){0,2})?(\{\{\s*\w+\s*\}\}|\{[A-Za-z_]\w*\})\s*(?:[.,;!]|$|in (?:the|your))`)
	endsInQuestion  = pattern.Of(`(?i)\b(?:end|finish|close|conclude)\b(?:\s+\S+){0,4}?\s+(?:with|by asking|in)\s+((?:a|one|an)\s+(?:\w+[- ]){0,2}question)\b`)
)

// QuotedPhrases returns the phrases of a sentence that are in quotation marks.
func QuotedPhrases(text string) []string {
	var list []string
	for _, g := range quotedGroups(text) {
		list = append(list, g.phrases...)
	}
	return list
}
