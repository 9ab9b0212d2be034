package attacks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/expr"
	"github.com/proviso-eval/proviso/internal/flowyaml"
	"github.com/proviso-eval/proviso/internal/htmltext"
	"github.com/proviso-eval/proviso/internal/jsonpath"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/internal/jstoken"
	"github.com/proviso-eval/proviso/internal/ngram"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/internal/segment"
	"github.com/proviso-eval/proviso/internal/xmltext"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

// family makes hostile text that grows with n.
type family struct {
	name string
	text func(n int) string
}

// repeated builds n pieces between two ends; # in a piece is replaced by its number.
func repeated(name, before, piece, after string) family {
	return family{name, func(n int) string {
		parts := strings.Split(piece, "#")
		text := make([]byte, 0, len(before)+n*(len(piece)+5*(len(parts)-1))+len(after)) // numbers have about six digits
		text = append(text, before...)
		for i := range n {
			text = append(text, parts[0]...)
			for _, part := range parts[1:] {
				text = append(strconv.AppendInt(text, int64(i), 10), part...)
			}
		}
		return string(append(text, after...))
	}}
}

// nested builds n openings, the inner text, and n closings.
func nested(name, open, inside, end string) family {
	return family{name, func(n int) string { return strings.Repeat(open, n) + inside + strings.Repeat(end, n) }}
}

func jsonFamilies() []family {
	return []family{
		repeated("keys", "{", `"k#":1,`, `"last":1}`),
		repeated("the same key", "{", `"k":1,`, `"last":1}`),
		{"numbers as keys, downwards", func(n int) string {
			var b strings.Builder
			b.WriteString("{")
			for i := range n {
				fmt.Fprintf(&b, `"%d":1,`, n-i)
			}
			return b.String() + `"last":1}`
		}},
		repeated("members", "[", "1,", "1]"),
		repeated("no end", "[", "1,", ""),
		repeated("escapes", `"`, `\u00e9\n`, `"`),
		repeated("halves of pairs", `"`, `\ud800`, `"`),
		repeated("digits", "", "1", ""),
		repeated("digits behind the point", "0.", "1", ""),
		repeated("lines", "[", "\n1,", "1]"),
		repeated("objects", "[", `{"a#":{"b":[#]}},`, "1]"),
		nested("lists in lists", "[", "1", "]"),
		nested("objects in objects", `{"a":`, "1", "}"),
		repeated("only openings", "", "[{\"a\":", ""),
	}
}

