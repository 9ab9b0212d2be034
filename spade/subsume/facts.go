package subsume

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// fill computes the forms in which a fact can be compared.
func (c *claims) fill(f *fact, base string, a *proviso.Assertion) {
	kind, ok := check.Lookup(base)
	if !ok || !fixed(a.Value) {
		return // the value differs between outputs
	}
	if kind.Pure {
		pure := *a
		pure.Type, pure.Scope, pure.Transform, pure.When = base, nil, "", ""
		f.pure = &pure
	}
	fold := a.IgnoreCase || kind.FoldsCase
	switch {
	case kind.Measure != check.NoMeasure:
		fillLimit(f, kind, a)
	case kind.Match != proviso.MatchNone:
		c.fillText(f, kind.Match, a, fold)
	case len(kind.Units) > 0 || base == "chars":
		fillCounter(f, base, a)
	case base == "is-json" || base == "contains-json":
		fillSchema(f, base == "contains-json", a.Value)
	case base == "is-xml" || base == "contains-xml":
		fillPaths(f, base == "contains-xml", a.Value)
	case base == "finish-reason":
		if text, ok := a.Value.(string); ok {
			if low, ok := lowered(text); ok {
				f.name, f.of = low, base
			}
		}
	}
}

// fillText handles texts and patterns in the output.
func (c *claims) fillText(f *fact, match proviso.Match, a *proviso.Assertion, fold bool) {
	switch match {
	case proviso.MatchPart:
		c.fillPhrases(f, phraseOf(a.Value), false, fold, a.WholeWords)
	case proviso.MatchEvery:
		c.fillPhrases(f, phrasesOf(a.Value), false, fold, a.WholeWords)
	case proviso.MatchAnyOne:
		c.fillPhrases(f, phrasesOf(a.Value), true, fold, a.WholeWords)
	case proviso.MatchStart, proviso.MatchEnd:
		if a.WholeWords { // automata do not support words
			return
		}
	}
	switch match {
	case proviso.MatchStart:
		c.fillAffix(f, atStart, a.Value, fold)
	case proviso.MatchEnd:
		c.fillAffix(f, atEnd, a.Value, fold)
	case proviso.MatchWhole:
		c.fillAffix(f, whole, a.Value, fold)
	case proviso.MatchInOrder:
		if list := phrasesOf(a.Value); len(list) > 0 {
			f.text = c.languages.sequence(list, fold)
		}
	case proviso.MatchPattern:
		if pattern, ok := a.Value.(string); ok && pattern != "" {
			f.text = c.languages.matches(pattern, fold)
		}
	case proviso.MatchCount:
		c.fillCount(f, a)
	}
}

// fixed reports whether a value is the same for every output: it has no template and no file.
func fixed(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.HasPrefix(v, "file://") && !strings.HasPrefix(v, "package:") &&
			!strings.Contains(v, "{{") && !strings.Contains(v, "{%") && !strings.Contains(v, "{#")
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { text, ok := e.(string); return ok && !fixed(text) })
	case *value.Object:
		for _, key := range []string{"min", "max", "text"} {
			if text, ok := v.At(key).(string); ok && !fixed(text) {
				return false
			}
		}
	}
	return true
}

// phraseOf returns the text that contains searches for, as a list of one.
func phraseOf(v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case float64:
		if !math.IsNaN(v) {
			return []string{value.FormatNumber(v)}
		}
	}
	return nil
}

