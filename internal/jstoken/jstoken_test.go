package jstoken_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/jstoken"
)

// kinds writes the tokens of a source as one line: the kind, then the text.
func kinds(src string) string {
	letters := [...]string{jstoken.Name: "n", jstoken.Number: "d", jstoken.String: "s", jstoken.Template: "t", jstoken.Regexp: "r", jstoken.Punct: "p"}
	var b strings.Builder
	s := jstoken.New(src)
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		if t.Kind == jstoken.Punct {
			b.WriteString(" " + s.Text(t))
			continue
		}
		b.WriteString(" " + letters[t.Kind] + ":" + s.Text(t))
	}
	return strings.TrimPrefix(b.String(), " ")
}

// TestTokens splits source that is easily misread.
func TestTokens(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                          "",
		"a // b\nc":                 "n:a n:c",
		"a /* // */ b /*":           "n:a n:b",
		"'//' + \"/*\" // x":        `s:'//' + s:"/*"`,
		`'it\'s' "a\\" b`:           `s:'it\'s' s:"a\\" n:b`,
		"'open\nnext":               "s:'open n:next",
		"'a\\\nb' c":                "s:'a\\\nb' n:c",
		"#!/usr/bin/env node\nx":    "n:x",
		"`a${b}c` d":                "t:`a${ n:b t:}c` n:d",
		"`a${`b${c}`}d`":            "t:`a${ t:`b${ n:c t:}` t:}d`",
		"`${{a: {}}.a}`/2":          "t:`${ { n:a : { } } . n:a t:}` / d:2",
		"`\\`${'}'}`":               "t:`\\`${ s:'}' t:}`",
		"`//` + `/*` // c":          "t:`//` + t:`/*`",
		"a / b / c":                 "n:a / n:b / n:c",
		"a = /b'/g.test(c) / 2":     "n:a = r:/b'/g . n:test ( n:c ) / d:2",
		"/[/\"]/.test(x)":           `r:/[/"]/ . n:test ( n:x )`,
		`/a\/"b/ /c`:                `r:/a\/"b/ / n:c`,
		"return /x'/":               "n:return r:/x'/",
		"a.return / x / 'b'":        "n:a . n:return / n:x / s:'b'",
		"if (a) /'/.test(b)":        "n:if ( n:a ) r:/'/ . n:test ( n:b )",
		"(a) / b / 'c'":             "( n:a ) / n:b / s:'c'",
		"a[0] / b / 'c'":            "n:a [ d:0 ] / n:b / s:'c'",
		"a++ / b / 'c'":             "n:a ++ / n:b / s:'c'",
		"x = {} / 1 / 'c'":          "n:x = { } / d:1 / s:'c'",
		"{} /'/.test(b)":            "{ } r:/'/ . n:test ( n:b )",
		"() => {}\n/'/.test(b)":     "( ) => { } r:/'/ . n:test ( n:b )",
		"for (const a of /'/g) b":   "n:for ( n:const n:a n:of r:/'/g ) n:b",
		"case 'a': {} /'/.test(b)":  "n:case s:'a' : { } r:/'/ . n:test ( n:b )",
		"({a: {}}).a / 2 / 'c'":     "( { n:a : { } } ) . n:a / d:2 / s:'c'",
		"1.5e+3 / .5 / 0x1e+1 / 1n": "d:1.5e+3 / d:.5 / d:0x1e + d:1 / d:1n",
		"a?.b ?.5 : c":              "n:a ?. n:b ? d:.5 : n:c",
		"a! / b / 'c'":              "n:a ! / n:b / s:'c'",
		"a != /'/ ":                 "n:a ! = r:/'/",
		"größe \\u0061b #x é":       "n:größe n:\\u0061b n:#x n:é",
		"a = b\n/x/":                "n:a = n:b / n:x /",
		"= / open":                  "= / n:open",
	} {
		if got := kinds(src); got != want {
			t.Errorf("%q\n got  %s\n want %s", src, got, want)
		}
	}
}

