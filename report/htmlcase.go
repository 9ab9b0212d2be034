package report

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Limits of the rows that a page shows without its script.
const (
	staticRows  = 50
	staticBytes = 400_000 // bytes of markup
	staticText  = 4 << 10 // bytes of a text
	staticLead  = 800     // bytes of an output before its first mark
)

// pageFailures are the rows that did not pass, the worst first.
type pageFailures struct {
	Markup template.HTML
	Shown  int             // number of rows in the page
	All    int             // number of all rows that did not pass
	links  map[int]rowLink // links to the rows, by index
}

// failure is a row that did not pass, as a collapsible entry.
type failure struct {
	*Detail
	Name, Where string
	ID          template.HTMLAttr // "" if nothing leads to it
	Open        bool
}

// failuresOf reads the worst rows and renders their markup.
func failuresOf(ctx context.Context, in *Input, marks []mark) (*pageFailures, error) {
	list := in.Meta.Decision.leading(worst(marks, len(marks)))
	f := &pageFailures{All: len(list), links: map[int]rowLink{}}
	names := in.Meta.promptNames(60)
	var b strings.Builder
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
		one := failure{Detail: d, Name: fmt.Sprintf("case %d", m.test+1), Open: f.Shown == 0}
		if d.Repeat > 0 {
			one.Name += fmt.Sprintf(" (repeat %d)", d.Repeat+1)
		}
		link := linkTo(d, one.Name+": "+Line(cmp.Or(d.Title, d.Preview().Input, d.Case), 60))
		if in.Meta.Decision.about(d.Index) {
			one.ID = link.ID
		}
		if len(names) > 1 && d.Column < len(names) {
			one.Where = in.Meta.Columns[d.Column].provider() + " · " + names[d.Column]
		}
		if err := pageTemplate().ExecuteTemplate(&b, "failure", one); err != nil {
			return nil, err
		}
		if b.Len() > staticBytes && f.Shown > 0 {
			break
		}
		f.Markup = template.HTML(b.String())
		f.Shown++
		if one.ID != "" {
			f.links[d.Index] = link
		}
	}
	return f, nil
}

// First returns the first assertion that did not pass, with its reason.
func (f failure) First() string {
	if a := f.broken(); a != nil {
		return a.Name + ": " + a.Reason
	}
	return ""
}

// Scored returns the score, unless it only repeats the verdict.
func (f failure) Scored() string {
	if slices.Contains([]string{"0", "1", "–"}, f.Score) {
		return ""
	}
	return f.Score
}

// Longer reports whether the output was shortened.
func (f failure) Longer() bool { return slices.Contains(f.Cut, "output") }

// pagePassage is a part of an output. It may be evidence.
type pagePassage struct {
	Text   string
	Marked bool
}

// Passages returns the parts of the output; none if the output is empty.
func (f failure) Passages() (list []pagePassage) {
	at, text := 0, *f.Output
	add := func(part string, marked bool) {
		if part != "" {
			list = append(list, pagePassage{visible(part), marked})
		}
	}
	places := f.places()
	if len(places) > 0 && places[0][0] > staticLead {
		at = excerpt.Start(text, places[0][0]-staticLead/4)
		add("… ", false)
	}
	for _, span := range places {
		add(text[at:span[0]], false)
		add(text[span[0]:span[1]], true)
		at = span[1]
	}
	add(text[at:], false)
	return list
}

// Broken returns the assertions that did not pass, failures first.
func (f failure) Broken() (list []DetailAssertion) {
	for _, status := range [...]string{"fail", "error"} {
		for _, a := range f.Assertions {
			if a.Status == status {
				list = append(list, a)
			}
		}
	}
	return list
}

// Held returns the assertions that passed or did not apply.
func (f failure) Held() (list []DetailAssertion) {
	return slices.DeleteFunc(slices.Clone(f.Assertions), func(a DetailAssertion) bool { return a.Status != "pass" && a.Status != "skip" })
}

// factsOf formats the score and the judge of an assertion.
func factsOf(a DetailAssertion) string {
	score := ""
	if a.Score != "" && (a.Threshold != "" || a.Score != "0" && a.Score != "1") {
		score = "score " + a.Score
		if a.Threshold != "" {
			score += " (threshold " + a.Threshold + ")"
		}
	}
	facts := []string{score, a.Judge, a.Agreement}
	return strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), " · ")
}

// visible returns a text with its line breaks. Invisible characters, and those that change
// the direction of text, are written as escapes.
func visible(s string) string {
	var b strings.Builder
	runes(s, func(r rune, raw string) {
		if r == '\n' || r == '\t' || r == '[' {
			b.WriteString(raw)
			return
		}
		b.WriteString(cmp.Or(escape(r, raw), raw))
	})
	return b.String()
}

// places returns the byte ranges of the output that are evidence of failed and undecided
// assertions, or of the other assertions if there are none. The ranges are sorted and do
// not overlap.
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

// byteOf converts an offset in UTF-16 units to an offset in bytes.
func byteOf(s string, units int) int {
	at := 0
	for units > 0 && at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		units -= value.UTF16Len(string(r))
		at += size
	}
	return at
}
