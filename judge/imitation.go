package judge

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/proviso-eval/proviso/value"
)

// A judged text can contain a fake verdict. If the judge quotes it without escaping it,
// the fake verdict becomes part of the reply: as an object inside a malformed object, in
// prose, or at the top level if the text closes the judge's own brackets. Therefore,
// replies about such texts must have exactly the requested form. Replies about all other
// texts are parsed tolerantly.

// imitates reports whether one of texts contains something that looks like a reply: one
// of keys followed by a single or double quotation mark, possibly escaped, or a numeric
// escape (\u00…).
func imitates(keys []string, texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(text, `\u00`) {
			return true
		}
		for _, key := range keys {
			for rest := text; ; {
				_, after, found := strings.Cut(rest, key)
				if !found {
					break
				}
				rest = after
				if c := first(strings.TrimLeft(rest, `\`)); c == '"' || c == '\'' {
					return true
				}
			}
		}
	}
	return false
}

// errInexact is the error for a reply without the exact form that is required if the
// judged text contains a verdict.
var errInexact = errors.New("what is judged holds an answer of its own, and the reply is not one JSON object in exactly the form that was asked for, with nothing behind it and every quotation mark inside a text escaped")

// lastObject returns the JSON object at the end of a reply, ignoring a code fence and
// any text before it, such as reasoning. An object with a duplicate key does not count.
func lastObject(reply string) (o *value.Object, text string) {
	reply = strings.TrimRightFunc(reply, unicode.IsSpace)
	reply = strings.TrimRightFunc(strings.TrimSuffix(reply, "```"), unicode.IsSpace)
	if !strings.HasSuffix(reply, "}") {
		return nil, ""
	}
	work := 0
	for i := 0; work < maxScan; i++ {
		next := strings.IndexByte(reply[i:], '{')
		if next < 0 {
			break
		}
		i += next
		v, n, err := value.ParseUniqueJSON(reply[i:])
		if o, ok := v.(*value.Object); ok && err == nil {
			if i+n == len(reply) {
				return o, reply[i:]
			}
			i += n - 1
		}
		work += n + 1
	}
	return nil, ""
}

// quotation reports whether one of others contains a text, ignoring white space and
// backslashes.
func quotation(text string, others ...string) bool {
	text = squeezed(text)
	return slices.ContainsFunc(others, func(other string) bool { return strings.Contains(squeezed(other), text) })
}

func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// verdictKeys are the keys of a reply that hold a verdict.
var verdictKeys = []string{"met", "pass", "verdict"}

// imitated reports whether the input, the output or the context contains a fake verdict,
// or reasoning marks, which would end the reasoning of a judge that quotes them.
func (s *session) imitated() bool {
	s.looked.Do(func() {
		s.imitates = imitates(verdictKeys, s.texts()...) || holdsThoughts(s.texts()...)
	})
	return s.imitates
}

// imitation caches the result of [session.imitated].
type imitation struct {
	looked   sync.Once
	imitates bool
}

// reader returns the function that parses the reply about list.
func (s *session) reader(list []asked) func(reply string) ([]entry, error) {
	assertions, variables := assertionsJSON(list), variablesJSON(list)
	if !s.imitated() && !imitates(verdictKeys, assertions, variables) && !holdsThoughts(assertions, variables) {
		return func(reply string) ([]entry, error) {
			entries, err := readReply(reply)
			named(entries, list)
			return entries, err
		}
	}
	return func(reply string) ([]entry, error) {
		o, text := lastObject(reply)
		if o == nil || quotation(text, append(s.texts(), assertions, variables)...) || !exact(o, list) {
			return nil, errInexact
		}
		if s.drafts(reply[:strings.LastIndex(reply, text)], assertions, variables) {
			return nil, errDraft
		}
		entries, _ := entriesOf(o)
		return entries, nil
	}
}

// errDraft is the error for a reply that gives verdicts more than once.
var errDraft = errors.New("what is judged holds an answer of its own, and the reply gives verdicts more than once")

// drafts reports whether the text before a reply's last object contains verdicts by the
// judge itself, rather than verdicts quoted from the material.
func (s *session) drafts(before string, more ...string) bool {
	for _, v := range jsonValues(before) {
		if _, ok := entriesOf(v.value); ok && !quotation(before[v.start:v.end], append(more, s.texts()...)...) {
			return true
		}
	}
	return false
}

// exact reports whether a reply contains what was requested and nothing else: no other
// field, no other assertion or criterion, and none twice.
func exact(o *value.Object, list []asked) bool {
	results, ok := o.At("results").([]any)
	if !ok || o.Len() != 1 {
		return false
	}
	seen := map[string]bool{}
	for _, v := range results {
		o, _ := v.(*value.Object)
		e, ok := entryOf(o)
		at := slices.IndexFunc(list, func(a asked) bool { return a.id == e.id })
		if !ok || at < 0 || seen[e.id] || !keyedBy(o, "id", "criteria", "pass") {
			return false
		}
		seen[e.id] = true
		criteria, _ := o.At("criteria").([]any)
		if !exactCriteria(criteria, &e, list[at]) {
			return false
		}
	}
	return true
}

func exactCriteria(criteria []any, e *entry, a asked) bool {
	seen := map[int]bool{}
	for i, v := range criteria {
		o, _ := v.(*value.Object)
		n := e.criteria[i].n
		if !keyedBy(o, "n", "reasoning", "evidence", "met", "pass", "verdict") || seen[n] && n != 0 || !slices.Contains(a.ns, n) && n != 0 {
			return false
		}
		seen[n] = true
	}
	return len(criteria) <= len(a.ns)
}

// keyedBy reports whether an object has no keys other than keys.
func keyedBy(o *value.Object, keys ...string) bool {
	for key := range o.All() {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return o != nil
}

// exactly wraps read for the replies to a step. If the step's material contains a fake
// answer, read gets only the object at the end of the reply. Prompts from the suite
// define their own reply format, so read is not wrapped for them.
func exactly[T any](s *step, read func(reply string) (T, error)) func(reply string) (T, error) {
	if s.custom != nil {
		return read
	}
	keys := rubricKeys
	if s.reply != nil {
		properties, _ := s.reply.Schema.At("properties").(*value.Object)
		keys = properties.Keys()
	}
	texts := make([]string, len(s.pieces))
	for i, p := range s.pieces {
		texts[i] = p.text
	}
	if !imitates(keys, texts...) {
		return read
	}
	return func(reply string) (T, error) {
		if o, text := lastObject(reply); o != nil && !quotation(text, texts...) {
			return read(text)
		}
		var none T
		return none, errInexact
	}
}

// rubricKeys are the keys of a reply to a step without a schema.
var rubricKeys = []string{"reason", "score", "pass"}
