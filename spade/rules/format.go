package rules

import (
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/stance"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// shape is a checkable form of output.
type shape struct {
	words string // pattern of the words that require it
	is    string // name of the candidate
	text  string // what the check requires
	not   string // what the check requires if the form is forbidden; "" if that makes no sense
	make  []any  // the assertion; its type is negated if the form is forbidden
}

// formats are the formats that the rules know. Each format that a sentence requires becomes a
// candidate.
var formats = []shape{
	{`\b(?:markdown|\.md)\b`, "markdown", "The output uses Markdown.", "The output does not use Markdown.", []any{"type", "regex", "value", markdownSign}},
	{`\bhtml\b`, "html", "The output has HTML.", "The output has no HTML.", []any{"type", "contains-html"}},
	{`\bxml\b`, "xml", "The output has XML.", "The output has no XML.", []any{"type", "contains-xml"}},
	{`\bcsv\b`, "csv", "Every line has a comma.", "", []any{"type", "contains", "value", ",", "scope", value.ObjectOf("each", "line")}},
	{`\bcomma[- ]separated\b`, "comma_separated", "The output has a comma.", "", []any{"type", "contains", "value", ","}},
	{`\bnumbered (?:lists?|steps|points|items)\b`, "numbered_list", "The output has a numbered list.", "The output has no numbered list.", []any{"type", "regex", "value", `(?:^|\n)[ \t]*\(?\d{1,3}[.)][ \t]`}},
	{`\b(?:bullet(?:ed|[- ]points?)?(?: lists?)?|bullets)\b`, "bullets", "The output has bullet points.", "The output has no bullet points.", []any{"type", "regex", "value", `(?:^|\n)[ \t]*[-*+•–‣◦][ \t]`}},
	{`\b(?:markdown )?tables?\b`, "table", "The output has a Markdown table.", "The output has no Markdown table.", []any{"type", "regex", "value", `\|[ \t]*:?-{3,}`}},
	{`\bcode (?:blocks?|fences?)\b`, "code_block", "The output has a fenced block of code.", "The output has no fenced block of code.", []any{"type", "contains", "value", "```"}},
	{`\b(?:all |only )?(?:in )?lower ?-?case\b`, "lower_case", "The output has no capital letter.", "", []any{"type", "chars", "value", "upper"}},
	{`\b(?:in |all )(?:upper ?-?case|capital letters|caps)\b`, "upper_case", "The output has no small letter.", "", []any{"type", "chars", "value", "lower"}},
	{`\bemojis?\b`, "emoji", "The output has an emoji.", "The output has no emoji.", []any{"type", "chars", "value", value.ObjectOf("class", "emoji", "min", 1.0)}},
	{`\bhashtags?\b`, "hashtags", "The output has a hashtag.", "The output has no hashtag.", []any{"type", "regex", "value", `(?:^|\s)#[A-Za-z_]\w*`}},
	{`\b(?:urls?|hyperlinks?|(?:web ?)?links?)\b`, "links", "The output has a link.", "The output has no link.", []any{"type", "regex", "value", `https?://\S`, "ignoreCase", true}},
	{`\bexclamation (?:marks?|points?)\b`, "exclamation_marks", "The output has an exclamation mark.", "The output has no exclamation mark.", []any{"type", "contains", "value", "!"}},
	{`\bquestion marks?\b`, "question_marks", "The output has a question mark.", "The output has no question mark.", []any{"type", "contains", "value", "?"}},
	{`\bsemi-?colons?\b`, "semicolons", "The output has a semicolon.", "The output has no semicolon.", []any{"type", "contains", "value", ";"}},
	{`\bem[- ]?dash(?:es)?\b`, "em_dashes", "The output has an em dash.", "The output has no em dash.", []any{"type", "contains", "value", "—"}},
}

// formatWords are the compiled patterns of [formats], in the same order.
var formatWords = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(formats))
	for i, f := range formats {
		list[i] = regexp.MustCompile("(?i)" + f.words)
	}
	return list
})

// markdownSign matches text that is Markdown and not plain text.
const markdownSign = "(?:^|\\n)[ \\t]*(?:#{1,6} |[-*+] |\\d{1,3}[.)] |> |```|\\|.*\\|)|\\*\\*[^*\\n]+\\*\\*|`[^`\\n]+`|\\[[^\\]\\n]+\\]\\([^)\\n]+\\)"

