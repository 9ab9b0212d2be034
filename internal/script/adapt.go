package script

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jstoken"
)

// Adapt returns the text of a JavaScript or TypeScript file whose default export is
// the result of calling adapter with the file's exports. adapter is the source of a
// function. Line numbers of the file do not change, so positions stay valid. It
// works for CommonJS and for ECMAScript modules.
func Adapt(text, adapter string) string {
	adapter = strings.Join(strings.Fields(adapter), " ")
	if !jstoken.IsModule(text) {
		return text + "\n;module.exports = (" + adapter + ")(module.exports);\n"
	}
	text, names := ownDefault(text)
	return withoutListedDefault(text) + "\n;export default (" + adapter + ")(" + exportsOf(names) + ");\n"
}

// CommonJS returns the text of a file with CommonJS exports. A file with imports
// does not work after the change.
func CommonJS(text string) string {
	if !jstoken.IsModule(text) {
		return text
	}
	text, names := ownDefault(text)
	return withoutExport(text) + "\n;module.exports = " + exportsOf(names) + ";\n"
}

// ownDefault gives the default export of an ECMAScript module a name, and returns
// the new text and the module's exports: by exported name, the name inside the
// module.
func ownDefault(text string) (string, map[string]string) {
	names := map[string]string{}
	var edits []edit
	for _, e := range exports(text) {
		switch {
		case e.list != nil:
			maps.Copy(names, e.list)
		case !e.isDefault:
			names[e.name] = e.name
		case e.name != "": // name of a function or class, which the file itself may use
			names["default"] = e.name
			edits = append(edits, edit{e.start, e.body, ""})
		default:
			names["default"] = "__default"
			edits = append(edits, edit{e.start, e.body, "const __default = "})
		}
	}
	return edited(text, edits), names
}

// withoutListedDefault removes the default export from lists of exported names.
func withoutListedDefault(text string) string {
	var edits []edit
	for _, e := range exports(text) {
		if e.listedDefault.end > 0 {
			edits = append(edits, e.listedDefault)
		}
	}
	return edited(text, edits)
}

// withoutExport keeps the declarations of a module and removes its exports.
func withoutExport(text string) string {
	var edits []edit
	for _, e := range exports(text) {
		end := e.body
		if e.list != nil {
			end = e.end
		}
		edits = append(edits, edit{e.start, end, strings.Repeat("\n", strings.Count(text[e.start:end], "\n"))})
	}
	return edited(text, edits)
}

// exportsOf is the source of an object with a module's exports.
func exportsOf(names map[string]string) string {
	var b strings.Builder
	b.WriteString("({")
	for _, exported := range slices.Sorted(maps.Keys(names)) {
		b.WriteString("get " + exported + "() { return " + names[exported] + "; }, ")
	}
	b.WriteString("})")
	return b.String()
}

// Compile compiles a source whose text may be the result of [Adapt] for text. Errors
// refer to text.
func Compile(ctx context.Context, code proviso.Code, src proviso.Source, text string) (proviso.Function, error) {
	fn, err := code.Compile(ctx, src)
	var thrown *proviso.ScriptError
	if src.Text == text || !errors.As(err, &thrown) {
		return fn, err
	}
	if thrown.Syntax {
		src.Text = text
		if own, err := code.Compile(ctx, src); err == nil {
			_ = own.Close() // no error matters: Close only frees memory
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
