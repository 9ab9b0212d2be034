package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const words = `the of and to in a is that for it as was with be by on not he his but at are this have from or had an
	they which one you were all her she there would their we him been has when who will no more if out so
	up said what its about than into them can only other time new some could these two may first then do
	any like my now over such our man me even most made after also did many off before must well back
	through years much where your way down should because long each just state those people too mr how
	little good world make very year still see own work men day get here old life both between being
	under three never know same last another while us might great go come since against right came take
	used himself few house use during without again place around however home small found thought went
	say part once general high upon school every`

// workload is a suite for one measurement.
type workload struct {
	name  string
	tests string // file name of the cases
	rows  func(i int) string
	n     int
	needs string // a program without which it is skipped
	start bool   // the first row includes the start of an interpreter, which is reported separately
}

// writer makes texts of random words.
type writer struct{ words []string }

func newWriter() *writer { return &writer{strings.Fields(words)} }

func (w *writer) text(r *mt19937, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.words[r.below(len(w.words))]
	}
	return strings.Join(list, " ")
}

// mutate replaces a share of the words of s.
func (w *writer) mutate(r *mt19937, s string, share float64) string {
	list := strings.Split(s, " ")
	for i := range list {
		if r.float64() < share {
			list[i] = w.words[r.below(len(w.words))]
		}
	}
	return strings.Join(list, " ")
}

const schema = `{"type": "object", "required": ["id", "name", "tags", "summary"], "properties": {"id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "minLength": 3}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1}, "summary": {"type": "string"}}}`

// doc returns a recorded output of about 200 bytes, and a text that differs from it in two
// characters.
func (w *writer) doc(i int) (name, output, near string) {
	r := newRandom(uint32(1000 + i))
	name = fmt.Sprintf("item-%05d", i)
	tags := make([]string, 3)
	for t := range tags {
		tags[t] = `"` + w.words[r.below(len(w.words))] + `"`
	}
	summary := w.text(r, 20)
	object := func(s string) string {
		return fmt.Sprintf(`{"id": %d, "name": "%s", "tags": [%s], "summary": "%s"}`, i, name, strings.Join(tags, ", "), s)
	}
	return name, object(summary), object(summary[:len(summary)-2] + "zz")
}

// quoted returns s as a JSON string; the workloads contain no control characters.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func (w *writer) det5(i int) string {
	name, output, near := w.doc(i)
	return fmt.Sprintf(`{"description": "test %d", "vars": {"output": %s}, "assert": [{"type": "contains", "value": "%s"}, {"type": "icontains-any", "value": ["NOPE-1", "NOPE-2", "%s"]}, {"type": "regex", "value": "\"id\": \\d+, \"name\": \"item-\\d{5}\""}, {"type": "is-json", "value": %s}, {"type": "levenshtein", "value": %s, "threshold": 5}]}`,
		i, quoted(output), name, strings.ToUpper(name), schema, quoted(near))
}

func (w *writer) bare(i int) string {
	_, output, _ := w.doc(i)
	return fmt.Sprintf(`{"vars": {"output": %s}}`, quoted(output))
}

// one returns a case with one assertion on a recorded output.
func (w *writer) one(assert string) func(i int) string {
	return func(i int) string {
		_, output, _ := w.doc(i)
		return fmt.Sprintf(`{"vars": {"output": %s}, "assert": [%s]}`, quoted(output), assert)
	}
}

// metric compares texts of 200 words.
func (w *writer) metric(threshold string, kinds ...string) func(i int) string {
	return func(i int) string {
		r := newRandom(uint32(5000 + i))
		ref := w.text(r, 200)
		out := w.mutate(r, ref, 0.08)
		list := make([]string, len(kinds))
		for k, kind := range kinds {
			list[k] = fmt.Sprintf(`{"type": "%s", "value": "%s", "threshold": %s}`, kind, ref, threshold)
		}
		return fmt.Sprintf(`{"vars": {"output": "%s"}, "assert": [%s]}`, out, strings.Join(list, ", "))
	}
}

