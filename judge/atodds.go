package judge

import (
	"regexp"
	"strings"
	"sync"
)

// The forms of a reasoning that says the opposite of its verdict, where that can be
// told for certain. They are for a note to people, never for the verdict: which of
// the two the judge meant is not known.
var (
	saysItIsNot = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:verdict:?\s*)?(?:not met|unmet|(?:the|this) criterion is (?:not met|unmet)|(?:the )?criterion \d+ is (?:not met|unmet))\b`)
	})
	saysItIs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:verdict:?\s*)?(?:met\b\s*[.,:;—–-]|(?:the|this) criterion is (?:fully |clearly )?met\b|(?:the )?criterion \d+ is met\b)`)
	})
	// deniesIt is about the output, and says the opposite of a criterion that is
	// itself no denial.
	deniesIt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^the output (?:does not|doesn't|never|fails to|lacks|omits) `)
	})
	// limitsIt are words with which a denial may be what a criterion asks for.
	limitsIt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:not?|never|none|nobody|nothing|nor|neither|nowhere|without|cannot|free|absent|absence|avoids?|avoiding|refrains?|omits?|lacks?|excludes?|excluding|refuses?|declines?|only|unless|if|when|any|less|fewer|most|limits?|limited|exceeds?|under|below|within|keeps?|stays?|remains?|instead|rather|except|leaves?)\b|n't`)
	})
	softens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:but|only|just|merely|however|yet|though|although|explicitly|literally|directly)\b`)
	})
)

// atOdds is a note that a reasoning contradicts its verdict; "" if that cannot be told.
func atOdds(says opinion, reasoning, criterion string) string {
	reasoning = strings.TrimSpace(cut(reasoning, maxSentence))
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
