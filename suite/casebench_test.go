package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/suite"
)

// benchCases is how many cases the benchmark suite has.
const benchCases = 2000

// BenchmarkCasesJSONL reads and decodes cases of about 1.3 kB with five
// assertions each; PROVISO_BENCH_CASES names another file to read.
func BenchmarkCasesJSONL(b *testing.B) {
	dir := b.TempDir()
	data := []byte(benchLines())
	if name := os.Getenv("PROVISO_BENCH_CASES"); name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	benchCasesOf(b, dir, "tests.jsonl", data)
}

// BenchmarkCasesCSV reads the same outputs with five __expected columns.
func BenchmarkCasesCSV(b *testing.B) {
	var data strings.Builder
	data.WriteString("output,__expected1,__expected2,__expected3,__expected4,__expected5\n")
	doc := strings.ReplaceAll(benchDoc, `"`, `""`)
	for i := range benchCases {
		out := fmt.Sprintf(doc, i, i)
		fmt.Fprintf(&data, "\"%s\",contains:item-%05d,\"icontains-any:NOPE-1,NOPE-2,ITEM-%05d\",regex:item-\\d{5},is-json,\"levenshtein(5):%s\"\n", out, i, i, out)
	}
	benchCasesOf(b, b.TempDir(), "tests.csv", []byte(data.String()))
}

func benchCasesOf(b *testing.B, dir, name string, data []byte) {
	writeFile(b, filepath.Join(dir, name), data)
	writeFile(b, filepath.Join(dir, "proviso.yaml"), []byte("prompts: ['{{output}}']\nproviders: [echo]\ntests: "+name+"\n"))
	s, mistakes := suite.Read(context.Background(), nil, suite.Options{Facts: facts, Dir: dir})
	if s == nil {
		b.Fatal(mistakes)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		for _, err := range s.Cases() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/case")
}

// benchDoc is the output of a case.
const benchDoc = `{"id": %d, "name": "item-%05d", "tags": ["each", "had", "those"], ` +
	`"summary": "said one up came another from against great we think way has part know my take from what can most"}`

// benchLines makes lines like those of the workloads in bench.
func benchLines() string {
	var b strings.Builder
	for i := range benchCases {
		doc := strings.ReplaceAll(fmt.Sprintf(benchDoc, i, i), `"`, `\"`)
		fmt.Fprintf(&b, `{"description": "test %d", "vars": {"output": "%s"}, "assert": [`, i, doc)
		fmt.Fprintf(&b, `{"type": "contains", "value": "item-%05d"}, `, i)
		fmt.Fprintf(&b, `{"type": "icontains-any", "value": ["NOPE-1", "NOPE-2", "ITEM-%05d"]}, `, i)
		b.WriteString(`{"type": "regex", "value": "\"id\": \\d+, \"name\": \"item-\\d{5}\""}, `)
		b.WriteString(`{"type": "is-json", "value": {"type": "object", "required": ["id", "name", "tags", "summary"], "properties": ` +
			`{"id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "minLength": 3}, "tags": {"type": "array", ` +
			`"items": {"type": "string"}, "minItems": 1}, "summary": {"type": "string"}}}}, `)
		fmt.Fprintf(&b, `{"type": "levenshtein", "value": "%s", "threshold": 5}]}`+"\n", doc)
	}
	return b.String()
}
