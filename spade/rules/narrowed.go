package rules

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/delta"
)

// surroundings finds text in other sentences that narrows a sentence. It holds facts about the
// whole prompt.
type surroundings struct {
	exempt string // words that exempt something from rules: then no rule always applies
	grades bool   // the agent judges texts, so "the email must …" may be about its input
}

func surroundingsOf(units []delta.Unit) (s surroundings) {
	for i := range units {
		u := &units[i]
		switch {
		case u.Part == delta.Sentence && exempting.Get().MatchString(u.Text),
			u.Part == delta.Heading && exceptionHeading.Get().MatchString(u.Text),
			strings.Contains(u.Text, "{{#"):
			if s.exempt == "" {
				s.exempt = u.Text
			}
		}
		s.grades = s.grades || grading.Get().MatchString(u.Text)
	}
	return s
}

// narrowed returns the words that narrow a unit, "" for none.
func (s *surroundings) narrowed(units []delta.Unit, i int, gap int) string {
	u := &units[i]
	text := u.Text[delta.MarkerLength(u.Text):]
	switch {
	case s.exempt != "" && s.exempt != u.Text:
		return s.exempt
	case strings.Count(text, `"`)%2 != 0 || strings.Count(text, "“") != strings.Count(text, "”") && !strings.Contains(text, "„"):
		return "a quotation that begins or ends in another sentence"
	case s.grades && otherSubject(text):
		return firstWords(text)
	case scoped.Get().MatchString(text):
		return scoped.Get().FindString(text)
	case listOfWords.Get().MatchString(text):
		return listOfWords.Get().FindString(text)
	case overlapping(QuotedPhrases(text)):
		return "a phrase that is a part of another one"
	}
	if why := labelled(units, i); why != "" {
		return why
	}
	if i > 0 && gap <= 1 && len(text) == len(u.Text) && units[i-1].Part == delta.Sentence {
		if before := units[i-1].Text; ended.Get().MatchString(before) && prohibits.Get().MatchString(before) && replaces.Get().MatchString(text) && len(QuotedPhrases(text)) > 0 {
			return before
		}
	}
	if refuses.Get().MatchString(text) && instead.Get().MatchString(text) && !prohibitsWords.Get().MatchString(text) {
		return instead.Get().FindString(text)
	}
	if i+1 < len(units) && units[i+1].Part == delta.Sentence {
		next := units[i+1].Text
		phrases := QuotedPhrases(text)
		switch {
		case allows.Get().MatchString(next), continues.Get().MatchString(next):
			return next
		case narrows.Get().MatchString(next) && shares(next, phrases):
			return next
		case prohibits.Get().MatchString(text) && replaces.Get().MatchString(next) && overlapping(append(phrases, QuotedPhrases(next)...)):
			return next
		}
	}
	return ""
}

// labelled returns the label before a sentence or its neighbour that names a part of the
// output: "question: at most 6 words".
func labelled(units []delta.Unit, i int) string {
	if label := labelOf(units[i].Text); label != "" {
		for _, n := range []int{i, i - 1, i + 1} {
			if n < 0 || n >= len(units) {
				continue
			}
			if other := labelOf(units[n].Text); other != "" && roleOf(other) == unreadRole {
				return other
			}
		}
	}
	return ""
}

func labelOf(text string) string {
	if m := label.Get().FindStringSubmatch(text[delta.MarkerLength(text):]); m != nil {
		return m[1]
	}
	return ""
}

// otherSubject reports whether a sentence makes a demand on something other than the output.
func otherSubject(text string) bool {
	m := subject.Get().FindStringSubmatch(text)
	return m != nil && !outputNoun.Get().MatchString(m[1])
}

// overlapping reports whether one phrase contains another.
func overlapping(phrases []string) bool {
	for i, a := range phrases {
		for j, b := range phrases {
			if i != j && !strings.EqualFold(a, b) && strings.Contains(strings.ToLower(a), strings.ToLower(b)) {
				return true
			}
		}
	}
	return false
}

// shares reports whether a text names one of the phrases.
func shares(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(strings.ToLower(text), strings.ToLower(p)) {
			return true
		}
	}
	return false
}

func firstWords(text string) string {
	f := strings.Fields(text)
	return strings.Join(f[:min(4, len(f))], " ")
}

