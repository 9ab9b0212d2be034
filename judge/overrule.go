package judge

import (
	"errors"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Models add fields that were not requested. A verdict in one of them, such as
// "final_verdict" beside "verdict", may be the one that the model means. So a verdict
// counts only if everything beside it agrees.

// errOverruled is the error for a reply that contains a different verdict from the one on
// its criteria.
var errOverruled = errors.New("it contradicts itself: it holds a verdict that is not the one on its criteria")

// verdictNames are the endings of field names that hold a verdict; negatedNames are those
// that hold its opposite.
var (
	verdictNames = [...]string{"verdict", "met", "pass", "passed", "status", "result", "decision", "answer", "outcome", "judgment", "judgement", "satisfied", "fulfilled", "conclusion"}
	negatedNames = [...]string{"unmet", "not_met", "fail", "failed", "violated", "violates", "violation", "unsatisfied", "unfulfilled", "not_satisfied", "not_fulfilled"}
	// correctedNames are parts of the names of fields that replace an earlier statement.
	correctedNames = [...]string{"correction", "corrected", "revised", "revision"}
)

// opinionBeside reads the verdict in the fields of an object besides its criteria. It
// returns known if they contain no other verdict, and saysTwo if they do not agree.
func opinionBeside(o *value.Object, known opinion) opinion {
	for key, v := range o.All() {
		switch key {
		case "id", "n", "criteria", "results", "evidence", "reasoning":
			continue
		}
		says := opinionOfField(key, v)
		if says == saysNothing && known != saysNothing && otherVerdict(key, v) {
			return saysTwo
		}
		known = known.and(says)
	}
	return known
}

// and combines two opinions: saysTwo if they do not agree.
func (o opinion) and(other opinion) opinion {
	switch {
	case other == saysNothing || o == other:
		return o
	case o == saysNothing:
		return other
	}
	return saysTwo
}

// opinionOfField reads the verdict in a field, at any depth.
func opinionOfField(key string, v any) opinion {
	switch v := v.(type) {
	case *value.Object:
		if v.Len() > 0 && nameHolds(key, correctedNames[:]) {
			return saysTwo
		}
		return opinionBeside(v, saysNothing)
	case []any:
		return opinionOfList(strings.TrimSuffix(strings.ToLower(key), "s"), v)
	}
	return fieldOpinion(key, v)
}

// opinionOfList reads the verdict in the members of a list, such as the verdicts on the
// parts of a criterion. Words count only if the list's name marks it as a list of
// verdicts.
func opinionOfList(key string, list []any) opinion {
	named := slices.ContainsFunc(verdictNames[:], func(name string) bool { return strings.HasSuffix(key, name) })
	known := saysNothing
	for _, v := range list {
		says := saysNothing
		switch v := v.(type) {
		case *value.Object:
			says = opinionBeside(v, saysNothing)
		case []any:
			says = opinionOfList(key, v)
		default:
			if named {
				says = fieldOpinion(key, v)
			}
		}
		known = known.and(says)
	}
	return known
}

// otherVerdict reports whether a field is a verdict in unknown words, such as
// "final_verdict": "partly".
func otherVerdict(key string, v any) bool {
	text, isText := v.(string)
	return isText && strings.TrimSpace(text) != "" && strings.HasSuffix(strings.ToLower(key), "verdict")
}

func nameHolds(key string, parts []string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(key, part) })
}

// fieldOpinion reads the verdict in a field. If the field's name does not mark a verdict,
// only the words for a verdict count.
func fieldOpinion(key string, v any) opinion {
	key = strings.ToLower(key)
	says := opinionOf(v)
	text, isText := v.(string)
	if isText {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "pass", "passed":
			says = saysMet
		case "fail", "failed", "unmet":
			says = saysNotMet
		}
	}
	ends := func(name string) bool { return strings.HasSuffix(key, name) }
	switch {
	case slices.ContainsFunc(negatedNames[:], ends):
		return opposite(says)
	case slices.ContainsFunc(verdictNames[:], ends):
		return says
	}
	if isText && strings.HasSuffix(strings.ToLower(text), "met") || says == saysCannotTell {
		return says
	}
	return saysNothing
}

func opposite(o opinion) opinion {
	switch o {
	case saysMet:
		return saysNotMet
	case saysNotMet:
		return saysMet
	}
	return o
}

// overruled reports whether the verdict of a reply as a whole differs from that of its
// entries together.
func overruled(o *value.Object, entries []entry) bool {
	says := saysNothing
	if o.Has("results") {
		says = opinionBeside(o, saysNothing)
	}
	switch says {
	case saysTwo:
		return true
	case saysMet:
		return anySays(entries, saysNotMet) || anySays(entries, saysCannotTell)
	case saysNotMet:
		return !anySays(entries, saysNotMet) && !anySays(entries, saysCannotTell) && !anySays(entries, saysNothing)
	}
	return false
}

func anySays(entries []entry, want opinion) bool {
	return slices.ContainsFunc(entries, func(e entry) bool {
		return slices.ContainsFunc(e.criteria, func(s criterionReply) bool { return s.says == want })
	})
}

// behind returns the text after a reply's first result, without the results.
func behind(reply string, results []jsonValue) string {
	var b strings.Builder
	for i, v := range results {
		end := len(reply)
		if i+1 < len(results) {
			end = results[i+1].start
		}
		b.WriteString(reply[v.end:end])
		b.WriteByte('\n')
	}
	return b.String()
}