func yamlFamilies() []family {
	return []family{
		repeated("keys", "", "k#: 1\n", ""),
		repeated("keys in one line", "{", "k#: 1, ", "}"),
		repeated("the same key", "", "k: 1\n", ""),
		repeated("members", "", "- a\n", ""),
		repeated("anchors", "", "- &a# x\n", ""),
		repeated("aliases", "a: &a [1]\nb:\n", "  - *a\n", ""),
		repeated("anchors and aliases", "", "- &a# {b: 1}\n- *a#\n", ""),
		repeated("the same anchor", "", "- &a x\n- *a\n", ""),
		repeated("merges", "a: &a {x: 1}\nb:\n", "  - <<: *a\n    k: #\n", ""),
		repeated("one list of merges", "a: &a {x: 1}\nb:\n  <<: [", "*a, ", "*a]\n"),
		repeated("comments", "a: 1\n", "# x\n", ""),
		repeated("blank lines", "a: 1\n", "\n", "b: 2\n"),
		repeated("one long text", "a: ", "x", "\n"),
		repeated("a text on many lines", "a:\n", "  x\n", ""),
		repeated("a block", "a: |\n", "  x\n", ""),
		repeated("a folded block", "a: >\n", "  x\n\n", ""),
		repeated("escapes", `a: "`, `\u00e9\n`, "\"\n"),
		repeated("quotes", "a: '", "''", "'\n"),
		repeated("a quote that does not end", "a: 'x", "\n\n x", ""),
		repeated("a list that does not end", "a: [", "x,", ""),
		repeated("question marks", "", "? k#\n: 1\n", ""),
		repeated("tags", "", "- !!str x\n", ""),
		repeated("documents", "", "--- a\n", ""),
		repeated("digits", "a: ", "1", "\n"),
		repeated("colons", "a: ", "b:c:", "\n"),
		repeated("spaces", "a:", " ", "b\n"),
		repeated("tabs", "a: b", "\t", "\n"),
		nested("lists in lists", "[", "1", "]"),
		repeated("dashes", "", "- ", "a"),
		{"deeper and deeper", func(n int) string {
			var b strings.Builder
			for i := range min(n, 3000) {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}},
	}
}

func csvFamilies() []family {
	return []family{
		repeated("columns", "a", ",c#", "\n1\n"), repeated("the same column", "a", ",c", "\n1\n"), repeated("rows", "a,b\n", "1,2\n", ""),
		repeated("quotes", "a\n\"", `""`, "\"\n"), repeated("quotes inside", "a\n", `x"`, "\n"), repeated("text behind a quote", "a\n", `"x"y`, "\n"),
		repeated("a quote that does not end", "a\n\"", "x\n", ""), repeated("carriage returns", "a\r", "1\r", ""), repeated("empty lines", "a\n", "\n", ""),
		repeated("commas", "a\n", ",", "\n"),
	}
}

// proseFamilies returns outputs for checks that count, search and parse.
func proseFamilies() []family {
	return []family{
		repeated("words", "", "word# ", ""), repeated("one word", "", "a", ""), repeated("sentences", "", "A b. ", ""), repeated("dots", "", ".", ""),
		repeated("abbreviations", "", "e.g. Mr. ", ""), repeated("lines", "", "a\n", ""), repeated("blank lines", "a", "\n \n", "b"), repeated("items", "", "- a\n", ""),
		repeated("numbers of items", "", "#. a\n", ""), repeated("headings", "", "# a\n\n", ""), repeated("quotes", "", "\"a\" 'b' ", ""),
		repeated("fences", "", "```json\n", ""), repeated("braces", "", "{", ""), repeated("pairs of braces", "", "{a} ", ""), repeated("braces and quotes", "", "{\"", ""),
		repeated("brackets", "", "[", ""), repeated("objects", "", `{"a": # `, ""), repeated("openings", "", "<", ""), repeated("tags", "", "<a>", ""),
		nested("tags in tags", "<a>", "x", "</a>"), repeated("closings", "", "</a>", ""), repeated("attributes", "<a ", `b#="c" `, "/>"),
		repeated("the same attribute", "<a ", `b="c" `, "/>"), repeated("entities", "<a>", "&amp;", "</a>"), repeated("comments", "", "<!-- a", ""),
		repeated("instructions", "", "<?a ", ""), repeated("sections", "<a>", "<![CDATA[", ""), repeated("declarations", "<!DOCTYPE a [", "<!ENTITY b# 'c'>", "]><a/>"),
		repeated("scripts", "", "<script>", ""), repeated("combining marks", "a", "\u0301", ""), repeated("joiners", "", "\U0001f468\u200d", ""),
		repeated("spaces", "a", " ", "b"), repeated("commas", "", "a,", ""), repeated("colons", "{", "a: ", "}"), repeated("call", "", `{"a": {"b": `, ""),
		repeated("parentheses", "", "(", ""), repeated("backslashes", "", `\`, ""), repeated("strings", "", "`'\"", ""), repeated("slashes", "", "/*", ""),
	}
}

func schemaFamilies() []family {
	return []family{
		repeated("properties", `{"type":"object","properties":{`, `"p#":{"type":"string"},`, `"last":{}}}`),
		repeated("required", `{"required":[`, `"p#",`, `"last"]}`), repeated("values", `{"enum":[`, `"p#",`, `"last"]}`),
		repeated("numbers to choose from", `{"enum":[`, `#,`, `-1]}`), repeated("objects to choose from", `{"enum":[`, `{"a":#},`, `-1]}`),
		repeated("choices", `{"anyOf":[`, `{"const":"#"},`, `true]}`), repeated("references", `{"$defs":{"a":{}},"allOf":[`, `{"$ref":"#/$defs/a"},`, `true]}`),
		repeated("definitions", `{"$defs":{`, `"d#":{"$anchor":"a#"},`, `"last":{}}}`), repeated("identifiers", `{"$defs":{`, `"d#":{"$id":"http://x/#"},`, `"last":{}}}`),
		repeated("types", `{"type":[`, `"string",`, `"null"]}`), repeated("unknown keywords", `{`, `"x#":1,`, `"type":"null"}`),
		repeated("patterns", `{"patternProperties":{`, `"^a#":{},`, `"b":{}}}`), repeated("dependencies", `{"dependentRequired":{`, `"a#":["b"],`, `"b":["a"]}}`),
		nested("schemas in schemas", `{"items":`, "true", "}"), nested("negations", `{"not":`, "true", "}"),
	}
}

func otlpFamilies() []family {
	const span = `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"00000000000000aa","name":"a","startTimeUnixNano":"1","endTimeUnixNano":"2"`
	wrap := func(inside string) (string, string) {
		before, after, _ := strings.Cut(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+inside+`]}]}]}`, "@")
		return before, after
	}
	make := func(name, inside, piece, last string) family {
		before, after := wrap(inside)
		return repeated(name, before, piece, last+after)
	}
	return []family{
		make("spans", "@", span+"},", span+"}"),
		make("attributes", span+`,"attributes":[@]}`, `{"key":"a#","value":{"stringValue":"x"}},`, `{"key":"b","value":{}}`),
		make("the same attribute", span+`,"attributes":[@]}`, `{"key":"a","value":{"stringValue":"x"}},`, `{"key":"b","value":{}}`),
		make("events", span+`,"events":[@]}`, `{"name":"e","timeUnixNano":"1"},`, `{"name":"e"}`),
		make("members", span+`,"attributes":[{"key":"a","value":{"arrayValue":{"values":[@]}}}]}`, `{"intValue":"1"},`, `{"intValue":"1"}`),
		make("members with names", span+`,"attributes":[{"key":"a","value":{"kvlistValue":{"values":[@]}}}]}`, `{"key":"k#","value":{"intValue":"1"}},`, `{"key":"k","value":{}}`),
		make("values in values", span+`,"attributes":[{"key":"a","value":@}]}`, `{"arrayValue":{"values":[`, ""),
		make("indices", span+`,"attributes":[@]}`, `{"key":"gen_ai.prompt.#.content","value":{"stringValue":"x"}},`, `{"key":"b","value":{}}`),
	}
}

func requestFamilies() []family {
	const head = `{"agent_input":"a","agent_output":"b","assertions":[`
	one := func(inside string) string { return `{"id":"x","check":` + inside + `}` }
	return []family{
		repeated("assertions", head, `{"id":"a#","check":{"type":"contains","value":"b"}},`, one(`{"type":"contains","value":"b"}`)+`]}`),
		repeated("the same id", head, `{"id":"a","check":{"type":"contains","value":"b"}},`, one(`{"type":"contains","value":"b"}`)+`]}`),
		repeated("assertions that are wrong", head, `{"idd":"a#"},`, `{}]}`),
		repeated("unknown fields", head+one(`{"type":"contains","value":"b"}`)+`],`, `"x#":1,`, `"y":1}`),
		repeated("unknown fields of an assertion", head+`{"id":"a",`, `"x#":1,`, `"y":1}]}`),
		repeated("unknown fields of a check", head+`{"id":"a","check":{"type":"contains",`, `"x#":1,`, `"value":"y"}}]}`),
		repeated("criteria", head+`{"id":"a","criteria":[`, `"is it #?",`, `"b"]}]}`),
		repeated("variables", head+one(`{"type":"contains","value":"b"}`)+`],"vars":{`, `"v#":"x",`, `"y":1}}`),
		repeated("values", head+`{"id":"a","check":{"type":"contains-all","value":[`, `"v#",`, `"b"]}}]}`),
		repeated("members of a set", head+`{"id":"a","check":{"type":"assert-set","assert":[`, `{"type":"contains","value":"b#"},`, `{"type":"contains","value":"b"}]}}]}`),
		repeated("scopes", head+`{"id":"a","scope":{`, `"x#":1,`, `"y":1},"criteria":["b"]}]}`),
		repeated("a condition", head+`{"id":"a","criteria":["b"],"when":"true`, ` && true`, `"}]}`),
	}
}

func suiteFamilies() []family {
	const head = "prompts: [hi]\nproviders: [echo]\n"
	return []family{
		repeated("keys", head, "k#: 1\n", ""), repeated("tests", head+"tests:\n", "- vars: {a: #}\n", ""), repeated("tests that are wrong", head+"tests:\n", "- varz: {a: #}\n", ""),
		repeated("the same id", head+"tests:\n", "- id: a\n", ""), repeated("variables", head+"tests:\n- vars:\n", "    v#: x\n", ""),
		repeated("assertions", head+"tests:\n- assert:\n", "    - {type: contains, value: a#}\n", ""),
		repeated("types that nobody knows", head+"tests:\n- assert:\n", "    - {type: contain, value: a#}\n", ""),
		repeated("metrics", head+"tests:\n- assert:\n", "    - {type: contains, value: a, metric: m#}\n", ""),
		repeated("patterns", head+"tests:\n- assert:\n", "    - {type: regex, value: 'a#'}\n", ""),
		repeated("tags", head+"tags:\n", "  t#: a\n", ""), repeated("prompts", "providers: [echo]\nprompts:\n", "- p#\n", ""),
		repeated("env", head+"env:\n", "  E#: a\n", ""), repeated("templates", head+"description: '", "{{env.A#}}", "'\n"),
		repeated("derived metrics", head+"derivedMetrics:\n", "- {name: m#, value: 1}\n", ""), repeated("references", head+"x-a: {b: 1}\ntests:\n", "- vars: {$ref: '#/x-a'}\n", ""),
		repeated("references to nothing", head+"tests:\n", "- vars: {$ref: '#/x-a'}\n", ""), repeated("scenarios", head+"scenarios:\n", "- {config: [{vars: {a: #}}], tests: [{vars: {b: 1}}]}\n", ""),
		repeated("assertion templates", head+"assertionTemplates:\n", "  t#: {type: contains, value: a}\n", ""),
		repeated("the assertion set", head+"assertions:\n", "- {id: a#, criteria: [b]}\n", ""), repeated("variables of the prompt", "providers: [echo]\nprompts: ['", "{{v#}}", "']\n"),
		repeated("filters", head+"nunjucksFilters:\n", "  f#: f.js\n", ""), repeated("metadata", head+"tests:\n- metadata:\n", "    m#: [x]\n", ""),
		repeated("a schema", head+"tests:\n- assert:\n    - type: is-json\n      value:\n        properties:\n", "          p#: {type: string}\n", ""),
	}
}

// lineFamilies returns files with a case, or an invalid one, on each line.
func lineFamilies() []family {
	return []family{
		repeated("cases", "", `{"vars":{"a":#}}`+"\n", ""), repeated("cases that are wrong", "", `{"varz":{"a":#}}`+"\n", ""), repeated("lines that are no JSON", "", "{#\n", ""),
		repeated("keys", `{"vars":{`, `"a#":1,`, `"b":1}}`+"\n"), repeated("assertions", `{"assert":[`, `{"type":"contains","value":"#"},`, `{"type":"equals","value":"b"}]}`+"\n"),
	}
}

// caseFamilies adds columns and cells with a special meaning to the families for a CSV
// file.
func caseFamilies(name string, more ...family) []family {
	if !strings.HasSuffix(name, ".csv") {
		return more
	}
	return append(more, repeated("special columns", "a", ",__c#", "\n1\n"), repeated("expected columns", "a", ",__expected#", "\n1\n"),
		repeated("records that are too short", "a,b\n", "1\n", ""), repeated("expectations", "a,__expected\n", "1,contains: b#\n", ""), repeated("metadata", "a,__metadata:x[]\n1,\"", "b#,", "\"\n"))
}

// beside returns a suite with its cases in a file.
func beside(name, text string) *server.Bundle {
	return &server.Bundle{Suite: "prompts: [hi]\nproviders: [echo]\ntests: file://" + name + "\n", Files: map[string]string{name: text}}
}

// textReader reads untrusted text.
type textReader struct {
	name     string
	families []family
	read     func(string)
}

// TestReadersAreLinear: for four times the text, readers of untrusted text take far less
// than sixteen times as long.
func TestReadersAreLinear(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it measures times for two minutes: make nightly runs it")
	}
	ctx := t.Context()
	j, err := judge.New(judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	x := serve(t, server.Options{CPUBudget: time.Hour, BodyLimit: 64 << 20})
	key := x.key("attacker")
	check := func(b *server.Bundle) { x.suites.Check(ctx, b, server.RunOptions{}) }
	for _, reader := range append(proxyReaders(t), []textReader{
		{"JSON", jsonFamilies(), func(s string) {
			if d, err := document.ParseJSON("a.json", []byte(s)); err == nil {
				d.Place("/last")
				value.Stringify(d.Root)
			}
		}},
		{"JSON Lines", append(jsonFamilies(), csvFamilies()...), func(s string) {
			for range document.Lines(strings.NewReader(s)) {
			}
		}},
		{"YAML", yamlFamilies(), func(s string) {
			if d, err := document.ParseYAML("a.yaml", []byte(s)); err == nil {
				d.Place("/k1")
			}
		}},
		{"flow YAML", append(yamlFamilies(), proseFamilies()...), func(s string) {
			_, _ = flowyaml.Parse(s)
			for range flowyaml.Objects(s) {
			}
		}},
		{"CSV", csvFamilies(), func(s string) {
			for range document.ReadCSV(strings.NewReader(s), document.CSVOptions{}) {
			}
		}},
		{"request", requestFamilies(), func(s string) { _, _ = judge.ReadRequest([]byte(s)) }},
		{"spans", otlpFamilies(), func(s string) { _, _ = otlp.DecodeJSON([]byte(s)) }},
		{"schema", schemaFamilies(), func(s string) {
			v, err := value.ParseJSON(s)
			if err != nil {
				return
			}
			if schema, err := jsonschema.Compile(v, jsonschema.Options{}); err == nil {
				_, _ = schema.Validate("p1")
				_, _ = schema.Validate(value.ObjectOf("p1", "x"))
			}
		}},
		{"unique items", jsonFamilies(), func(s string) {
			v, err := value.ParseJSON(s)
			schema, wrong := jsonschema.Compile(value.ObjectOf("uniqueItems", true, "items", value.ObjectOf("type", "null")), jsonschema.Options{})
			if err == nil && wrong == nil {
				_, _ = schema.Validate(v)
			}
		}},
		{"JSON path", []family{
			repeated("names", "$", ".a#", ""), repeated("indices", "$[", "#,", "1]"), repeated("filters", "$", "[?@.a==1]", ""), repeated("descents", "$", "..a", ""),
			repeated("conditions", "$[?@.a==1", " && @.a==1", "]"), nested("parentheses", "$[?(", "@.a", ")]"),
		}, func(s string) {
			if _, err := jsonpath.Compile(s); err != nil {
				return
			}
		}},
		{"pattern", []family{
			repeated("groups", "", "(a)", ""), repeated("names", "", "(?<a#>b)", ""), repeated("alternatives", "a", "|b#", ""), repeated("classes", "", "[a-z]", ""),
			repeated("members of a class", "[", "a-z", "]"), repeated("quantifiers", "", "a{1,2}", ""), nested("groups in groups", "(", "a", ")"),
			repeated("lookaheads", "", "(?=a)", ""), repeated("references", "(a)", `\1`, ""), repeated("no end", "", "(", ""), repeated("properties", "", `\w\d`, ""),
		}, func(s string) {
			patterns := regex.New(regex.Options{}) // a new engine has an empty cache
			defer patterns.Close()
			_, _ = patterns.Compile(s, "")
		}},
		{"condition", []family{
			repeated("terms", "true", " && true", ""), repeated("sums", "1", " + 1", " == 2"), nested("parentheses", "(", "true", ")"), repeated("members", "1 in [", "#,", "1]"),
			repeated("names", "vars", ".a#", " == 1"), repeated("negations", "", "!", "true"), repeated("questions", "", "true ? true : ", "true"),
		}, func(s string) { _, _ = expr.Compile(s) }},
		{"script", append(proseFamilies(), jsonFamilies()...), func(s string) {
			jstoken.Imports(s)
			jstoken.IsModule(s)
			jstoken.WithoutComments(s)
		}},
		{"XML", proseFamilies(), func(s string) {
			_ = xmltext.Check(s)
			xmltext.Contains(s, []string{"a.b"})
			_, _ = xmltext.Parse(s)
		}},
		{"HTML", proseFamilies(), func(s string) {
			_, _ = htmltext.Check(ctx, s)
			htmltext.Contains(s)
		}},
		{"parts of a text", proseFamilies(), func(s string) {
			segment.Lines(s)
			segment.Items(s)
			segment.Paragraphs(s)
			segment.Sentences(s)
			segment.Section(s, "# x", "# y")
			ngram.Treebank(s)
		}},
		{"suite", suiteFamilies(), func(s string) { check(&server.Bundle{Suite: s}) }},
		{"cases", caseFamilies("a.csv", csvFamilies()...), func(s string) { check(beside("a.csv", s)) }},
		{"lines of cases", caseFamilies("a.jsonl", lineFamilies()...), func(s string) { check(beside("a.jsonl", s)) }},
		{"answers to requests", requestFamilies(), func(s string) {
			if _, answer, err := x.post(ctx, key, "/v1/evaluate", s); err != nil || strings.Contains(answer, `"code":"internal"`) {
				t.Errorf("%s %v", answer, err)
			}
		}},
		{"checks", append(proseFamilies(), jsonFamilies()...), func(s string) { decideAll(ctx, j, s) }},
	}...) {
		t.Run(reader.name, func(t *testing.T) {
			for _, f := range reader.families {
				t.Run(f.name, func(t *testing.T) { linear(t, f, reader.read) })
			}
		})
	}
}

// counted are the checks to run on an output. It excludes levenshtein, rouge and meteor:
// their work grows with the product of two texts, which have their own limits.
var counted = []string{
	`{"type":"is-json"}`, `{"type":"contains-json"}`, `{"type":"is-xml"}`, `{"type":"contains-xml"}`, `{"type":"is-html"}`, `{"type":"contains-html"}`,
	`{"type":"icontains","value":"ZZZ"}`, `{"type":"regex","value":"z+y$"}`, `{"type":"word-count","value":3}`, `{"type":"sentence-count","value":3}`,
	`{"type":"item-count","value":3}`, `{"type":"token-count","value":3}`, `{"type":"is-refusal"}`, `{"type":"is-valid-openai-tools-call"}`, `{"type":"equals","value":"x"}`,
}

func decideAll(ctx context.Context, j *judge.Judge, output string) {
	request := map[string]any{"agent_input": "", "agent_output": output}
	var list []any
	for i, c := range counted {
		list = append(list, map[string]any{"id": strconv.Itoa(i), "check": json.RawMessage(c)})
	}
	request["assertions"] = list
	data, _ := json.Marshal(request)
	if r, err := judge.ReadRequest(data); err == nil {
		_, _ = j.Evaluate(ctx, r)
	}
}

// most is the allowed factor in time for four times the text: more than a linear reader
// ever takes, and less than a quadratic one.
const most = 10

// linear compares a text with one of four times its size, both large enough to measure. A
// ratio that is too high is measured again, because other processes may have used the
// processor.
func linear(t *testing.T, f family, read func(string)) {
	t.Helper()
	n := 250
	for n < 64_000 && fastest(2, f.text(n), read) < 4*time.Millisecond {
		n *= 4
	}
	var once, four time.Duration
	for attempt := range 5 {
		once, four = fastest(3, f.text(n), read), fastest(1+attempt, f.text(4*n), read)
		if four < most*once || four < 20*time.Millisecond {
			return
		}
	}
	sixteen := fastest(1, f.text(16*n), read)
	if sixteen < most*four { // this happens once when memory no longer fits a cache
		return
	}
	t.Errorf("%d pieces take %v, four times as many %v, sixteen times %v", n, once, four, sixteen)
}

func fastest(runs int, text string, read func(string)) time.Duration {
	best := time.Duration(1 << 62)
	runtime.GC() // otherwise earlier garbage is collected during the measurement
	for range runs {
		started := time.Now()
		read(text)
		best = min(best, time.Since(started))
	}
	return best
}
