package rules

import (
	"cmp"
	"regexp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
)

// categories recognise the topic of a sentence without a check. The first match counts.
var categories = []struct {
	category string
	is       *pattern.Lazy
}{
	{delta.Exclusion, pattern.Of(`(?i)\b(do not|don['’]t|never|avoid|without|must not|mustn['’]t|should not|shouldn['’]t|refrain|omit|exclude|no need)\b`)},
	{delta.PromptClarification, pattern.Of(`(?i)^(you are|you['’]re|act as|imagine you|pretend|your (role|task|job|goal) is|as an? )`)},
	{delta.ExampleDemonstration, pattern.Of(`(?i)^(example|for example|e\.g\.|sample|here (is|are) (an? )?examples?)`)},
	{delta.QualitativeCriteria, pattern.Of(`(?i)\b(clear(ly)?|concise(ly)?|brief(ly)?|short|friendly|polite(ly)?|professional(ly)?|formal(ly)?|casual(ly)?|accurate(ly)?|relevant|helpful|simple|simply|engaging|compelling|tone|style|detailed|thorough(ly)?|creative(ly)?|natural(ly)?|neutral|unbiased|empath\w+|kind|warm|insightful|high[- ]quality|readable|easy to|logical(ly)?|coherent(ly)?|precise(ly)?|factual(ly)?)\b`)},
	{delta.Inclusion, pattern.Of(`(?i)\b(include|mention|contain|add|list|provide|state|cite|reference|ensure|make sure|always)\b`)},
	{delta.WorkflowDescription, pattern.Of(`(?i)\b(first|then|next|finally|after|before|step|write|create|generate|summari[sz]e|analy[sz]e|review|translate|extract|answer|explain|describe|identify|rewrite|classify|craft|give|ask|use|adhere|follow|focus|split|put|return|respond|reply|show|keep|maintain|compare|devise|encourage|elaborate|elucidate|introduce|express|utili[sz]e|aim|reiterate|capture|omit|remove|choose|select|make|do|start|begin|end|consider|think|check|verify|calculate|compute|convert|format|organi[sz]e|group|bucket|suggest|recommend|refer)\b`)},
	{delta.WorkflowDescription, pattern.Of(`(?i)^\W*(?:(?:please|always|then|also|and|finally|first|next|only)\W+)*(?:name|offer|thank|greet|invite|remind|inform|tell|say|address|apologi[sz]e|congratulate|acknowledge|apply|quote|propose|point|sign|wish|assure|assume|avoid|treat|speak|talk|let|help|handle|confirm|request|clarify|assist|rate|score|rank|sort|count|match|label|tag|highlight)\s+\S`)},
	{delta.DataIntegration, pattern.Of(`\{\{?\s*\w+|\{%`)},
}

func categoryOf(s *sentence) string {
	for _, c := range categories {
		if c.is.Get().MatchString(s.text) {
			return c.category
		}
	}
	return delta.OtherCategory
}

// category returns the topic of the sentence. Topics of other languages are unknown.
func (s *sentence) category() string {
	if s.unread != "" {
		return delta.OtherCategory
	}
	return categoryOf(s)
}

// reason explains why rules make no check for the sentence.
func (s *sentence) reason() string { return cmp.Or(s.unread, reasonOf(categoryOf(s))) }

// reasonOf explains why rules make no check for a sentence of a category.
func reasonOf(category string) string {
	switch category {
	case delta.Exclusion:
		return "what must not be there is described, not quoted: a judge has to decide"
	case delta.Inclusion:
		return "what must be there is described, not quoted: a judge has to decide"
	case delta.QualitativeCriteria:
		return "quality is not counted: a judge has to decide"
	case delta.PromptClarification:
		return "it says who the model is, and asks nothing of an output"
	case delta.ExampleDemonstration:
		return "it shows something and asks for nothing"
	case delta.DataIntegration:
		return "it brings data, and asks nothing of an output"
	case delta.WorkflowDescription:
		return "it says what to do, not how the output looks: a judge has to decide"
	}
	return "no quantity, format or quoted phrase is in it"
}

// QualityPattern matches the words of a quality in a sentence.
func QualityPattern() *regexp.Regexp {
	for _, c := range categories {
		if c.category == delta.QualitativeCriteria {
			return c.is.Get()
		}
	}
	return regexp.MustCompile(`$^`)
}

// topics map words of a sentence to categories; a sentence may have several.
var topics = []struct {
	category string
	is       *pattern.Lazy
}{
	{delta.Quantity, pattern.Of(`(?i)\b(at least|at most|no more than|up to|exactly|maximum|minimum|fewer than|less than|more than|between|within|limit(ed)? to|about|around)\s+(\d|one|two|three|four|five|ten|\{|\[)|\b(\d+|one|two|three|four|five|six|seven|ten|a couple of)[ -]+(\w+[ -]+){0,2}(words?|sentences?|paragraphs?|characters?|tokens?|bullets?|points?|items?|questions?|lines?|examples?|steps?|options?|tweets?|titles?|ideas?|topics?)\b|\{num_\w*\}|\bword_count\b|\bnumber of\b|\bmaximum\b`)},
	{delta.Exclusion, pattern.Of(`(?i)\b(do not|don['’]t|never|avoid|must not|mustn['’]t|should not|shouldn['’]t|refrain|omit|exclude|no need|no other|no additional|no more additional|nothing else)\b`)},
	{delta.ResponseFormat, pattern.Of(`(?i)\b(json|markdown|html|xml|csv|yaml|latex|bullet(ed)?|numbered|list of|table|format(ted)?|headings?|headers?|sections?|bold|code block|output (should|must|format)|response (should|must) be|structure|template|separated by|newline|title|tags?)\b|\b(?:begin|start|end|finish|close|conclude|open)s? (?:(?:your|the|every|each|all|any) \w+ )?with\b`)},
	{delta.Inclusion, pattern.Of(`(?i)\b(includes?|mention|contains?|add|cite|must have|state|insert)\b`)},
	{delta.WorkflowDescription, pattern.Of(`(?i)\b(first|then|next|finally|step|steps|process|before|after|begin|start with|follow(ing)? (these|the) (steps|instructions)|if you|your task|task is|goal|given)\b|^(-\s*)?(write|create|generate|summari[sz]e|analy[sz]e|review|translate|extract|answer|explain|describe|identify|rewrite|classify|craft|use|return|respond|compare|split|choose|select|think|verify|convert|improve|pay attention|try)\b`)},
	{delta.DataIntegration, pattern.Of(`\{\{?\s*[A-Za-z_][\w.]*|\{%|\[[a-z_]+\]`)},
}

// Categories returns the categories of a change by its words, the most specific first; none if
// no rule knows one. It reads English.
func Categories(d proviso.Delta) []string {
	var list []string
	switch delta.Part(d.Part) {
	case delta.Example:
		return []string{delta.ExampleDemonstration}
	case delta.Code:
		if topics[len(topics)-1].is.Get().MatchString(d.Text) {
			return []string{delta.DataIntegration}
		}
		return []string{delta.ExampleDemonstration}
	case delta.Markup:
		return nil
	}
	for _, t := range topics {
		if t.is.Get().MatchString(d.Text) {
			list = append(list, t.category)
		}
	}
	for _, c := range categories {
		switch c.category {
		case delta.PromptClarification, delta.ExampleDemonstration, delta.QualitativeCriteria:
			if c.is.Get().MatchString(d.Text) {
				list = append(list, c.category)
			}
		}
	}
	return list
}