// scripts are languages that are recognised by their script.
var scripts = []struct{ language, letters string }{
	{"arabic", `\u0600-\u06ff`}, {"bulgarian", `\u0400-\u04ff`}, {"chinese", `\u4e00-\u9fff`}, {"greek", `\u0370-\u03ff`}, {"hebrew", `\u0590-\u05ff`},
	{"hindi", `\u0900-\u097f`}, {"japanese", `\u3040-\u30ff\u4e00-\u9fff`}, {"korean", `\uac00-\ud7af`}, {"persian", `\u0600-\u06ff`}, {"russian", `\u0400-\u04ff`},
	{"thai", `\u0e00-\u0e7f`}, {"ukrainian", `\u0400-\u04ff`},
}

var (
	jsonWord     = pattern.Of(`(?i)\bjson\b`)
	jsonOnly     = pattern.Of(`(?i)\b(only|just|nothing else|no other text|valid|raw|pure|parse\w*|strict(?:ly)?)\b`)
	jsonKeys     = pattern.Of(`(?i)\b(?:keys?|fields?|properties|attributes)\b`)
	askWords     = pattern.Of(`(?i)\b(answer|respond|reply|return|output|write|produce|generate|provide|give|format\w*|use|using|result|response|in|as|present|list|include|add|should|must|make|end|create)\b`)
	languageWord = pattern.Of(`(?i)\b(?:in|into|to|use|speak)\s+(?:only\s+)?(arabic|bulgarian|chinese|greek|hebrew|hindi|japanese|korean|persian|russian|thai|ukrainian|english|french|german|spanish|italian|portuguese|dutch|polish|turkish|vietnamese|swedish)\b`)
	plainText    = pattern.Of(`(?i)\b(?:plain text|no formatting|without (?:any )?formatting)\b`)
	aboutInput   = pattern.Of(`(?i)\b(input|following|given|provided|below|above|i will|you will (?:receive|get)|you receive|user['’]s|\w+ (?:format )?follows)\b`)
)

// formats finds the required form of an output.
func (s *sentence) formats() {
	if !askWords.Get().MatchString(s.text) && !strings.Contains(s.text, ":") && len(strings.Fields(s.text)) > 4 {
		s.formatsOf(true)
		return
	}
	if aboutInput.Get().MatchString(s.text) && !negative.Get().MatchString(s.text) && !strings.Contains(s.lower, "following format") {
		return
	}
	s.formatsOf(false)
}

// formatsOf finds formats, or only forbidden ones if forbidden is set.
func (s *sentence) formatsOf(forbidden bool) {
	plain := s.plain
	add := func(at []int, f shape) {
		not, ok := s.polarity(plain, at)
		if !ok || forbidden && !not {
			return
		}
		pairs, text, name, category := f.make, f.text, "has_"+f.is, delta.ResponseFormat
		if not {
			if f.not == "" {
				s.refuse(delta.ResponseFormat, "the rules have no check for an output that is not %s", strings.ReplaceAll(f.is, "_", " "))
				return
			}
			pairs, text, name, category = negate(f.make), f.not, "no_"+f.is, delta.Exclusion
		}
		s.draft(f.place(plain, at, not), category, name, text, pairs...)
	}
	for i, f := range formats {
		if at := formatWords()[i].FindStringIndex(plain); at != nil && !s.counted(f.is) {
			add(at, f)
		}
	}
	if at := plainText.Get().FindStringIndex(plain); at != nil && s.demands(plain, at) {
		s.draft(place{start: at[0], end: at[1], kind: formKind}, delta.ResponseFormat, "plain_text", "The output does not use Markdown.", "type", "not-regex", "value", markdownSign)
	}
	s.json(plain, add)
	s.language(plain)
}

// place returns where a format is, without the preposition or the verb before it.
func (f *shape) place(text string, at []int, not bool) place {
	p := place{start: at[0], end: at[1], kind: formKind, not: not}
	switch f.is {
	case "json":
		p.kind = jsonKind
		p.start = jsonSpan.Get().FindStringIndex(text[:at[1]])[0]
	case "comma_separated":
		p.kind = caseKind
	case "table", "lower_case", "upper_case":
		p.start += formNoun.Get().FindStringIndex(text[at[0]:at[1]])[0]
	}
	return p
}

var (
	jsonSpan = pattern.Of(`(?i)(?:\b(?:a|an|one|only|just|valid|raw|pure|strict|strictly|well-formed|single|parseable|parsable) )*\bjson$`)
	formNoun = pattern.Of(`(?i)(?:markdown )?tables?|lower|upper|capital|caps`)
)