var statements = []string{
	"SELECT a, b FROM t{i} WHERE a > {i} AND b IN (1,2,3) ORDER BY a DESC LIMIT 10",
	"SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE o.total > {i} GROUP BY u.id HAVING COUNT(*) > 3",
	"INSERT INTO t{i} (a, b, c) VALUES (1, 'x', NULL)",
	"UPDATE t{i} SET a = a + 1, b = 'y' WHERE id = {i}",
}

func sql(i int) string {
	s := strings.ReplaceAll(statements[i%len(statements)], "{i}", fmt.Sprint(i))
	return fmt.Sprintf(`{"vars": {"output": %s}, "assert": [{"type": "is-sql"}]}`, quoted(s))
}

// csvCell quotes a cell if needed, see RFC 4180.
func csvCell(s string) string {
	if !strings.ContainsAny(s, "\",\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (w *writer) csv5(i int) string {
	name, output, near := w.doc(i)
	cells := []string{output, "contains:" + name, "icontains-any:NOPE-1,NOPE-2," + strings.ToUpper(name), `regex:item-\d{5}`, "is-json", "levenshtein(5):" + near}
	for c := range cells {
		cells[c] = csvCell(cells[c])
	}
	return strings.Join(cells, ",") + "\r"
}

// workloads returns the workloads of the recorded figures.
func workloads() []workload {
	w := newWriter()
	list := []workload{}
	add := func(name string, n int, rows func(int) string) {
		list = append(list, workload{name: name, tests: "tests.jsonl", rows: rows, n: n})
	}
	for _, n := range []int{1, 100, 1000, 5000, 20000} {
		add(fmt.Sprintf("det5-%d", n), n, w.det5)
	}
	add("noassert-1000", 1000, w.bare)
	add("noassert-5000", 5000, w.bare)
	list = append(list, workload{name: "csv5-1000", tests: "tests.csv", rows: w.csv5, n: 1000})
	add("metrics-1000", 1000, w.metric("0.3", "rouge-n", "bleu", "gleu"))
	add("meteor-1000", 1000, w.metric("0.3", "meteor"))
	for _, kind := range []string{"rouge-n", "bleu", "gleu"} {
		add("one-"+kind+"-1000", 1000, w.metric("0.3", kind))
	}
	add("one-levenshtein-1000", 1000, w.metric("100000", "levenshtein"))
	add("js-1000", 1000, w.one(`{"type": "javascript", "value": "output.length > 10 && output.includes('item-')"}`))
	add("sql-1000", 1000, sql)
	python := w.one(`{"type": "python", "value": "len(output) > 10 and 'item-' in output"}`)
	list = append(list, workload{name: "python-50", tests: "tests.jsonl", rows: python, n: 50, needs: "python3", start: true})
	javascript := w.one(`{"type": "javascript", "value": "output.length > 10 && output.includes('item-')"}`)
	list = append(list, workload{name: "javascript-50", tests: "tests.jsonl", rows: javascript, n: 50, start: true})
	return list
}

// write writes the workload below dir and returns its suite file.
func (w *workload) write(dir string) (string, error) {
	dir = filepath.Join(dir, w.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := writeFile(filepath.Join(dir, w.tests), w.writeRows); err != nil {
		return "", err
	}
	config := filepath.Join(dir, "promptfooconfig.yaml")
	text := fmt.Sprintf("description: bench %s\nprompts:\n  - '{{output}}'\nproviders:\n  - echo\ntests: file://%s\n", w.name, w.tests)
	return config, os.WriteFile(config, []byte(text), 0o644)
}

func (w *workload) writeRows(b *bufio.Writer) {
	if w.tests == "tests.csv" {
		b.WriteString("output,__expected1,__expected2,__expected3,__expected4,__expected5\r\n")
	}
	for i := range w.n {
		b.WriteString(w.rows(i))
		b.WriteByte('\n')
	}
}

// writeFile writes a file in pieces: a process starts with the peak memory of its parent, so
// this one must stay small.
func writeFile(file string, write func(*bufio.Writer)) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	write(b)
	return errors.Join(b.Flush(), f.Close())
}