// phrasesOf returns the members of a list or of a comma-separated text; nil for anything else
// and for texts with quotes, which have their own rules.
func phrasesOf(v any) []string {
	switch v := v.(type) {
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			list[i] = value.ToString(e)
		}
		return list
	case string:
		if v == "" || strings.ContainsAny(v, `"\`) {
			return nil
		}
		list := []string{}
		for part := range strings.SplitSeq(v, ",") {
			if part = value.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return list
	}
	return nil
}

// fillPhrases handles texts that must occur. It writes a whole word between two marks that no
// text has, so that the word implies the same text as a part of a word, but not the reverse.
func (c *claims) fillPhrases(f *fact, list []string, any, fold, words bool) {
	const mark = "\x00"
	if list == nil || slices.ContainsFunc(list, func(s string) bool { return !utf8.ValidString(s) || words && (s == "" || strings.Contains(s, mark)) }) {
		return
	}
	if words {
		marked := make([]string, len(list))
		for i, s := range list {
			marked[i] = mark + s + mark
		}
		f.phrases = newPhrases(marked, any, fold, c.languages.cased)
		return
	}
	f.phrases = newPhrases(list, any, fold, c.languages.cased)
	f.text = c.languages.each(list, !any, fold)
}

// fillAffix handles texts that must start or end with a phrase, or equal one.
func (c *claims) fillAffix(f *fact, place string, val any, fold bool) {
	text, ok := val.(string)
	if place == whole {
		switch v := val.(type) {
		case value.Undefined:
			return
		case nil, []any, *value.Object:
			f.value, f.isValue = v, true
			return
		default:
			text, ok = value.ToString(v), true
		}
	}
	if !ok || text == "" && place != whole {
		return
	}
	f.text = c.languages.phrase(text, place, fold)
	if place == whole && !fold && utf8.ValidString(text) {
		f.exact = &text
	}
}

// fillCount handles how often a phrase or pattern occurs.
func (c *claims) fillCount(f *fact, a *proviso.Assertion) {
	text, _ := a.Value.(string)
	pattern, fold := "", a.IgnoreCase
	in := amounts{{1, endless}}
	if o, ok := a.Value.(*value.Object); ok {
		text = o.Text("text")
		pattern = o.Text("regex")
		ignore, _ := o.At("ignoreCase").(bool)
		fold = fold || ignore
		if in, ok = amountsOf(o, in); !ok {
			return
		}
	}
	if (text == "") == (pattern == "") {
		return
	}
	f.counted, f.amounts = value.Stringify([]any{"count", text, pattern, fold}), in
	occurs := amounts{{1, endless}}
	switch {
	case pattern == "":
		f.text = c.languages.times(text, fold, in)
	case occurs.within(in) && in.within(occurs):
		f.text = c.languages.matches(pattern, fold)
	case occurs.within(in.without()) && in.without().within(occurs):
		if l := c.languages.matches(pattern, fold); l != nil {
			f.text = not(l)
		}
	}
}

// fillCounter handles counts of units in the output.
func fillCounter(f *fact, base string, a *proviso.Assertion) {
	what := base
	val := a.Value
	var other amounts
	switch base {
	case "token-count":
		encoding := a.Config.Text("encoding")
		if encoding == "" {
			encoding = "o200k_base"
		}
		what += " " + encoding
	case "chars":
		other = amounts{{0, 0}}
		class, ok := val.(string)
		if ok {
			val = value.NewObject(0)
		} else if o, isObject := val.(*value.Object); isObject {
			class = o.Text("class")
		}
		what += " " + class
	}
	if in, ok := amountsOf(val, other); ok {
		f.counted, f.amounts = what, in
	}
}

// fillSchema handles JSON with a schema.
func fillSchema(f *fact, within bool, val any) {
	s := &schemaFact{within: within}
	if value.Truthy(val) {
		if text, ok := val.(string); ok {
			doc, err := document.ParseYAML("the schema", []byte(text))
			if err != nil {
				return
			}
			val = doc.Root
		}
		if _, ok := val.(*value.Object); !ok {
			return
		}
		s.schema, s.moves = readSchema(val, 0), refers(val)
	}
	f.schema = s
}

// fillPaths handles required elements of XML.
func fillPaths(f *fact, within bool, val any) {
	s := &schemaFact{within: within, paths: []string{}}
	switch v := val.(type) {
	case string:
		for p := range strings.SplitSeq(v, ",") {
			s.paths = append(s.paths, value.TrimSpace(p))
		}
	case []any:
		for _, p := range v {
			s.paths = append(s.paths, value.ToString(p))
		}
	case value.Undefined:
	default:
		return
	}
	f.schema = s
}
