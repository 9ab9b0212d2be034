package rules

import (
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

var (
	// eachPattern finds a requirement on each part.
	eachPattern = pattern.Of(`(?i)\b(?:each|every|per)\s+(?:of the\s+)?(bullet(?:[- ]point)?|list item|item|point|line|sentence|paragraph)s?\b|\b(bullet(?:[- ]point)?s|items|lines|sentences|paragraphs)\s+(?:should|must|may|can|are|have)\b`)
	// partPattern finds a sentence about a part of the output.
	partPattern = pattern.Of(`(?i)\b(?:the|each|every|your|a|an|its|first|last|second|final|opening|closing)?\s*(subject(?: line)?|title|headline|heading|introduction|intro|conclusion|header|footer|caption|name|summary|description|body|section|chapter|step|answer to each|question|option|example|definition|abstract|overview|greeting|closing|sign-off|tl;dr|line|paragraph|sentence|bullet(?: point)?|slide|row|column|field|key|value)s?\b[^.;:]{0,40}$`)
	wholeNouns  = pattern.Of(`(?i)\b(answer|response|reply|output|result|message|text|e-?mail|letter|story|poem|article|post|tweet|report|essay|translation|explanation|completion|review)\b`)
)

// scopeOf returns the part of the output that a quantity applies to: nil for the whole;
// part is the name of one that cannot be found. Before is the text in front of the
// quantity; words are the quantity.
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
