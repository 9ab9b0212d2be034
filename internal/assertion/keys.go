package assertion

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/kind"
)

// Key is one key of an assertion.
type Key struct {
	Name  string
	Kind  kind.Set // of its value
	Own   bool     // not a key of promptfoo
	Field int      // field number in a request to a judge, from 1; 0 if requests do not have the key
	OneOf []string // the only values of a text; nil if any is valid
	Doc   string   // one clause on its purpose

	// member returns where to store the value; its type decides how the value is read.
	// member is nil for a key that types read from Raw.
	member func(*proviso.Assertion) any
}

// label is the kind of a value that is a name. YAML reads names such as 2024 and true
// as a number and a boolean.
const label = kind.Text | kind.Number | kind.Boolean

// keys has every key of an assertion, the most frequent ones first. Only one type
// uses alpha, beta and gamma.
var keys = [...]Key{
	{Name: "type", Kind: kind.Text, Field: 5, Doc: "the type; not- before it negates the assertion",
		member: func(a *proviso.Assertion) any { return &a.Type }},
	{Name: "value", Kind: kind.Any, Doc: "what the output is compared with; its form depends on the type",
		member: func(a *proviso.Assertion) any { return &a.Value }},
	{Name: "threshold", Kind: kind.Number | kind.Text, Doc: "the score from which on the assertion passes",
		member: func(a *proviso.Assertion) any { return &a.Threshold }},
	{Name: "weight", Kind: kind.Number, Field: 7, Doc: "how much the assertion counts, 1 by default",
		member: func(a *proviso.Assertion) any { return &a.Weight }},
	{Name: "metric", Kind: label, Doc: "the metric that the score is added to",
		member: func(a *proviso.Assertion) any { return &a.Metric }},
	{Name: "provider", Kind: kind.Any, Doc: "the model that grades, instead of the default one",
		member: func(a *proviso.Assertion) any { return &a.Provider }},
	{Name: "rubricPrompt", Kind: kind.Any, Doc: "the prompt for the model that grades",
		member: func(a *proviso.Assertion) any { return &a.RubricPrompt }},
	{Name: "transform", Kind: kind.Text, Doc: "code that changes the output before it is compared",
		member: func(a *proviso.Assertion) any { return &a.Transform }},
	{Name: "contextTransform", Kind: kind.Text, Doc: "code that takes the context from the output",
		member: func(a *proviso.Assertion) any { return &a.ContextTransform }},
	{Name: "config", Kind: kind.Object, Doc: "settings that code receives",
		member: func(a *proviso.Assertion) any { return &a.Config }},
	{Name: "assert", Kind: kind.List, Doc: "the members of an assert-set",
		member: func(a *proviso.Assertion) any { return &a.Assert }},
	{Name: "id", Kind: label, Own: true, Field: 1, Doc: "the name that results are counted by",
		member: func(a *proviso.Assertion) any { return &a.ID }},
	{Name: "scope", Kind: kind.Object, Own: true, Field: 9, Doc: "the part of the output that counts",
		member: func(a *proviso.Assertion) any { return &a.Scope }},
	{Name: "ignoreCase", Kind: kind.Boolean, Own: true, Doc: "whether upper and lower case are the same",
		member: func(a *proviso.Assertion) any { return &a.IgnoreCase }},
	{Name: "wholeWords", Kind: kind.Boolean, Own: true, Doc: "whether a text counts only where it does not begin or end inside a word",
		member: func(a *proviso.Assertion) any { return &a.WholeWords }},
	{Name: "when", Kind: kind.Text, Own: true, Field: 6, Doc: "the condition, over variables and metadata, under which the assertion applies",
		member: func(a *proviso.Assertion) any { return &a.When }},
	{Name: "severity", Kind: kind.Text, OneOf: severities, Own: true, Field: 8, Doc: "must, should or info",
		member: func(a *proviso.Assertion) any { return &a.Severity }},
	{Name: "instruction", Kind: kind.Text, Own: true, Field: 2, Doc: "the requirement that is judged",
		member: func(a *proviso.Assertion) any { return &a.Instruction }},
	{Name: "criteria", Kind: kind.List | kind.Text, Own: true, Field: 3, Doc: "the questions that decide the requirement",
		member: func(a *proviso.Assertion) any { return &a.Criteria }},
	{Name: "check", Kind: kind.Object, Own: true, Field: 4, Doc: "the part of the requirement that is decided without a model",
		member: func(a *proviso.Assertion) any { return &a.Check }},
	{Name: "description", Kind: kind.Any, Own: true, Field: 10, Doc: "a note for people"},
	{Name: "alpha", Kind: kind.Any, Own: true, Doc: "the alpha of METEOR"},
	{Name: "beta", Kind: kind.Any, Own: true, Doc: "the beta of METEOR"},
	{Name: "gamma", Kind: kind.Any, Own: true, Doc: "the gamma of METEOR"},
}

