package suite

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// file reads the prompts of one file, depending on its suffix.
func (p *promptReader) file(doc *document.Document, at, name, entry string, base *proviso.Prompt) {
	ext := strings.ToLower(path.Ext(name))
	if slices.Contains(scriptKinds(), ext) {
		p.script(doc, at, name, entry, base)
		return
	}
	data, err := p.files.ReadFile(name)
	if err != nil {
		p.fileError(doc, at, err)
		return
	}
	text, err := document.Text(p.files.Show(name), data)
	if err != nil {
		p.fileError(doc, at, err)
		return
	}
	before := p.failed
	p.failed = false
	defer func() { p.failed = p.failed || before }()
	f := promptFile{promptReader: p, doc: doc, at: at, name: name, text: text, base: *base, start: len(p.list)}
	switch ext {
	case ".txt":
		f.split()
	case ".json", ".yaml", ".yml":
		f.chat()
	case ".jsonl":
		f.lines()
	case ".csv":
		f.table()
	case ".md", ".j2":
		f.add(text, name+": "+beginning(text, 50)+"...")
	default:
		f.add(text, name+": "+beginning(text, 50))
	}
	if len(p.list) == f.start && !f.failed {
		p.wrong(doc, at, "%s holds no prompt", p.files.Show(name))
	}
}

// promptFile is a file with prompts.
type promptFile struct {
	*promptReader
	doc   *document.Document // the document that names the file, at the pointer
	at    string
	name  string
	text  string
	base  proviso.Prompt
	start int // index of its first prompt in the list
}

// add keeps one prompt of the file. If the file has several, the entry's label is put
// before the text.
func (f *promptFile) add(raw, label string) {
	if strings.TrimSpace(raw) != "" {
		f.keep(f.base, raw, label)
	}
}

// beginning returns the first n characters of a text, for a label. Prompts of files
// have the same labels as in promptfoo, so reports of both name a prompt the same
// way.
func beginning(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}

// split reads a text file in which lines of only dashes separate prompts.
func (f *promptFile) split() {
	separator := f.setting("PROMPTFOO_PROMPT_SEPARATOR")
	if separator == "" {
		separator = "---"
	}
	text := strings.ReplaceAll(f.text, "\r\n", "\n")
	var current []string
	flush := func() {
		prompt := value.TrimSpace(strings.Join(current, "\n"))
		f.add(prompt, f.name+": "+prompt)
		current = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimRight(line, " \t") == separator {
			flush()
			continue
		}
		current = append(current, line)
	}
	flush()
	f.number()
}

// number distinguishes the prompts of one file that share the entry's label.
func (f *promptFile) number() {
	if f.base.Label == "" || len(f.list)-f.start < 2 {
		return
	}
	for i := f.start; i < len(f.list); i++ {
		f.list[i].Label += ": " + f.list[i].Raw
	}
}

// chat reads one prompt that is data, usually a list of messages, and loads the files
// that its texts name. Text with template tags outside of strings is not data before
// it is rendered; it is kept unchanged.
func (f *promptFile) chat() {
	d, err := document.Parse(f.files.Show(f.name), []byte(f.text))
	if err != nil {
		if strings.Contains(f.text, "{{") || strings.Contains(f.text, "{%") {
			f.add(f.text, f.label(f.text))
			return
		}
		f.fileError(f.doc, f.at, err)
		return
	}
	if d.Root == nil {
		return
	}
	f.places.add(d)
	raw := f.text
	if v := f.nested(d, "", d.Root, 0); !document.Same(v, d.Root) || path.Ext(f.name) != ".json" {
		raw = value.Stringify(v)
	}
	f.add(raw, f.label(value.Stringify(d.Root)))
}

// label returns the label of a chat.
func (f *promptFile) label(raw string) string {
	if path.Ext(f.name) != ".json" {
		raw = beginning(raw, 80)
	}
	return f.name + ": " + raw
}

// maxNested limits how deeply files in prompts refer to each other.
const maxNested = 8

// nested replaces file:// texts in a chat by the content of the files: data from YAML
// and JSON files, text from others.
func (f *promptFile) nested(d *document.Document, at string, v any, depth int) any {
	if s, ok := v.(string); ok {
		if strings.HasPrefix(s, "file://") && couldBeFile(s) {
			return f.nestedFile(d, at, s, depth)
		}
		return v
	}
	return document.Map(at, v, func(at, _ string, e any) any { return f.nested(d, at, e, depth) })
}

