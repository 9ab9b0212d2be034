package suite

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// writtenForPromptfoo reports whether the files of a suite together have promptfoo's
// shape, in which what promptfoo ignores is a warning (docs/suite.md has the rule).
// The file name decides if it can, then promptfoo's schema, then the content.
func writtenForPromptfoo(parts []suiteFile) bool {
	for _, p := range parts {
		switch name := filepath.Base(p.name); {
		case strings.HasPrefix(name, "promptfooconfig"):
			return true
		case strings.HasPrefix(name, "proviso"):
			return false
		}
	}
	for _, p := range parts {
		schema, _ := p.cfg.At("$schema").(string)
		if strings.Contains(schema+p.doc.Head(), "promptfoo.dev/config-schema.json") {
			return true
		}
	}
	has := func(keys ...string) bool {
		for _, p := range parts {
			for _, key := range keys {
				if p.cfg.At(key) != nil {
					return true
				}
			}
		}
		return false
	}
	if !has("redteam") && (!has("prompts") || !has(providerKeyNames()...) || !has("tests", "scenarios", "defaultTest")) {
		return false
	}
	for _, p := range parts {
		if usesOwnKeys(p.cfg) {
			return false
		}
	}
	return true
}

// usesOwnKeys reports whether a suite has a key that promptfoo does not have, at the
// top level or in an assertion in the file itself.
func usesOwnKeys(cfg *value.Object) bool {
	for _, row := range suiteKeys() {
		if row.Own && cfg.At(row.Key) != nil {
			return true
		}
	}
	if assertsOwn(cfg.At("defaultTest")) || listHas(cfg.At("tests"), assertsOwn) {
		return true
	}
	return listHas(cfg.At("scenarios"), func(v any) bool {
		o, _ := v.(*value.Object)
		return listHas(o.At("tests"), assertsOwn)
	})
}

// assertsOwn reports whether an assertion of a case, or a member of one, has a key of
// proviso.
func assertsOwn(testCase any) bool {
	o, _ := testCase.(*value.Object)
	return listHas(o.At("assert"), ownAssertion)
}

func ownAssertion(v any) bool {
	o, ok := v.(*value.Object)
	if !ok {
		return false
	}
	for _, key := range [...]string{"scope", "ignoreCase", "wholeWords", "when", "instruction", "criteria", "check"} {
		if o.At(key) != nil {
			return true
		}
	}
	return listHas(o.At("assert"), ownAssertion)
}

func listHas(v any, found func(any) bool) bool {
	list, _ := v.([]any)
	return slices.ContainsFunc(list, found)
}
