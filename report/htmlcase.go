package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Limits of the rows that a page shows without its script.
const (
	staticRows  = 50
	staticBytes = 400_000 // of markup
	staticText  = 4 << 10 // of a text
	staticLead  = 800     // of an output before its first mark
)

// pageFailures is the markup of the rows that did not pass, worst first.
type pageFailures struct {
	b     strings.Builder
	shown int // rows
	all   int // rows that did not pass
	meta  *Meta
	names []string        // of the prompts
	links map[int]rowLink // to the rows, by index
}

// failuresOf reads the worst rows and prepares their markup.
func failuresOf(ctx context.Context, in *Input, marks []mark) (*pageFailures, error) {
	f := &pageFailures{meta: in.Meta, names: in.Meta.promptNames(60), links: map[int]rowLink{}}
	list := in.Meta.Decision.leading(worst(marks, len(marks)))
	f.all = len(list)
	for _, m := range list[:min(len(list), staticRows)] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		record, err := in.Rows.Row(m.index)
		if err != nil {
			return nil, err
		}
		d, err := NewDetail(in.Meta, record, staticText)
		if err != nil {
			return nil, err
		}
		before := f.b.Len()
		f.row(d, int(m.test)+1, f.shown == 0)
		if f.b.Len() > staticBytes && f.shown > 0 {
			text := f.b.String()[:before]
			f.b.Reset()
			f.b.WriteString(text)
			delete(f.links, d.Index)
			break
		}
		f.shown++
	}
	return f, nil
}

func (f *pageFailures) write(w *bufio.Writer) {
	w.WriteString("<h2 id=\"h-failures\">What did not pass</h2>\n")
	if f.all == 0 {
		w.WriteString("<p class=\"note\">No result failed or had an error.</p>\n")
	}
	w.WriteString(f.b.String())
	if f.shown < f.all {
		fmt.Fprintf(w, "<p class=\"note\">These are the worst %d of %s that did not pass.</p>\n", f.shown, Plural(f.all, "result"))
	}
}

// statusWord is the sign and the word of a status in the page.
func statusWord(status string) string {
	switch status {
	case "pass":
		return `<span class="status pass"><span aria-hidden="true">✓ </span>Pass</span>`
	case "fail":
		return `<span class="status fail"><span aria-hidden="true">✕ </span>Fail</span>`
	case "skip":
		return `<span class="status skip"><span aria-hidden="true">– </span>Skipped</span>`
	}
	return `<span class="status error"><span aria-hidden="true">! </span>Error</span>`
}

// plain writes a text on one line, in short.
func (f *pageFailures) plain(s string, cells int) {
	f.b.WriteString("<bdi>" + html.EscapeString(Line(s, cells)) + "</bdi>")
}

// long writes a text with its line breaks.
func (f *pageFailures) long(s string) { f.b.WriteString(visible(s)) }

// visible returns a text as markup. Characters that would not be seen, or that turn the
// text around them, are written as escapes.
func visible(s string) string {
	var b strings.Builder
	runes(s, func(r rune, raw string) {
		if r == '\n' || r == '\t' {
			b.WriteString(raw)
		} else if shown := escape(r, raw); shown != "" && r != '[' {
			b.WriteString(shown)
		} else {
			b.WriteString(raw)
		}
	})
	return html.EscapeString(b.String())
}

