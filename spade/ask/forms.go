package ask

import "strings"

// Form is a group of assertion types whose values a model writes in the same way.
type Form struct {
	Name  string
	Types []string
	Says  string // meaning of a candidate's members for these types
}

// Forms returns the types that a model may use, as its instructions list them.
func Forms() []Form {
	return []Form{
		{"text", []string{"contains", "icontains", "starts-with", "ends-with", "equals"}, "text, ignore_case (icontains ignores it in any case)"},
		{"texts", []string{"contains-all", "contains-any", "icontains-all", "icontains-any", "in-order"}, "texts, ignore_case; in-order wants them one after the other"},
		{"pattern", []string{"regex"}, "pattern, ignore_case; an ECMAScript regular expression without flags, found anywhere, so anchor what has to be the whole; ^ and $ are the ends of the whole text, and . matches no line break"},
		{"range", []string{"word-count", "sentence-count", "char-count", "line-count", "item-count", "token-count"}, "min, max, of which one may be null; items are those of lists"},
		{"count", []string{"count"}, "text or pattern (the other is \"\"), min, max, ignore_case: how often it occurs"},
		{"chars", []string{"chars"}, "class (emoji, digit, upper, lower, letter, punctuation, non-ascii, cjk), min, max: how many of them"},
		{"schema", []string{"is-json", "contains-json"}, "schema, a JSON Schema (draft-07) as text, or \"\"; is-json wants nothing else beside it"},
		{"none", []string{"is-html", "contains-html", "is-xml", "contains-xml", "is-sql", "contains-sql", "is-refusal"}, "schema, which is \"\""},
	}
}

// typeLines lists the forms for the instructions.
func typeLines() string {
	var b strings.Builder
	for _, f := range Forms() {
		b.WriteString("   - " + strings.Join(f.Types, ", ") + ": " + f.Says + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
