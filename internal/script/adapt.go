package script

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// Adapt returns the text of a JavaScript or TypeScript file whose default export
// is what adapter, the source of a function, makes of the file's exports. The
// lines of the file stay where they are, so that places in it stay right. It
// works for CommonJS and for ECMAScript modules.
func Adapt(text, adapter string) string {
	adapter = strings.Join(strings.Fields(adapter), " ")
	if !looksLikeModule(text) {
		return text + "\n;module.exports = (" + adapter + ")(module.exports);\n"
	}
	text, names := ownDefault(text)
	text = listedDefault().ReplaceAllString(text, "$1")
	return text + "\n;export default (" + adapter + ")(" + exportsOf(names) + ");\n"
}

// CommonJS returns the text of a file that exports as CommonJS has it. A file with
// imports is not changed into one that works.
func CommonJS(text string) string {
	if !looksLikeModule(text) {
		return text
	}
	text, names := ownDefault(text)
	text = listed().ReplaceAllString(text, "")
	text = declared().ReplaceAllStringFunc(text, func(found string) string { return strings.Replace(found, "export", "", 1) })
	return text + "\n;module.exports = " + exportsOf(names) + ";\n"
}

// ownDefault gives the default export of an ECMAScript module a name, and returns
// what the module exports: the exported name and the one that it has in the
// module.
func ownDefault(text string) (string, map[string]string) {
	names := exportedNames(text)
	text = defaultExport().ReplaceAllStringFunc(text, func(found string) string {
		m := defaultExport().FindStringSubmatch(found)
		if name := m[3]; name != "" { // of a function or class, which the file may use by it
			names["default"] = name
			return m[1] + m[2] + name
		}
		names["default"] = "__default"
		return m[1] + "const __default = " + m[2]
	})
	return text, names
}

// exportsOf is the source of an object with what a module exports.
func exportsOf(names map[string]string) string {
	var b strings.Builder
	b.WriteString("({")
	for _, exported := range slices.Sorted(maps.Keys(names)) {
		b.WriteString("get " + exported + "() { return " + names[exported] + "; }, ")
	}
	b.WriteString("})")
	return b.String()
}

// defaultExport finds `export default`, with the keyword and the name of a
// function or class that it declares. listedDefault finds it in a list.
var (
	defaultExport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+default[ \t]+(?:((?:async[ \t]+)?function\b[ \t]*\*?[ \t]*|(?:abstract[ \t]+)?class\b[ \t]*)([\pL_$][\pL\pN_$]*)?)?`)
	})
	listedDefault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*export[ \t]*\{[^}]*?)[\pL_$][\pL\pN_$]*\s+as\s+default\s*,?`)
	})
)

// declared finds exported declarations, listed finds lists of exported names.
var (
	declared = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*export[ \t]+(?:async[ \t]+)?(?:function\b[ \t]*\*?|class|const|let|var)[ \t]+([\pL_$][\pL\pN_$]*)`)
	})
	listed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*export[ \t]*\{([^}]*)\}[ \t]*;?[ \t]*$`)
	})
)

// exportedNames returns what an ECMAScript module exports by name: the exported
// name and the one that it has in the module.
func exportedNames(text string) map[string]string {
	names := map[string]string{}
	for _, m := range declared().FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[1]
	}
	for _, m := range listed().FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(m[1], ",") {
			fields := strings.Fields(part)
			switch {
			case len(fields) == 1:
				names[fields[0]] = fields[0]
			case len(fields) == 3 && fields[1] == "as":
				names[fields[2]] = fields[0]
			}
		}
	}
	return names
}

// Compile compiles a source whose text may be what [Adapt] made of text. What is
// wrong with it is told in terms of text.
func Compile(ctx context.Context, code proviso.Code, src proviso.Source, text string) (proviso.Function, error) {
	fn, err := code.Compile(ctx, src)
	var thrown *proviso.ScriptError
	if src.Text == text || !errors.As(err, &thrown) {
		return fn, err
	}
	if thrown.Syntax {
		src.Text = text
		if own, err := code.Compile(ctx, src); err == nil {
			_ = own.Close() // it only frees memory
		} else if errors.As(err, &thrown) && thrown.Syntax {
			return nil, err
		}
	}
	if thrown.Line <= 1+strings.Count(text, "\n") {
		return nil, err
	}
	placed := *thrown
	placed.Line, placed.Column, placed.Stack = 0, 0, ""
	return nil, &placed
}
