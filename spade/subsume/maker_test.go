package subsume_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// maker makes assertions that are closely related.
type maker struct {
	*rand.Rand
	theme int // 1 is JSON, 2 is letters whose lower case is odd; 0 is everything
}

func (m maker) pick(list ...string) string { return list[m.IntN(len(list))] }

// phrase is a short text of few letters, some of them awkward.
func (m maker) phrase(most int) string {
	var b strings.Builder
	for range 1 + m.IntN(most) {
		if m.theme == 2 {
			b.WriteString(m.pick("a", "A", "i", "I", "İ", "Σ", "σ", "ς", "\u0307"))
			continue
		}
		b.WriteString(m.pick("a", "a", "a", "b", "b", "b", "A", "B", " ", "i", "I", "İ", "Σ", "σ", "ς", "é", "É", "K", "ß", "🎉", "1", ".", "\u0307", "ǅ"))
	}
	return b.String()
}

func (m maker) phrases() string {
	var list []string
	for range 1 + m.IntN(3) {
		list = append(list, quoted(m.phrase(2)))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func quoted(s string) string { return value.Stringify(s) }

func (m maker) amount() string {
	lo := m.IntN(5)
	return m.pick(fmt.Sprint(lo), fmt.Sprintf(`{"min":%d}`, lo), fmt.Sprintf(`{"max":%d}`, lo), fmt.Sprintf(`{"min":%d,"max":%d}`, lo, lo+m.IntN(3)), fmt.Sprintf(`{"max":%d.5}`, lo))
}

func (m maker) pattern() string {
	part := func() string {
		return m.pick("a", "b", "ab", "[ab]", "[^a]", ".", "a*", "b+", "(a|b)", "(ab|b)", "a?", `\w`, `\b`, `\d`, "é", "🎉", `[\s\S]`, "i", "k", "B")
	}
	text := m.pick("", "", "^")
	for range 1 + m.IntN(3) {
		text += part()
	}
	return text + m.pick("", "", "$")
}

func (m maker) schema(depth int) string {
	if m.theme == 1 && m.IntN(2) == 0 {
		leaf := func() string {
			return m.pick(`true`, `{"type":"number"}`, `{"type":"integer"}`, `{"minimum":1}`, `{"type":"number","maximum":2}`, `{"type":"number","exclusiveMaximum":2}`)
		}
		return fmt.Sprintf(`{"type":"object","properties":{"a":%s%s},"required":%s%s}`, leaf(), m.pick("", `,"b":`+leaf()), m.pick(`[]`, `["a"]`, `["a","b"]`),
			m.pick("", `,"additionalProperties":false`, `,"additionalProperties":`+leaf()))
	}
	number := func() string { return fmt.Sprint(m.IntN(4)) }
	switch k := m.IntN(7); {
	case k == 0:
		return fmt.Sprintf(`{"type":%s,"minimum":%s}`, m.pick(`"integer"`, `"number"`), number())
	case k == 1:
		return fmt.Sprintf(`{"type":"number",%s:%s}`, m.pick(`"maximum"`, `"exclusiveMaximum"`, `"exclusiveMinimum"`), number())
	case k == 2:
		return fmt.Sprintf(`{"enum":[%s,"a"]}`, number())
	case k == 3 || depth > 1:
		return m.pick(`{"type":"string"}`, `{"type":["string","number"]}`, `true`, `{"type":"string","minLength":2}`, `{"type":"string","pattern":"a"}`)
	case k == 4:
		return fmt.Sprintf(`{"type":"array","items":%s,"%s":%s}`, m.schema(depth+1), m.pick("minItems", "maxItems"), number())
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":%s},"required":%s%s}`, m.schema(depth+1), m.schema(depth+1),
		m.pick(`[]`, `["a"]`, `["a","b"]`), m.pick("", `,"additionalProperties":false`, `,"additionalProperties":`+m.schema(2)))
}

// assertion makes an assertion as JSON.
func (m maker) assertion() string {
	text := ""
	add := func(key, value string) { text += `,"` + key + `":` + value }
	kind := m.pick("contains", "contains", "icontains", "contains-all", "contains-any", "icontains-all", "icontains-any", "starts-with", "ends-with", "equals", "equals",
		"in-order", "regex", "regex", "count", "word-count", "char-count", "line-count", "sentence-count", "item-count", "token-count", "chars", "levenshtein", "rouge-n", "rouge-l",
		"bleu", "gleu", "meteor", "is-json", "contains-json", "is-json", "is-xml", "judge", "cost", "perplexity", "finish-reason")
	switch m.theme {
	case 1:
		kind = m.pick("is-json", "contains-json", "equals")
	case 2:
		kind = m.pick("contains", "icontains", "icontains-all", "icontains-any", "starts-with", "ends-with", "equals", "count", "in-order")
	}
	switch kind {
	case "contains", "icontains", "starts-with", "ends-with", "levenshtein":
		add("value", quoted(m.phrase(3)))
	case "equals":
		add("value", m.pick(quoted(m.phrase(4)), m.json(0), `{"a":1}`))
	case "contains-all", "contains-any", "icontains-all", "icontains-any", "in-order":
		add("value", m.phrases())
	case "regex":
		add("value", quoted(m.pattern()))
	case "count":
		add("value", m.pick(quoted(m.phrase(2)), fmt.Sprintf(`{"text":%s,"%s":%d}`, quoted(m.phrase(2)), m.pick("min", "max"), m.IntN(3)), fmt.Sprintf(`{"regex":%s,"%s":%d}`, quoted(m.pattern()), m.pick("min", "max"), m.IntN(2))))
	case "word-count", "char-count", "line-count", "sentence-count", "item-count", "token-count":
		add("value", m.amount())
	case "chars":
		add("value", m.pick(`"upper"`, `{"class":"upper","max":2}`, `{"class":"upper","min":1}`, `{"class":"letter","min":1}`))
	case "rouge-n":
		add("value", m.pick(`"a b"`, `"b a"`))
	case "rouge-l", "bleu", "gleu", "meteor":
		add("value", m.pick(`"a b"`, `["a b"]`, `["b", "a b"]`))
	case "is-json", "contains-json":
		if m.IntN(5) > 0 {
			if s := m.schema(0); s != "true" {
				add("value", s)
			}
		}
	case "is-xml":
		add("value", m.pick(`"a"`, `["a","a.b"]`, `"a.b"`))
	case "judge":
		add("check", fmt.Sprintf(`{"type":%q,"value":%s}`, m.pick("word-count", "not-word-count"), m.amount()))
		add("criteria", m.pick(`[]`, `[]`, `["It is kind."]`, `["It is short.","It is kind."]`))
	case "finish-reason":
		add("value", m.pick(`"stop"`, `"Stop"`, `"length"`))
	}
	switch kind {
	case "levenshtein":
		add("threshold", fmt.Sprint(m.IntN(4)))
	case "rouge-n", "rouge-l", "bleu", "gleu", "meteor", "cost", "perplexity":
		add("threshold", fmt.Sprint(float64(m.IntN(5))/4))
	case "contains", "contains-all", "contains-any", "starts-with", "ends-with", "equals", "in-order", "regex", "count":
		if m.IntN(3) == 0 {
			add("ignoreCase", "true")
		}
	}
	switch kind {
	case "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any", "starts-with", "ends-with":
		if len(text)%5 == 0 { // which takes no number
			add("wholeWords", "true")
		}
	}
	if m.theme == 0 && m.IntN(4) == 0 || kind == "contains" && m.IntN(2) == 0 {
		add("scope", m.pick(`{"each":"line"}`, `{"each":"line","match":"any"}`, `{"each":"line","match":"none"}`, `{"section":{"from":"a"}}`, `{"each":"item","match":"any"}`, `{"each":"sentence","match":"none"}`, `{"of":"prompt"}`))
	}
	if m.theme == 0 && m.IntN(8) == 0 {
		add("when", m.pick(`"vars.x == 'a'"`, `"vars.x != 'a'"`))
	}
	return `{"type":"` + m.pick("", "", "not-") + kind + `"` + text + `}`
}

func (m maker) json(depth int) string {
	if depth > 2 || m.IntN(3) == 0 {
		return m.pick("1", "0", "2.5", `"a"`, `"ab"`, "null", "3", "[]")
	}
	return m.pick(`{"a":`+m.json(depth+1)+`}`, `{"a":`+m.json(depth+1)+`,"b":`+m.json(depth+1)+`}`, `[`+m.json(depth+1)+`]`, `{"c":1}`)
}

// output makes a text, often of what the assertions ask for.
func (m maker) output(parts []string) string {
	if m.theme == 1 && m.IntN(2) == 0 {
		leaf := func() string { return m.pick("0", "1", "2", "1.5", "3", `"a"`) }
		return fmt.Sprintf(`{%s"c":1}`, m.pick("", `"a":`+leaf()+",", `"b":`+leaf()+",", `"a":`+leaf()+`,"b":`+leaf()+","))
	}
	if m.IntN(4) == 0 || m.theme == 1 {
		return m.pick(m.json(0), m.json(0), "see "+m.json(0), "<a><b>1</b></a>", "<a/>", "<x><a/></x>")
	}
	var b strings.Builder
	for range m.IntN(6) {
		b.WriteString(m.pick(m.phrase(3), parts[m.IntN(len(parts))], "\n", "- a", " ", ". "))
	}
	return b.String()
}