// denies matches words after a verdict that mean not met, affirms words that mean met,
// and corrects words that announce another verdict of either kind.
var (
	denies   = pattern.Of(`(?i)\b(?:not[ _-]met|unmet|false|fail(?:s|ed|ing)?|(?:not|un)[ _-]?(?:fulfilled|satisfied))\b|\b(?:answer|verdict|conclusion)\b.{0,12}\bno\b|\b(?:met|pass(?:ed)?|verdict)\s*[:=]\s*(?:no|0)\b`)
	affirms  = pattern.Of(`(?i)\b(?:answer|verdict|conclusion|criterion(?: \d+)?)\b.{0,12}\b(?:yes|true|met|pass(?:es|ed)?)\b|\b(?:met|pass(?:ed)?|verdict)\s*[:=]\s*(?:true|yes|met|1)\b`)
	corrects = pattern.Of(`(?i)\bwait\s*(?:[,.:;!…—–-]|$)|\bcorrection\s*:|\b(?:on second thoughts?|my mistake|I was wrong|that (?:is|was) wrong|on reflection|let me (?:re-?check|correct|reconsider))\b`)
)

// takenBack reports whether the text after the results names a verdict that none of them
// has, such as "Wait, criterion 1 is not met.", or withdraws them.
func takenBack(text string, says func(opinion) bool) bool {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*\"'`", r) {
			return -1
		}
		return r
	}, text)
	return corrects.Matches(text) ||
		denies.Matches(text) && !says(saysNotMet) ||
		!says(saysMet) && affirms.Matches(denies.Get().ReplaceAllString(text, "")) ||
		reasonHolds(text, "cannot_tell") && !says(saysCannotTell)
}

// atOdds reports whether a value beside the results, such as {"verdict": "not_met"}, has
// a verdict that none of them has.
func atOdds(v any, says func(opinion) bool) bool {
	switch said := opinionOfField("", v); said {
	case saysMet, saysNotMet, saysCannotTell:
		return !says(said)
	}
	return false
}

// elsewhere returns the entries in an object's fields other than besides, such as a draft
// next to the results.
func elsewhere(o *value.Object, besides string) (list []entry) {
	for key, v := range o.All() {
		if key == besides && besides == "results" {
			continue
		}
		list = append(list, within(v)...)
	}
	return list
}

// within returns the entries in a value, at any depth.
func within(v any) (list []entry) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			list = append(list, within(e)...)
		}
	case *value.Object:
		if one, ok := entryOf(v); ok {
			list = append(list, one)
		}
		list = append(list, elsewhere(v, "")...)
	}
	return list
}

// bare returns the results that have a verdict and no criteria. Such a result leaves its
// assertion undecided.
func bare(results []any) (list []entry) {
	for _, v := range results {
		o, _ := v.(*value.Object)
		id, ok := o.At("id").(string)
		if _, has := o.At("criteria").([]any); ok && !has && opinionBeside(o, saysNothing) != saysNothing {
			list = append(list, entry{id: strings.TrimSpace(id)})
		}
	}
	return list
}

// numberedOtherwise reports whether a criterion without "n" has a number under another
// name. That number may differ from its position in the list.
func numberedOtherwise(o *value.Object) bool {
	for key, v := range o.All() {
		switch strings.ToLower(key) {
		case "n", "no", "nr", "num", "number", "index", "i", "id", "criterion", "criterion_id", "criterion_number":
			if _, isNumber := v.(float64); isNumber {
				return true
			}
			if text, isText := v.(string); isText && text != "" && strings.Trim(text, " 0123456789.#") == "" {
				return true
			}
		}
	}
	return false
}

// These patterns detect reasoning that clearly contradicts its verdict. They only add a
// note for people and never change the verdict, because it is unknown which of the two
// the judge meant.
var (
	saysItIsNot = pattern.Of(`(?i)^(?:verdict:?\s*)?(?:not met|unmet|(?:the|this) criterion is (?:not met|unmet)|(?:the )?criterion \d+ is (?:not met|unmet))\b`)
	saysItIs    = pattern.Of(`(?i)^(?:verdict:?\s*)?(?:met\b\s*[.,:;—–-]|(?:the|this) criterion is (?:fully |clearly )?met\b|(?:the )?criterion \d+ is met\b)`)
	// deniesIt matches reasoning that denies something about the output. It contradicts a
	// criterion that is not itself negative.
	deniesIt = pattern.Of(`(?i)^the output (?:does not|doesn't|never|fails to|lacks|omits) `)
	// limitsIt matches words of a criterion that negative reasoning may satisfy.
	limitsIt = pattern.Of(`(?i)\b(?:not?|never|none|nobody|nothing|nor|neither|nowhere|without|cannot|free|absent|absence|avoids?|avoiding|refrains?|omits?|lacks?|excludes?|excluding|refuses?|declines?|only|unless|if|when|any|less|fewer|most|limits?|limited|exceeds?|under|below|within|keeps?|stays?|remains?|instead|rather|except|leaves?)\b|n't`)
	softens  = pattern.Of(`(?i)\b(?:but|only|just|merely|however|yet|though|although|explicitly|literally|directly)\b`)
)

// contradictionNote returns a note if the reasoning clearly contradicts its verdict, and
// "" otherwise.
func contradictionNote(says opinion, reasoning, criterion string) string {
	reasoning = strings.TrimSpace(excerpt.Head(reasoning, maxSentence))
	odd := false
	switch says {
	case saysMet:
		odd = saysItIsNot.Matches(reasoning) ||
			deniesIt.Matches(reasoning) && !softens.Matches(reasoning) && !limitsIt.Matches(criterion)
	case saysNotMet:
		odd = saysItIs.Matches(reasoning)
	}
	if !odd {
		return ""
	}
	return "the reasoning of the judge contradicts its verdict"
}
