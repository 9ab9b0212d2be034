package judge

import (
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// These patterns detect a reasoning that clearly contradicts its verdict. They only
// add a note for people and never change the verdict, because it is unknown which of
// the two the judge meant.
var (
	saysItIsNot = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:verdict:?\s*)?(?:not met|unmet|(?:the|this) criterion is (?:not met|unmet)|(?:the )?criterion \d+ is (?:not met|unmet))\b`)
	})
	saysItIs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:verdict:?\s*)?(?:met\b\s*[.,:;—–-]|(?:the|this) criterion is (?:fully |clearly )?met\b|(?:the )?criterion \d+ is met\b)`)
	})
	// deniesIt matches a reasoning that denies something of the output. It contradicts
	// a criterion that is not itself negative.
	deniesIt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^the output (?:does not|doesn't|never|fails to|lacks|omits) `)
	})
	// limitsIt matches words of a criterion that a negative reasoning may satisfy.
	limitsIt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:not?|never|none|nobody|nothing|nor|neither|nowhere|without|cannot|free|absent|absence|avoids?|avoiding|refrains?|omits?|lacks?|excludes?|excluding|refuses?|declines?|only|unless|if|when|any|less|fewer|most|limits?|limited|exceeds?|under|below|within|keeps?|stays?|remains?|instead|rather|except|leaves?)\b|n't`)
	})
	softens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:but|only|just|merely|however|yet|though|although|explicitly|literally|directly)\b`)
	})
)

// contradictionNote returns a note if a reasoning clearly contradicts its verdict, and
// "" otherwise.
func contradictionNote(says opinion, reasoning, criterion string) string {
	reasoning = strings.TrimSpace(excerpt.Head(reasoning, maxSentence))
	odd := false
	switch says {
	case saysMet:
		odd = saysItIsNot().MatchString(reasoning) ||
			deniesIt().MatchString(reasoning) && !softens().MatchString(reasoning) && !limitsIt().MatchString(criterion)
	case saysNotMet:
		odd = saysItIs().MatchString(reasoning)
	}
	if !odd {
		return ""
	}
	return "the reasoning of the judge contradicts its verdict"
}
