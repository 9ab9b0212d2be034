package judge

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
)

// entry is what a reply says of one assertion.
type entry struct {
	id       string
	criteria []said
	pass     *bool // of the assertion as a whole; nil if it does not say
}

// said is what a reply says of one criterion.
type said struct {
	n         int   // 0 if it does not say; -1 if it is no number
	met       *bool // nil if there is no verdict
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
// are no obstacle. Nothing is guessed: a result needs an id and a list of criteria,
// a verdict is true or false, as a boolean or as a text. An object with results in
// which a key stands twice makes the reply unreadable: which of the two is meant is
// not known.
func readReply(reply string) ([]entry, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("it is longer than %d MiB", maxReply>>20)
	}
	var list []entry
	found := false
	for _, v := range jsonValues(reply) {
		entries, ok := entriesOf(v.value)
		if ok && v.twice != nil {
			return nil, v.twice
		}
		list = append(list, entries...)
		found = found || ok
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
		v, n, err := proviso.ParseUniqueJSON(text[i:])
		if twice := duplicate(err); err == nil || twice != nil {
			values = append(values, jsonValue{v, twice})
			i += n
			work += n
			continue
		}
		var broken *proviso.SyntaxError
		if errors.As(err, &broken) {
			work += broken.Offset
		}
		work++
		i++
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
			}
		}
	case *proviso.Object:
		if results, isList := v.At("results").([]any); isList {
			list, _ = entriesOf(results)
			return list, true
		}
		if one, isEntry := entryOf(v); isEntry {
			return []entry{one}, true
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
	e.pass = verdictOf(o.At("pass"))
	return e, true
}

// saidOf reads the verdict on one criterion. One that says both met and pass, and
// not the same, has none.
func saidOf(o *proviso.Object) said {
	var s said
	if v, ok := o.Get("n"); ok {
		s.n = numberOf(v)
	}
	s.met = verdictOf(o.At("met"))
	switch o.At("verdict") {
	case verdictMet:
		s.met = ptrTo(true)
	case verdictNotMet:
		s.met = ptrTo(false)
	}
	if pass := verdictOf(o.At("pass")); pass != nil {
		switch {
		case !o.Has("met"):
			s.met = pass
		case s.met != nil && *s.met != *pass:
			s.met = nil
		}
	}
	s.reasoning, _ = o.At("reasoning").(string)
	switch quotes := o.At("evidence").(type) {
	case string:
		s.evidence = []string{quotes}
	case []any:
		for _, q := range quotes {
			if text, ok := q.(string); ok {
				s.evidence = append(s.evidence, text)
			}
		}
	}
	return s
}

func ptrTo(b bool) *bool { return &b }

// verdictOf reads true and false; nil for anything else.
func verdictOf(v any) *bool {
	if text, ok := v.(string); ok {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			v = true
		case "false":
			v = false
		}
	}
	if b, ok := v.(bool); ok {
		return &b
	}
	return nil
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

// errContradiction is why an assertion whose own verdict is not that of its
// criteria is undecided.
var errContradiction = errors.New("the judge contradicts itself: its verdict on the assertion is not that on its criteria")

// match finds the verdicts on the criteria of an assertion. Those that the reply
// lacks, or has twice and not the same, are nil. Results with other ids, and
// criteria with other numbers, are passed over.
func match(list []entry, a asked) ([]*said, error) {
	out := make([]*said, len(a.ns))
	torn := make([]bool, len(a.ns))
	for i := range list {
		e := &list[i]
		if e.id != a.id {
			continue
		}
		own := e.place(a)
		if e.contradicts(own) {
			return nil, errContradiction
		}
		for k, s := range own {
			switch {
			case s == nil || torn[k]:
			case out[k] == nil:
				out[k] = s
			case *out[k].met != *s.met:
				out[k], torn[k] = nil, true
			}
		}
	}
	return out, nil
}

// place puts verdicts to the criteria of an assertion: by their numbers, or by
// their order if none has a number and there are as many as were asked for.
func (e *entry) place(a asked) []*said {
	out := make([]*said, len(a.ns))
	torn := make([]bool, len(a.ns))
	ordered := len(e.criteria) == len(a.ns)
	for _, s := range e.criteria {
		ordered = ordered && s.n == 0
	}
	for i := range e.criteria {
		s := &e.criteria[i]
		for k, n := range a.ns {
			here := s.n == n
			if ordered {
				here = i == k
			}
			switch {
			case !here || s.met == nil || torn[k]:
			case out[k] == nil:
				out[k] = s
			case *out[k].met != *s.met:
				out[k], torn[k] = nil, true
			}
		}
	}
	return out
}

// contradicts reports whether the verdict on the assertion as a whole is not what
// follows from those on its criteria.
func (e *entry) contradicts(own []*said) bool {
	if e.pass == nil {
		return false
	}
	all := true
	for _, s := range own {
		if s != nil && !*s.met {
			return *e.pass
		}
		all = all && s != nil
	}
	return all && !*e.pass
}