// scopeKeys are the keys of a scope.
var scopeKeys = [...]Key{
	{Name: "of", Kind: kind.Text, OneOf: []string{"output", "prompt"}, Doc: "which text is meant, output by default"},
	{Name: "section", Kind: kind.Object, Doc: "the part between two headings or markers: {from, to}"},
	{Name: "each", Kind: kind.Text, OneOf: []string{"line", "item", "paragraph", "sentence"}, Doc: "each part is decided on its own"},
	{Name: "match", Kind: kind.Text, OneOf: []string{"all", "any", "none"}, Doc: "how many of the parts must hold, all by default"},
}

// sectionKeys are the keys of a section.
var sectionKeys = [...]Key{
	{Name: "from", Kind: kind.Text, Doc: "the heading or marker where it begins"},
	{Name: "to", Kind: kind.Text, Doc: "the heading or marker where it ends"},
}

// criterionKeys are the keys of a criterion.
var criterionKeys = [...]Key{
	{Name: "text", Kind: kind.Text, Doc: "the question"},
	{Name: "template", Kind: kind.Text, Doc: "the name of a criterion that proviso ships"},
	{Name: "params", Kind: kind.Object, Doc: "the parameters of the template"},
	{Name: "category", Kind: kind.Text, Doc: "the kind of question, for reports"},
}

// Tables returns the tables of keys by the name of their object: "assertion", "scope",
// "section" and "criterion".
func Tables() map[string][]Key {
	return map[string][]Key{
		"assertion": slices.Clone(keys[:]), "scope": slices.Clone(scopeKeys[:]),
		"section": slices.Clone(sectionKeys[:]), "criterion": slices.Clone(criterionKeys[:]),
	}
}

// names returns the names of the keys of a table.
func names(table []Key) []string {
	list := make([]string, len(table))
	for i := range table {
		list[i] = table[i].Name
	}
	return list
}

// valuesOf returns the valid values of a key of a table.
func valuesOf(table []Key, name string) []string {
	return table[slices.IndexFunc(table, func(k Key) bool { return k.Name == name })].OneOf
}

// KeyOf returns the row of a key; nil for an unknown key.
func KeyOf(name string) *Key {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

// Keys returns the names of all keys.
func Keys() []string { return names(keys[:]) }

// Fields returns the names of the keys that an assertion in a request to a judge
// may have, the most important ones first.
func Fields() []string {
	var fields []Key
	for _, k := range keys {
		if k.Field > 0 {
			fields = append(fields, k)
		}
	}
	slices.SortFunc(fields, func(a, b Key) int { return a.Field - b.Field })
	return names(fields)
}

// hints say what to write instead of common keys that do not exist.
var hints = map[string]string{
	"asserts": "assert", "assertions": "assert", "expected": "value", "values": "value", "name": "metric",
	"score": "threshold", "min": "value: {min: …}", "max": "value: {max: …}", "rubric": "value",
	"model": "provider", "schema": "value", "pattern": "value", "label": "metric",
}
