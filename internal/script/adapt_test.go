package script_test

import (
	"errors"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
)

// TestAdapt turns files that export something else into functions.
func TestAdapt(t *testing.T) {
	t.Parallel()
	const adapter = `(exports) => {
		const found = exports.default ?? exports.named ?? exports;
		return (x) => typeof found === 'function' && /^class/.test(String(found)) ? new found().say(x) : typeof found === 'function' ? found(x) : found;
	}`
	tests := map[string]string{
		"commonjs class":   "module.exports = class { say(x) { return x + 1; } };",
		"commonjs comment": "module.exports = class { say(x) { return x + 1; } } // the end",
		"commonjs data":    "module.exports = 3;",
		"class":            "export default class { say(x) { return x + 1; } }",
		"named class":      "export default class Plus { say(x) { return x + Plus.one; } }\nPlus.one = 1;",
		"function":         "const one = 1;\nexport default function plus(x) { return x + one; }",
		"async":            "export default async (x) => x + 1",
		"anonymous":        "export default function (x) { return x + 1; }",
		"data":             "export default 3;",
		"named":            "export const named = (x) => x + 1;",
		"list":             "const plus = (x) => x + 1;\nexport { plus as default };",
		"one line":         "const one = 1; export default function plus(x) { return x + one; }",
		"text":             "const doc = `\nexport default 1;\nexport const other = 2;\n`;\nexport const named = (x) => x + doc.length - 42;",
		"comment":          "/*\nexport default 1;\n*/\nexport const named = (x) => x + 1;",
		"commonjs text":    "const doc = `\nexport default 1;\n`;\nmodule.exports = (x) => x + doc.length - 18;",
	}
	e := script.New(script.Options{})
	defer e.Close()
	for name, text := range tests {
		fn, err := e.Compile(t.Context(), proviso.Source{Language: "javascript", Name: "x.js", Form: proviso.Module, Text: script.Adapt(text, adapter)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := fn.Call(t.Context(), 2.0); got != 3.0 || err != nil {
			t.Errorf("%s: got %v, %v; want 3", name, got, err)
		}
	}
}

// TestCommonJS gives files CommonJS exports.
func TestCommonJS(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"commonjs": "module.exports = (x) => x + 1;",
		"default":  "const one = 1;\nexport default (x) => x + one;",
		"function": "export const one = 1;\nexport default function plus(x) { return x + one; }",
		"list":     "const plus = (x) => x + 1;\nexport { plus as default };",
		"text":     "const doc = `\nexport const other = 2;\n`;\nexport default (x) => x + doc.length - 24;",
	}
	e := script.New(script.Options{})
	defer e.Close()
	for name, text := range tests {
		fn, err := e.Compile(t.Context(), proviso.Source{Language: "javascript", Name: "x.cjs", Form: proviso.Module, Text: script.CommonJS(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := fn.Call(t.Context(), 2.0); got != 3.0 || err != nil {
			t.Errorf("%s: got %v, %v; want 3", name, got, err)
		}
	}
}

// TestCompile checks that errors refer to the file.
func TestCompile(t *testing.T) {
	t.Parallel()
	e := script.New(script.Options{})
	defer e.Close()
	for text, want := range map[string]int{
		"const a = (":                        1,
		"\n\nmodule.exports = nothing;":      3,
		"module.exports = 3;":                0, // the adapter throws
		"export default class {\n  say( { }": 2,
	} {
		_, err := script.Compile(t.Context(), e, proviso.Source{
			Language: "javascript", Name: "x.js", Form: proviso.Module,
			Text: script.Adapt(text, "(x) => { if (typeof x === 'number') throw new TypeError('no'); return () => x; }"),
		}, text)
		var thrown *proviso.ScriptError
		if !errors.As(err, &thrown) || thrown.Line != want {
			t.Errorf("%q: got %v at line %d, want line %d", text, err, thrown.Line, want)
		}
	}
}
