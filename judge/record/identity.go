package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// OutputID derives an id from an output's content, so that a label is not applied to a
// different output of the same case.
func OutputID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "out-" + hex.EncodeToString(sum[:6])
}

// AssertionHash hashes everything in an assertion that can change a verdict: instruction,
// criteria, check, value and so on. It excludes what cannot (id, metric, weight,
// severity, condition), and the model, which is part of the judge's identity.
func AssertionHash(a *proviso.Assertion) string {
	if a.Raw != nil {
		return HashOf(a.Raw)
	}
	return HashOf(rawAssertion(a))
}

// rawAssertion converts an assertion that was not read from a file to the form in a file.
func rawAssertion(a *proviso.Assertion) *value.Object {
	o := value.ObjectOf("type", a.Type, "instruction", a.Instruction, "value", a.Value, "threshold", a.Threshold,
		"rubricPrompt", a.RubricPrompt, "transform", a.Transform, "contextTransform", a.ContextTransform, "config", a.Config)
	if a.IgnoreCase {
		o.Set("ignoreCase", true)
	}
	if a.WholeWords {
		o.Set("wholeWords", true)
	}
	var criteria []any
	for _, c := range a.Criteria {
		criteria = append(criteria, value.ObjectOf("text", c.Text, "template", c.Template, "params", c.Params))
	}
	if criteria != nil {
		o.Set("criteria", criteria)
	}
	if a.Scope != nil {
		section := value.ObjectOf("from", a.Scope.From, "to", a.Scope.To)
		o.Set("scope", value.ObjectOf("of", a.Scope.Of, "section", section, "each", a.Scope.Each, "match", a.Scope.Match))
	}
	if a.Check != nil {
		if a.Check.Raw != nil {
			o.Set("check", a.Check.Raw)
		} else {
			o.Set("check", rawAssertion(a.Check))
		}
	}
	return o
}

// neutralKeys are the keys of an assertion that do not change its verdict.
var neutralKeys = [...]string{"id", "metric", "weight", "severity", "when", "description", "provider"}

// HashOf is [AssertionHash] for an assertion in the form in a file.
func HashOf(raw *value.Object) string {
	sum := sha256.Sum256(value.AppendJSON([]byte("assertion 1\n"), essential(raw)))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// essential returns the parts of an assertion that can change its verdict, in one normal
// form. A single criterion equals a list of one, a text equals an object with that text,
// the type judge equals no type, and an empty value equals an absent one.
func essential(raw *value.Object) *value.Object {
	o, _ := canonical(raw).(*value.Object)
	for _, key := range neutralKeys {
		o.Delete(key)
	}
	if o.At("type") == proviso.TypeJudge {
		o.Delete("type")
	}
	if check := o.Object("check"); check != nil {
		o.Set("check", essential(check))
	}
	if c := o.At("criteria"); c != nil {
		list, ok := c.([]any)
		if !ok {
			list = []any{c}
		}
		for i, e := range list {
			criterion, ok := e.(*value.Object)
			if !ok {
				continue
			}
			if criterion.Delete("category"); criterion.Len() == 1 && criterion.Has("text") {
				list[i] = criterion.At("text")
			}
		}
		o.Set("criteria", list)
	}
	return o
}

// canonical returns a copy with sorted keys and without empty values.
func canonical(v any) any {
	switch v := v.(type) {
	case *value.Object:
		keys := slices.Clone(v.Keys())
		slices.Sort(keys)
		sorted := value.NewObject(len(keys))
		for _, key := range keys {
			if member := canonical(v.At(key)); !isEmpty(member) {
				sorted.Set(key, member)
			}
		}
		return sorted
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = canonical(e)
		}
		return list
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil, value.Undefined:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case *value.Object:
		return v.Len() == 0
	}
	return false
}