func (f *promptFile) nestedFile(d *document.Document, at, name string, depth int) any {
	if depth == maxNested {
		f.wrong(d, at, "files in prompts name each other more than %d deep", maxNested)
		return nil
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		inner, err := f.yaml(name)
		if err != nil {
			f.fileError(d, at, err)
			return nil
		}
		return f.nested(inner, "", inner.Root, depth+1)
	}
	data, err := f.files.ReadFile(name)
	if err == nil {
		var text string
		if text, err = document.Text(f.files.Show(name), data); err == nil {
			return strings.TrimRight(text, "\r\n")
		}
	}
	f.fileError(d, at, err)
	return nil
}

// lines reads one prompt per line, each of which is data.
func (f *promptFile) lines() {
	for line, err := range document.Lines(strings.NewReader(f.text)) {
		if err != nil {
			f.lineError(err)
			continue
		}
		f.add(line.Text, f.name+": "+line.Text)
	}
	f.number()
}

// lineError records a broken line of the file.
func (f *promptFile) lineError(err error) {
	f.failed = true
	var broken *document.LineError
	if !errors.As(err, &broken) {
		f.fileError(f.doc, f.at, err)
		return
	}
	f.append(proviso.Mistake{
		Place: proviso.Place{File: f.files.Show(f.name), Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt},
		Code:  broken.Code, Message: broken.Message,
	})
}

// table reads a CSV file: the column prompt, and the column label if there is one.
// Without a prompt column, or without separators, every line is a prompt.
func (f *promptFile) table() {
	delimiter := firstOf(f.setting("PROMPTFOO_CSV_DELIMITER"), ",")
	header, _, _ := strings.Cut(f.text, "\n")
	if !strings.Contains(f.text, delimiter) || !slices.ContainsFunc(strings.Split(header, delimiter), isPromptColumn) {
		f.labelled(f.plainLines())
		return
	}
	var rows []csvPrompt
	for rec, err := range document.ReadCSV(bytes.NewReader([]byte(f.text)), document.CSVOptions{Delimiter: delimiter}) {
		if err != nil {
			f.lineError(err)
			continue
		}
		if raw := column(rec, "prompt"); raw != "" {
			rows = append(rows, csvPrompt{raw, column(rec, "label")})
		}
	}
	f.labelled(rows)
}

// csvPrompt is a row of a CSV file of prompts.
type csvPrompt struct{ raw, label string }

// plainLines returns the lines that are not blank, without a header.
func (f *promptFile) plainLines() []csvPrompt {
	var rows []csvPrompt
	for line := range strings.SplitSeq(strings.ReplaceAll(f.text, "\r\n", "\n"), "\n") {
		if value.TrimSpace(line) != "" {
			rows = append(rows, csvPrompt{raw: line})
		}
	}
	if len(rows) > 0 && strings.EqualFold(value.TrimSpace(rows[0].raw), "prompt") {
		rows = rows[1:]
	}
	return rows
}

// labelled keeps the prompts of a CSV file. Their labels are made different, because
// filters choose prompts by label.
func (f *promptFile) labelled(rows []csvPrompt) {
	used := map[string]bool{}
	for _, row := range rows {
		used[row.label] = true
	}
	for i, row := range rows {
		label := row.label
		if label == "" {
			label = f.rowLabel(row.raw, i, len(rows))
			for first, n := label, 1; used[label]; n++ {
				label = fmt.Sprintf("%s (row %d)", first, i+1)
				if n > 1 {
					label = fmt.Sprintf("%s (row %d.%d)", first, i+1, n)
				}
			}
			used[label] = true
		}
		base := f.base
		base.Label = label
		f.keep(base, row.raw, label)
	}
}

// rowLabel returns the label of a row that has none of its own.
func (f *promptFile) rowLabel(raw string, i, rows int) string {
	switch {
	case f.base.Label == "":
		return fmt.Sprintf("Prompt %d - %s", i+1, raw)
	case rows > 1:
		return f.base.Label + ": " + raw
	}
	return f.base.Label
}

func isPromptColumn(name string) bool {
	return strings.Trim(value.TrimSpace(name), `"`) == "prompt"
}

// column returns the field of a column; "" if the record has none.
func column(rec document.Record, name string) string {
	if i := slices.Index(rec.Header, name); i >= 0 && i < len(rec.Fields) {
		return rec.Fields[i]
	}
	return ""
}

func firstOf(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