// TestImports finds code that loads files, and nothing else.
func TestImports(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"const a = 1; // the url\nmodule.exports = () => require('./b')":       true,
		"// a\n/* b */ const x = require('x')":                                 true,
		"const u = 'http://x'; const y = require('y')":                         true,
		"const u = `http://x`; const y = require('y')":                         true,
		"const u = /\\/\\//; const y = require('y')":                           true,
		"`${require('x')}`":                                                    true,
		"import a from 'a'":                                                    true,
		"import'a'":                                                            true,
		"import type {A} from 'a'":                                             true,
		"const a = await import('./a.js')":                                     true,
		"import.meta.url":                                                      true,
		"export { a } from './a.js'":                                           true,
		"export * from './a.js'":                                               true,
		"export * as b from './a.js'":                                          true,
		"if (require.main === module) go()":                                    true,
		"process.mainModule.require('path')":                                   true,
		"fs.readFileSync(__dirname + '/a')":                                    true,
		"// require('x')\nmodule.exports = 1":                                  false,
		"/* import x from 'x' */ 1":                                            false,
		"/*\nimport x from 'x'\n*/ 1":                                          false,
		"const s = \"require('x')\"":                                           false,
		"const s = `\nimport x from 'x'\n`":                                    false,
		"const s = `\n// ${1}\nimport x from 'x'\n`":                           false,
		"const r = /require('x')/":                                             false,
		"this.require('x'); a.import('x')":                                     false,
		"({require: 1, import: 2})":                                            false,
		"function require(x) {}":                                               false,
		"const require2 = 1, important = 2":                                    false,
		"export const from = 'a'; export { from }; export default {from: 'a'}": false,
		"export { from };\nconst a = 'x'":                                      false,
		"required(1)":                                                          false,
	} {
		if got := jstoken.Imports(src); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// TestUses finds globals, and only those.
func TestUses(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"// get it\nmodule.exports = () => fetch('x')": true,
		"const {env} = process":                        true,
		"process?.env.X":                               true,
		"globalThis.fetch('x')":                        true,
		"const f = fetch;":                             true,
		"call(fetch)":                                  true,
		"({fetch})":                                    true,
		"this.fetch('x')":                              false,
		"'fetch(1)' + `fetch(2)`":                      false,
		"// fetch('x')":                                false,
		"({fetch: 1, process: 2})":                     false,
		"typeof process":                               false,
		"function fetch() {} fetch()":                  false,
		"(output, context, process) => process.env":    false,
		"module.exports = function (process) { process.exit }": false,
		"class X { async fetch() {} }":                         true, // a method is rarely called fetch; Node runs it, too
		"prefetch(1)":                                          false,
		"[1].map(process => process + 1)":                      false,
		"const x = 1, process = true; process":                 false,
		"(a, process = true) => process":                       false,
		"(...process) => process":                              false,
		"({ get fetch() { return 1 } })":                       false,
		"process == 1":                                         true,
		"process === undefined":                                true,
		"f(...process)":                                        true,
		"[1].map(fetch)":                                       true,
	} {
		if got := jstoken.Uses(src, []string{"fetch", "process"}); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// TestIsModule distinguishes the two kinds of module.
func TestIsModule(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"export default 1":                                     true,
		"const a = 1;\n  export { a };":                        true,
		"/* x */ export * from 'a'":                            true,
		"import a from 'a'":                                    true,
		"import{a}from'a'":                                     true,
		"const a = `x${1}y`; export default a":                 true,
		"x = import.meta.url":                                  true,
		"module.exports = 1":                                   false,
		"const a = import('a')":                                false,
		"import('a').then(go)":                                 false,
		"const s = `\nexport default 1\n`":                     false,
		"/*\nexport default 1\n*/":                             false,
		"const s = {\n  export: 1,\n  import: 2\n}":            false,
		"a\n  .export\n  .import":                              false,
		"module.exports = {\n  export: () => `\nimport x`,\n}": false,
	} {
		if got := jstoken.IsModule(src); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// TestIsFunction distinguishes a function from an expression.
func TestIsFunction(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"s => s.m":                        true,
		"(s, {a = (1)}) => s.m":           true,
		"() => 1":                         true,
		"async (s) => s.m":                true,
		"async s => s.m":                  true,
		"function (s) { return 1 }":       true,
		"async function f(s) { return 1}": true,
		"/* x */ (s) =>\n s.m":            true,
		"2 * tp / (2 * tp + fp)":          false,
		"(tp + fp) / n":                   false,
		"f(x) = x ^ 2":                    false,
		"tp >= 2 ? 1 : 0":                 false,
		"functional":                      false,
		"'s => 1'":                        false,
		"":                                false,
		"(":                               false,
		"async":                           false,
	} {
		if got := jstoken.IsFunction(src); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// TestWithoutComments keeps code and its line numbers.
func TestWithoutComments(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"a // b":               "a ",
		"a /* b\nc */ d":       "a \nd",
		"'// a' + `/* b */`":   "'// a' + `/* b */`",
		"x = /a b/g.test(y) ":  "x = / /.test(y) ",
		"#!/bin/x\nrequire(1)": " \nrequire(1)",
		"":                     "",
	} {
		if got := jstoken.WithoutComments(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// TestFarLook gives text that makes a tokenizer look far ahead. If its time grew with the square
// of the text, the test would not end before the timeout of go test.
func TestFarLook(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"/[", "=/x", "`${", "\\u{", "/*", "'\\", "(", "{", "a/", "export {", "import ", "}"} {
		jstoken.Imports(strings.Repeat(unit, 1<<18/len(unit)))
	}
}

// FuzzTokens checks that tokens are in order, do not overlap, and cover everything
// but white space and comments.
func FuzzTokens(f *testing.F) {
	for _, src := range []string{"`a${b}`", "a /b/ c", "'\\", "\\u{61}", "x = /[/]/g // y", "#!a", "/", "\xff`", "1.e", "?.5", "<!-- -->"} {
		f.Add(src)
	}
	files, _ := filepath.Glob("../script/*.js")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, end := jstoken.New(src), 0
		for tok, ok := s.Next(); ok; tok, ok = s.Next() {
			if tok.Start < end || tok.End <= tok.Start || tok.End > len(src) {
				t.Fatalf("token %+v after %d of %q", tok, end, src)
			}
			end = tok.End
		}
		jstoken.Imports(src)
		jstoken.Uses(src, []string{"fetch"})
		jstoken.IsModule(src)
		jstoken.WithoutComments(src)
		jstoken.IsFunction(src)
	})
}

func BenchmarkImports(b *testing.B) {
	data, err := os.ReadFile("../template/nunjucks.js")
	if err != nil {
		b.Fatal(err)
	}
	src := string(data)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if jstoken.Uses(src, []string{"fetch"}) {
			b.Fatal("it uses nothing of the kind")
		}
	}
}