var (
	ended            = pattern.Of(`[.!?]["'”’*_)]*$`)
	exempting        = pattern.Of(`(?i)\b(?:exempt(?:ed|ion)?\b|(?:rules?|points?|items?|this|these|it) ?(?:nos?\.? ?)?#?\d* (?:does|do) ?(?:not|n['’]t) apply|disregard (?:this|that|these|the) (?:rules?|limits?)|gilt nicht für|ne s['’]applique pas|no se aplica)`)
	exceptionHeading = pattern.Of(`(?i)\b(?:exceptions?|exemptions?|ausnahmen?|excepciones?|eccezioni|exceções|uitzonderingen)\b`)
	grading          = pattern.Of(`(?i)\b(?:you|your (?:job|task|role)|as an? \w+)\b.*\b(?:grad|moderat|classif|evaluat|assess|validat|verif|proofread|screen|scor|rat|judg|review)(?:e|es|ing|y|ies|ying|s|er|or)?\b`)
	subject          = pattern.Of(`(?i)^(?:the|each|every|an?|any|all) (?:\w+ ){0,1}?([a-z][\w-]*) (?:must|should|shall|has to|have to|may|can|needs? to|will|contains?)\b`)
	outputNoun       = pattern.Of(`(?i)^(?:answers?|responses?|repl(?:y|ies)|outputs?|results?|verdicts?|grades?|reasons?|explanations?|summar(?:y|ies)|sentences?|json)$`)
	scoped           = pattern.Of(`(?i)\b(?:in|for|to) (?:e-?mails|letters|chats|messages|tweets|posts|comments|reviews|tickets)\b|\b(?:start|begin|end|close|open|finish|sign) (?:your |all |the )?(?:e-?mails|letters|messages|tweets|posts)\b`)
	listOfWords      = pattern.Of(`(?i)\b(?:items?|bullets?|points?|tips?|reasons?|ideas?|options?|steps?|suggestions?|examples?)\s*[,;]\s*(?:each |with )?(?:no more than|at most|max\w*|up to|under|fewer than|less than|of|about)\b[^.]*\bwords?\b`)
	label            = pattern.Of(`^["'*_` + "`" + `]{0,3}([A-Za-z]\w*(?: \w+)?)["'*_` + "`" + `]{0,3}:\s`)
	prohibits        = pattern.Of(`(?i)\b(?:do not|don['’]?t|never|avoid|must not|should not|nicht|kein\w*|niemals|nie|jamais|ne|no|nunca|não|non|niet|geen|nooit)\b`)
	prohibitsWords   = pattern.Of(`(?i)\b(?:do not|don['’]?t|never|avoid|must not|should not) (?:say\w*|us\w*|writ\w*|call\w*|mention\w*|includ\w*)\b`)
	replaces         = pattern.Of(`(?i)^[-*+•\s\d.)(]*(?:please |just |simply |instead,? |always |rather,? |but )*(?:say|write|use|answer|reply|respond|call|put|ask|offer|tell|refer|sag\w*|schreib\w*|antworte\w*|nutze\w*|dis|dites|écri\w*|réponds?|di|escrib\w*|responde|rispondi|scrivi|diga|escreva|zeg|schrijf|antwoord)\b`)
	instead          = pattern.Of(`(?i)[,;:–—] ?(?:instead,? |rather |just |simply |always )*(?:say|write|answer|reply|respond|put|tell|offer|sag\w*|schreib\w*|antworte\w*|dis|dites|écri\w*|réponds?|di|escrib\w*|responde|rispondi|scrivi|diga|escreva|zeg|schrijf|antwoord)\b[^"“„«]{0,20}["“„«]`)
	refuses          = pattern.Of(`(?i)\b(?:do not|don['’]?t|never|avoid|must not|should not|nicht|kein\w*|niemals|nie|jamais|nunca|não|niet|geen|nooit)\b`)
	allows           = pattern.Of(`(?i)\bmay (?:have|be|use|contain|include|run|take|exceed)\b|\b(?:is|are) (?:ok|okay|fine|allowed|acceptable|permitted|welcome)\b|^[-*+•\s\d.)]*\(?but\b|^[-*+•\s\d.)(]*on (?:errors?|failure)\b|\bdisregard\b|\bdürfen?\b|\bpeu(?:t|vent)\b|\bpuede[ns]?\b`)
	continues        = pattern.Of(`(?i)^[-*+•\s\d.)(]*(?:then|also|next|afterwards?|after that|finally|additionally|in addition|followed by|and then|below (?:it|that)|dann|danach|außerdem|ensuite|puis|luego|después|además|poi|inoltre|depois|daarna),? (?:please )?(?:write|list|add|give|provide|name|append|output|print|create|make|suggest|ask|propose|include|explain|describe|summari[sz]e|show|nenne\w*|schreib\w*|liste\w*|ajoute\w*|écri\w*|escrib\w*|agrega\w*|scrivi|aggiungi|escreva|adicione|schrijf|voeg)\b`)
)
