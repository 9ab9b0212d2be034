package judge

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
)

// opinion is what a judge says of a criterion.
type opinion uint8

const (
	saysNothing opinion = iota // that could be read in one way
	saysMet
	saysNotMet
	saysCannotTell
	saysTwo // that could be read in two ways
)

// entry is what a reply says of one assertion.
type entry struct {
	id       string
	criteria []said
	pass     opinion // of the assertion as a whole
}

// said is what a reply says of one criterion.
type said struct {
	n         int // 0 if it does not say; -1 if it is no number
	says      opinion
	reasoning string
	evidence  []string
}

// errNoVerdicts is why a reply cannot be read.
var errNoVerdicts = errors.New(`it holds no JSON object with "results"`)

// readReply finds the verdicts in a reply about texts that hold none of their own
// (imitation.go has the rest). The rule, for whatever stands around
// or between them: every complete JSON value of the reply is looked at, in order;
// an object with a list of results, a list of results, and a single result all
// count, so that prose, code fences, several objects and an object that is cut off
// are no obstacle. The values may have the mistakes of tolerant.go. Nothing is
// guessed: a result needs an id and a list of criteria, and a verdict is one of the
// words for it. An object with results in which a key stands twice makes the reply
// unreadable: which of the two is meant is not known.
func readReply(reply string) ([]entry, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("it is longer than %d MiB", maxReply>>20)
	}
	var list []entry
	found, end := false, 0
	for _, v := range jsonValues(reply) {
		entries, ok := entriesOf(v.value)
		if ok && v.twice != nil {
			return nil, v.twice
		}
		if o, _ := v.value.(*proviso.Object); ok && overruled(o, entries) {
			return nil, errOverruled
		}
		list = append(list, entries...)
		found = found || ok
		end = v.end
	}
	if found && takenBack(reply[end:], list) {
		return nil, errOverruled
	}
	if !found {
		return nil, errNoVerdicts
	}
	return list, nil
}

// maxScan bounds the work of looking for JSON in a reply, in bytes that are read.
// A reply of braces could else be read once for each of them.
const maxScan = 8 * maxReply

// jsonValue is an object or a list in a reply.
type jsonValue struct {
	value any
	twice error // it holds an object that has a key twice; nil if not
	start int   // where it stands in the reply
	end   int
}

// jsonValues returns the objects and lists in a text that are not part of another
// one. Where one is broken, those that it holds are looked at.
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

// duplicate returns err if it is about a key that an object has twice.
func duplicate(err error) error {
	var twice *proviso.DuplicateKeyError
	if errors.As(err, &twice) {
		return twice
	}
	return nil
}

// entriesOf returns the results that a value is or holds; ok is false if it is
// something else.
func entriesOf(v any) (list []entry, ok bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			o, _ := e.(*proviso.Object)
			if one, isEntry := entryOf(o); isEntry {
				list, ok = append(list, one), true
				list = append(list, elsewhere(o, "criteria")...)
			}
		}
	case *proviso.Object:
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
func entryOf(o *proviso.Object) (entry, bool) {
	var e entry
	switch id := o.At("id").(type) {
	case string:
		e.id = strings.TrimSpace(id)
	case float64: // an assertion may be called 1
		e.id = proviso.FormatNumber(id)
	default:
		return e, false
	}
	criteria, ok := o.At("criteria").([]any)
	if !ok {
		return e, false
	}
	for _, c := range criteria {
		o, _ := c.(*proviso.Object)
		e.criteria = append(e.criteria, saidOf(o))
	}
	e.pass = opinionBeside(o, saysNothing)
	return e, true
}

// saidOf reads the verdict on one criterion. One that says it more than once, and
// not the same, has none.
func saidOf(o *proviso.Object) said {
	var s said
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
	s.reasoning, _ = o.At("reasoning").(string)
	switch quotes := o.At("evidence").(type) {
	case string:
		s.evidence = []string{quotes}
	case []any:
		for _, q := range quotes {
			if o, ok := q.(*proviso.Object); ok { // such as {"quote": "…"}
				q = quoteIn(o)
			}
			if text, ok := q.(string); ok {
				s.evidence = append(s.evidence, text)
			}
		}
	}
	return s
}

// quoteIn returns the quote that an object is about; its first text if none has a name
// that tells.
func quoteIn(o *proviso.Object) any {
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

// opinionOf reads a verdict: one of the words for it, in any case, or a boolean, or
// 1 or 0.
func opinionOf(v any) opinion {
	text, ok := v.(string)
	if !ok {
		text = proviso.Stringify(v)
	}
	text = strings.ToLower(strings.TrimSpace(text))
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

// numberOf reads the number of a criterion; -1 if it is none.
func numberOf(v any) int {
	f, ok := v.(float64)
	if text, isText := v.(string); isText {
		f, ok = proviso.ToNumber(text), true
	}
	if !ok || f != math.Trunc(f) || f < 1 || f > MaxAllCriteria {
		return -1
	}
	return int(f)
}