// row writes a row that did not pass, which can be opened.
func (f *pageFailures) row(d *Detail, number int, open bool) {
	f.b.WriteString("<details class=\"failure\"")
	if open {
		f.b.WriteString(" open")
	}
	f.b.WriteString(">\n<summary>" + statusWord(d.Status) + " ")
	name := fmt.Sprintf("case %d", number)
	if d.Repeat > 0 {
		name += fmt.Sprintf(" (repeat %d)", d.Repeat+1)
	}
	f.b.WriteString("<b>" + name)
	id := ""
	if f.meta.Decision.about(d.Index) {
		link := linkTo(d, name+": "+Line(cmp.Or(d.Title, d.Preview().Input, d.Case), 60))
		f.links[d.Index], id = link, " id=\""+link.anchor+"\""
	}
	if d.Title != "" {
		f.b.WriteString(": ")
		f.plain(d.Title, 120)
	}
	f.b.WriteString("</b>")
	if len(f.names) > 1 && d.Column < len(f.names) {
		f.b.WriteString(" <span class=\"where\">")
		f.plain(f.meta.Columns[d.Column].provider()+" · "+f.names[d.Column], 100)
		f.b.WriteString("</span>")
	}
	if first := d.broken(); first != nil {
		f.b.WriteString(" <span class=\"why\">")
		f.plain(first.Name+": "+first.Reason, 160)
		f.b.WriteString("</span>")
	}
	f.b.WriteString("</summary>\n<div class=\"sides\"" + id + ">\n<div>\n")
	f.output(d)
	f.input(d)
	f.b.WriteString("</div>\n<div>\n")
	f.checks(d)
	f.b.WriteString("</div>\n</div>\n</details>\n")
}

// output writes the output with its evidence marked.
func (f *pageFailures) output(d *Detail) {
	f.b.WriteString("<h3>Output</h3>\n")
	if d.Output == nil {
		f.b.WriteString("<p class=\"note\">There is no output.</p>\n")
		return
	}
	f.b.WriteString("<pre class=\"text\" tabindex=\"0\" aria-label=\"Output\">")
	at, text := 0, *d.Output
	places := d.places()
	if len(places) > 0 && places[0][0] > staticLead {
		at = excerpt.Start(text, places[0][0]-staticLead/4)
		f.b.WriteString("… ")
	}
	for _, span := range places {
		f.long(text[at:span[0]])
		f.b.WriteString("<mark>")
		f.long(text[span[0]:span[1]])
		f.b.WriteString("</mark>")
		at = span[1]
	}
	f.long(text[at:])
	if text == "" {
		f.b.WriteString("(empty)")
	}
	f.b.WriteString("</pre>\n")
	if slices.Contains(d.Cut, "output") {
		f.b.WriteString("<p class=\"note\">The output is longer.</p>\n")
	}
}

// places returns the bytes of the output that evidence of failed and undecided assertions
// marks, in order and apart; that of the others if there is none.
func (d *Detail) places() [][2]int {
	var spans [][2]int
	for _, passed := range [...]bool{false, true} {
		for i := range d.Assertions {
			if (d.Assertions[i].Status == "pass") != passed {
				continue
			}
			for _, e := range d.Assertions[i].Evidence {
				if e.Start != nil {
					spans = append(spans, [2]int{byteOf(*d.Output, *e.Start), byteOf(*d.Output, *e.End)})
				}
			}
		}
		if spans != nil {
			break
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var apart [][2]int
	for _, s := range spans {
		if n := len(apart); n > 0 && s[0] <= apart[n-1][1] {
			apart[n-1][1] = max(apart[n-1][1], s[1])
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// byteOf returns the offset in bytes of an offset in UTF-16 units.
func byteOf(s string, units int) int {
	at := 0
	for units > 0 && at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		units -= value.UTF16Len(string(r))
		at += size
	}
	return at
}

// input writes what was asked.
func (f *pageFailures) input(d *Detail) {
	if len(d.Vars) > 0 {
		f.b.WriteString("<h3>Variables</h3>\n<dl class=\"given\">\n")
		for _, v := range d.Vars {
			f.b.WriteString("<dt>")
			f.plain(v[0], 60)
			f.b.WriteString("</dt><dd class=\"text\">")
			f.long(v[1])
			f.b.WriteString("</dd>\n")
		}
		f.b.WriteString("</dl>\n")
	}
	if d.Prompt != "" {
		f.b.WriteString("<details><summary>Prompt</summary>\n<pre class=\"text\">")
		f.long(d.Prompt)
		f.b.WriteString("</pre>\n</details>\n")
	}
}
