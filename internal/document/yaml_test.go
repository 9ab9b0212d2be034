package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

func TestYAMLScalars(t *testing.T) {
	t.Parallel()
	// Results of js-yaml 5.5.0, as JSON.
	tests := map[string]string{
		"012": "12", "-012": "-12", "+12": "12", "0o14": "12", "0x10": "16", "0xfF": "255", "-0x10": `"-0x10"`, "+0o14": `"+0o14"`,
		"0b101": `"0b101"`, "1e3": "1000", "1.5e3": "1500", "1E+2": "100", ".5": "0.5", "1.": "1", "-.5": "-0.5", ".": `"."`,
		"1_000": `"1_000"`, "2024-01-01": `"2024-01-01"`, "2024-01-01T00:00:00Z": `"2024-01-01T00:00:00Z"`, "12:30": `"12:30"`,
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "off": `"off"`, "y": `"y"`, "true": "true", "False": "false", "TRUE": "true", "tRue": `"tRue"`,
		"null": "null", "~": "null", "": "null", "NULL": "null", "nUll": `"nUll"`, "0": "0", "-0": "0", "00": "0",
		"1.2.3": `"1.2.3"`, "e3": `"e3"`, "1e": `"1e"`, "+": `"+"`, "--1": `"--1"`, "+-1": `"+-1"`, "'12'": `"12"`, `"true"`: `"true"`,
		"!!str 12": `"12"`, "!!float 1": "1", "!!int '7'": "7", "|-\n  12": `"12"`, "=": `"="`, "0x": `"0x"`, "0o8": `"0o8"`, "0xg": `"0xg"`,
		"9007199254740993": "9007199254740992", "1e400": "null", ".inf": "null", ".nan": "null", ".INF": "null", ".iNf": `".iNf"`,
	}
	for in, want := range tests {
		d, err := document.ParseYAML("a.yaml", []byte("v: "+in+"\n"))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got := value.Stringify(d.Root.(*value.Object).At("v")); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

func TestYAMLStructure(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", "null"},
		{"comment only", "# nothing\n", "null"},
		{"byte order mark", "\ufeffa: 1", `{"a":1}`},
		{"carriage returns", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", `{"a":1,"b":"x\ny\n"}`},
		{"document marker", "---\na: 1\n...\n", `{"a":1}`},
		{"keys are text", "1: a\ntrue: b\nnull: c\n~x: d", `{"1":"a","true":"b","null":"c","~x":"d"}`},
		{"number keys in order", "b: 1\n2: 1\n1: 1", `{"1":1,"2":1,"b":1}`},
		{"anchor", "a: &x {k: 1}\nb: *x", `{"a":{"k":1},"b":{"k":1}}`},
		{"merge", "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3", `{"a":{"k":1,"l":2},"b":{"l":3,"k":1}}`},
		{"merge list, first wins", "a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}", `{"a":{"k":1},"b":{"k":2,"m":3},"c":{"k":1,"m":3}}`},
		{"quoted merge is a key", `{"<<": 1}`, `{"<<":1}`},
		{"folded", "a: >\n  one\n  two\n", `{"a":"one two\n"}`},
		{"not ASCII", "ä: 日本 😀", `{"ä":"日本 😀"}`},
		{"__proto__ is a key", "__proto__: 1", `{"__proto__":1}`},
		{"alias as key", "a: &x k\n*x : 1", `{"a":"k","k":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := document.ParseYAML("a.yaml", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := value.Stringify(d.Root); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [", i, i)
		for range 10 {
			fmt.Fprintf(&b, "*a%d,", i-1)
		}
		b.WriteString("]\n")
	}
	return b.String()
}

func TestYAMLMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"tab", "a:\n\tb: 1\n", "s.yaml:2:1: a tab in the indentation; YAML is indented with spaces"},
		{"tab after spaces", "a:\n  b: 1\n \tc: 1\n", "s.yaml:3:2: a tab in the indentation; YAML is indented with spaces"},
		{"duplicate", "a: 1\nb: 2\na: 3\n", `s.yaml:3:1: the key "a" is repeated; the first is on line 1`},
		{"duplicate inside", "x:\n  - a: 1\n    a: 3\n", `s.yaml:3:5: the key "a" is repeated; the first is on line 2`},
		{"template", "a: {{name}}\n", "s.yaml:1:4: quote the template: YAML reads {{ … }} without quotes as a mapping"},
		{"template and text", "a: {{name}} is here\n", "quote the template"},
		{"several documents", "a: 1\n---\nb: 1\n", "a second YAML document begins here"},
		{"bomb", bomb(12), "aliases expand to more than 1000000 values"},
		{"alias in itself", "a: &x [*x]\n", "s.yaml:1:8: the alias *x is inside the value that it names"},
		{"merge of itself", "a: &x\n  <<: *x\n", "the alias *x is inside the value that it names"},
		{"unknown anchor", "a: *x\n", "s.yaml:1:4: the YAML cannot be read: unknown anchor 'x' referenced"},
		{"merge of text", "<<: 1\n", "s.yaml:1:5: << takes a mapping or a list of mappings"},
		{"tag", "a: !!js/function x\n", "s.yaml:1:4: unknown tag !!js/function"},
		{"wrong tag", "a: !!int x\n", `"x" is not a valid int`},
		{"NUL", "a: 1\nb: \x00", "s.yaml:2:4: the file is binary: it holds a NUL byte"},
		{"UTF-16", "\xff\xfea\x00", "s.yaml:1:1: the file is UTF-16; save it as UTF-8"},
		{"not UTF-8", "a: \xe4\n", "s.yaml:1:4: the file is not UTF-8: byte 0xe4"},
		{"keys", "{" + strings.Repeat("a: 1,", 10_001) + "}", "s.yaml:1:1: the mapping has 10001 keys, and at most 10000 are read"},
		{"anchors", strings.Repeat("- &a x\n", 10_001), "the file has more than 10000 anchors"},
		{"flow depth", strings.Repeat("[", 10000), "values nest too deeply: at most 500 levels are read"},
		{"block depth", strings.Repeat("- ", 2000) + "a", "values nest too deeply"},
		{"open bracket", "a: [1, 2\nb: 3\n", "s.yaml:2:2: the list that begins on line 1 needs a comma or a closing bracket"},
		{"open brace", "a: {b: 1\n", "the mapping that begins on line 1 needs a comma or a closing brace"},
		{"open quote", "a: 1\nb: 'x\nc: 1\n", "the quoted text that begins on line 2 is not closed"},
		{"second colon", "a: b: c\n", "s.yaml:1:5: a colon that begins no value here; quote the text"},
		{"back quote", "a: `x`\n", "s.yaml:1:4: this character cannot begin a value; quote the text"},
		{"escape", "a: \"\\d\"\n", "s.yaml:1:5: an unknown escape in double quotes"},
		{"complex key", "? [a]\n: 1\n", "s.yaml:1:3: a key must be text"},
		{"indentation", "a: 1\n  b: 2\n", "s.yaml:2:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := document.ParseYAML("s.yaml", []byte(tt.in))
			var s *document.SyntaxError
			if !errors.As(err, &s) {
				t.Fatalf("got %v, %v, want a syntax error", d, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q", err, tt.want)
			}
		})
	}
}

const placed = `description: x
tests:
  - vars: {name: "ä", b: 1}
    assert:
      - type: contains
        value: y
  - &t
    vars: {q: 2}
defaults: &d
  a: 1
more:
  <<: *d
  b: *t
`

func TestYAMLPlace(t *testing.T) {
	t.Parallel()
	d, err := document.ParseYAML("s.yaml", []byte(placed))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ pointer, value, key string }{
		{"", "1:1", "1:1"},
		{"/description", "1:14", "1:1"},
		{"/tests/0/vars/b", "3:26", "3:23"},
		{"/tests/0/assert/0/type", "5:15", "5:9"},
		{"/tests/0/assert/0/nothing/here", "5:9", "5:9"},
		{"/tests/9", "3:3", "3:3"},
		{"/more/a", "10:6", "10:6"},
		{"/more/b/vars/q", "8:15", "8:12"},
		{"/more/b", "13:6", "13:3"},
	}
	for _, tt := range tests {
		v, k := d.Place(tt.pointer), d.KeyPlace(tt.pointer)
		if got := fmt.Sprintf("%d:%d", v.Line, v.Column); got != tt.value {
			t.Errorf("value of %s is at %s, want %s", tt.pointer, got, tt.value)
		}
		if got := fmt.Sprintf("%d:%d", k.Line, k.Column); got != tt.key {
			t.Errorf("key of %s is at %s, want %s", tt.pointer, got, tt.key)
		}
	}
	if got := d.Place("/tests/0/vars/b").Excerpt; got != `  - vars: {name: "ä", b: 1}` {
		t.Errorf("excerpt %q", got)
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{placed, bomb(3), "a: &x [*x]", "? {a}: b", "<<: [1]", "\ta: 1", "a: {{b}}", "!!set {a}", "- - - x", "a: |2\n   x", "--- a\n--- b", "%YAML 1.2\n---\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := document.ParseYAML("f.yaml", []byte(s))
		if err != nil {
			var syntax *document.SyntaxError
			if !errors.As(err, &syntax) || syntax.Message == "" {
				t.Fatalf("error without a message: %v", err)
			}
			return
		}
		value.Stringify(d.Root)
		for _, p := range []string{"", "/a", "/0", "/a/b", "/<<"} {
			d.Place(p)
			d.KeyPlace(p)
			d.Anchored(p)
		}
	})
}
