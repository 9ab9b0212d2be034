package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// opinion is the judge's verdict on a criterion.
type opinion uint8

const (
	saysNothing opinion = iota // no verdict, or an ambiguous one
	saysMet
	saysNotMet
	saysCannotTell
	saysTwo // two or more conflicting verdicts
)

// entry is the result for one assertion in a reply.
type entry struct {
	id       string
	criteria []criterionReply
	pass     opinion // on the assertion as a whole
}

// criterionReply is the result for one criterion in a reply.
type criterionReply struct {
	n         int // 0 if it is missing; -1 if it is invalid
	says      opinion
	reasoning string
	evidence  []string
}

// errNoVerdicts is the error for a reply without any result.
var errNoVerdicts = errors.New(`it holds no JSON object with "results"`)

// readReply reads the verdicts in a reply about texts that contain no fake verdict
// (imitation.go handles the others). It examines every complete JSON value in the reply,
// in order, and accepts an object with a list of results, a list of results, and a single
// result. So prose, code fences, several objects and a truncated object do no harm. The
// values may have the mistakes that tolerant.go accepts. Nothing is guessed: a result
// needs an id and a list of criteria, and a verdict must be one of the known words.
// Results with a duplicate key make the reply unreadable, because they are ambiguous.
func readReply(reply string) ([]entry, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("it is longer than %d MiB", maxReply>>20)
	}
	var list []entry
	var results, strays []jsonValue
	for _, v := range jsonValues(reply) {
		entries, ok := entriesOf(v.value)
		if !ok {
			strays = append(strays, v)
			continue
		}
		if v.twice != nil {
			return nil, v.twice
		}
		if o, _ := v.value.(*value.Object); overruled(o, entries) {
			return nil, errOverruled
		}
		list, results = append(list, entries...), append(results, v)
	}
	if len(results) == 0 {
		return nil, errNoVerdicts
	}
	for _, v := range strays { // such as {"final": {"results": …}}
		list = append(list, within(v.value)...)
	}
	says := func(o opinion) bool { return anySays(list, o) }
	if takenBack(behind(reply, results), says) || slices.ContainsFunc(strays, func(v jsonValue) bool { return atOdds(v.value, says) }) {
		return nil, errOverruled
	}
	return list, nil
}

// maxScan bounds the bytes read to find JSON in a reply. Otherwise a reply full of braces
// would be read once per brace.
const maxScan = 8 * maxReply

// jsonValue is an object or a list in a reply.
type jsonValue struct {
	value any
	twice error // it contains an object with a duplicate key; nil if not
	start int   // its position in the reply
	end   int
}

// jsonValues returns the top-level objects and lists in a text. If one is malformed, it
// returns the values inside it.
func jsonValues(text string) []jsonValue {
	var values []jsonValue
	work := 0
	for i := 0; i < len(text) && work < maxScan; {
		next := strings.IndexAny(text[i:], "{[")
		if next < 0 {
			break
		}
		i += next
		v, n := valueAt(text[i:])
		work += n + 1
		if v == nil {
			i++
			continue
		}
		v.start, v.end = i, i+n
		i = v.end
		values = append(values, *v)
	}
	return values
}

// duplicate returns the duplicate-key error in err's chain, or nil.
func duplicate(err error) error {
	var twice *value.DuplicateKeyError
	if errors.As(err, &twice) {
		return twice
	}
	return nil
}

// entriesOf returns the results in a value; ok is false if it has none.
func entriesOf(v any) (list []entry, ok bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			o, _ := e.(*value.Object)
			if one, isEntry := entryOf(o); isEntry {
				list, ok = append(list, one), true
				list = append(list, elsewhere(o, "criteria")...)
			}
		}
	case *value.Object:
		if results, isList := v.At("results").([]any); isList {
			list, _ = entriesOf(results)
			return append(append(list, bare(results)...), elsewhere(v, "results")...), true
		}
		if one, isEntry := entryOf(v); isEntry {
			return append([]entry{one}, elsewhere(v, "criteria")...), true
		}
	}
	return list, ok
}

// entryOf reads one result.
func entryOf(o *value.Object) (entry, bool) {
	var e entry
	switch id := o.At("id").(type) {
	case string:
		e.id = strings.TrimSpace(id)
	case float64: // an assertion may be called 1
		e.id = value.FormatNumber(id)
	default:
		return e, false
	}
	criteria, ok := o.At("criteria").([]any)
	if !ok {
		return e, false
	}
	for _, c := range criteria {
		o, _ := c.(*value.Object)
		e.criteria = append(e.criteria, criterionReplyOf(o))
	}
	e.pass = opinionBeside(o, saysNothing)
	return e, true
}

// criterionReplyOf reads the verdict on one criterion. Different verdicts under several
// keys count as no verdict.
func criterionReplyOf(o *value.Object) criterionReply {
	var s criterionReply
	if v, ok := o.Get("n"); ok {
		s.n = numberOf(v)
	}
	for i, key := range verdictKeys {
		v, ok := o.Get(key)
		if !ok {
			continue
		}
		says := opinionOf(v)
		for _, other := range verdictKeys[:i] {
			if o.Has(other) && s.says != says {
				says = saysTwo
			}
		}
		s.says = says
	}
	if s.says != saysNothing && opinionBeside(o, s.says) != s.says {
		s.says = saysTwo
	}
	if s.n == 0 && numberedOtherwise(o) {
		s.n = -1
	}
	s.reasoning = o.Text("reasoning")
	switch quotes := o.At("evidence").(type) {
	case string:
		s.evidence = []string{quotes}
	case []any:
		for _, q := range quotes {
			if o, ok := q.(*value.Object); ok { // such as {"quote": "…"}
				q = quoteIn(o)
			}
			if text, ok := q.(string); ok {
				s.evidence = append(s.evidence, text)
			}
		}
	}
	return s
}

// quoteIn returns the quote in an object: the text under a known name, otherwise the
// first text.
func quoteIn(o *value.Object) any {
	for _, key := range [...]string{"quote", "text", "passage"} {
		if text, ok := o.At(key).(string); ok {
			return text
		}
	}
	for _, v := range o.All() {
		if text, ok := v.(string); ok {
			return text
		}
	}
	return nil
}

// opinionOf reads a verdict: one of the words for a verdict in any case, a boolean, or 1
// or 0.
func opinionOf(v any) opinion {
	text := strings.ToLower(strings.TrimSpace(value.Text(v)))
	switch strings.NewReplacer(" ", "_", "-", "_").Replace(text) {
	case "met", "true", "yes", "1":
		return saysMet
	case "not_met", "false", "no", "0":
		return saysNotMet
	case "cannot_tell":
		return saysCannotTell
	}
	return saysNothing
}

// numberOf parses the number of a criterion; it returns -1 for an invalid number.
func numberOf(v any) int {
	f, ok := v.(float64)
	if text, isText := v.(string); isText {
		f, ok = value.ToNumber(text), true
	}
	if !ok || f != math.Trunc(f) || f < 1 || f > maxAllCriteria {
		return -1
	}
	return int(f)
}