// counted reports whether the sentence has a quantity of the same thing.
func (s *sentence) counted(what string) bool {
	same := map[string][]string{
		"bullets": {"items_"}, "emoji": {"emojis_"}, "hashtags": {"hashtags_"}, "exclamation_marks": {"exclamation_marks_"}, "question_marks": {"questions_"},
	}
	for _, d := range s.drafts {
		for _, prefix := range same[what] {
			if strings.HasPrefix(d.name, prefix) || strings.Contains(d.name, "_each_item") {
				return true
			}
		}
	}
	return false
}

// polarity reports whether a sentence forbids the format at some offsets. If the rules cannot
// decide, ok is false and polarity adds the reason.
func (s *sentence) polarity(plain string, at []int) (not, ok bool) {
	st := stance.On(plain, at[0], at[1])
	clause := strings.TrimSpace(st.Before + plain[at[0]:at[1]] + st.After)
	switch {
	case st.Unread != "":
		s.refuse(delta.ResponseFormat, "%s", needsModel(st.Unread))
	case st.Not && !st.ForbiddenPlainly(), nowhere.Get().MatchString(st.After):
		s.refuse(delta.ResponseFormat, "%s", needsModel(clause))
	case !st.Not && (giveExample.Get().MatchString(st.Before) || endExample.Get().MatchString(st.After)):
		s.refuse(delta.ResponseFormat, "“%s” is an example, not a demand", short(plain[at[0]:at[1]]))
	case !st.Not && st.Choice():
		s.refuse(delta.ResponseFormat, "“%s” is one of several things to choose from: a model is needed (--model)", short(plain[at[0]:at[1]]))
	case !st.Not && describing.Get().MatchString(st.Before) && !modalWords.Get().MatchString(st.Before):
		s.refuse(delta.ResponseFormat, "%s", needsModel(clause))
	case !st.Not && negatedAfter.Get().MatchString(st.After), !st.Not && beOmitted.Get().MatchString(st.After):
		nots, omits := stance.Negations(st.After)
		if nots+len(omits) == 1 && subjectOnly.Get().MatchString(st.Before) {
			return true, true
		}
		s.refuse(delta.ResponseFormat, "%s", needsModel(clause))
	case !st.Not && stance.Permission(st.After) != "" && subjectOnly.Get().MatchString(st.Before):
		s.refuse(delta.ResponseFormat, "%s", needsModel(clause))
	default:
		return st.Not, true
	}
	return false, false
}

// demands reports whether a sentence plainly requires what is at some offsets.
func (s *sentence) demands(plain string, at []int) bool {
	not, ok := s.polarity(plain, at)
	return ok && !not
}

func negate(pairs []any) []any {
	out := append([]any(nil), pairs...)
	if kind, ok := out[1].(string); ok {
		out[1] = "not-" + kind
	}
	return out
}

// json makes a check of JSON, with its required keys if they are named.
func (s *sentence) json(plain string, add func([]int, shape)) {
	at := jsonWord.Get().FindStringIndex(plain)
	if at == nil {
		return
	}
	kind, text := "contains-json", "The output has JSON."
	if jsonOnly.Get().MatchString(plain) {
		kind, text = "is-json", "The output is JSON and nothing else."
	}
	pairs := []any{"type", kind}
	if keys := s.keys(); len(keys) > 0 {
		required := make([]any, len(keys))
		for i, k := range keys {
			required[i] = k
		}
		pairs = append(pairs, "value", value.ObjectOf("type", "object", "required", required))
		text = strings.TrimSuffix(text, ".") + ", with " + quotedList(keys) + "."
	}
	add(at, shape{is: "json", text: text, not: "The output has no JSON.", make: pairs})
}

// keys returns the keys of a JSON object that the sentence quotes.
func (s *sentence) keys() []string {
	at := jsonKeys.Get().FindStringIndex(s.text)
	if at == nil {
		return nil
	}
	for _, g := range quotedGroups(s.text) {
		if st := stance.On(masked(s.text), g.start, g.end); g.start >= at[0] && !g.any && !st.Not && st.Unread == "" {
			return g.phrases
		}
	}
	return nil
}

// language makes a check of a language that is recognised by its script.
func (s *sentence) language(plain string) {
	m := languageWord.Get().FindStringSubmatchIndex(plain)
	if m == nil || !askWords.Get().MatchString(plain) || !s.demands(plain, m) {
		return
	}
	name := strings.ToLower(plain[m[2]:m[3]])
	for _, script := range scripts {
		if script.language == name {
			s.draft(place{start: m[2], end: m[3], kind: formKind}, delta.ResponseFormat, "language_"+name, "The output has letters of "+strings.ToUpper(name[:1])+name[1:]+".", "type", "regex", "value", "["+script.letters+"]")
			return
		}
	}
	s.refuse(delta.ResponseFormat, "a language that shares its letters with others (%s) needs a judge", name)
}
