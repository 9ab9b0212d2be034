package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a page, so that it opens quickly. The run file has the complete texts of
// all rows.
const (
	pageRows  = 2000
	pageBytes = 8 << 20  // of rows
	pageText  = 16 << 10 // of an output, a prompt or a variable
	pageWhy   = 4 << 10  // of a reason
	pageVars  = 50
	pageParts = 100 // assertions of a row
	around    = 300 // bytes on either side of the part that differs
)

// choose returns at most n rows for the page, case by case: first the cases with
// failures, then those with undecided rows, then the rest, each in index order. A
// case is left out as a whole, unless it is the first.
func choose(marks []mark, n int) []mark {
	var cases [][]mark
	for len(marks) > 0 {
		end := 1
		for end < len(marks) && marks[end].test == marks[0].test {
			end++
		}
		cases = append(cases, marks[:end])
		marks = marks[end:]
	}
	need := func(list []mark) int {
		most := urgency(list[0])
		for _, m := range list {
			most = min(most, urgency(m))
		}
		return most
	}
	slices.SortStableFunc(cases, func(a, b []mark) int { return cmp.Compare(need(a), need(b)) })
	var chosen []mark
	for _, list := range cases {
		if len(chosen) > 0 && len(chosen)+len(list) > n {
			continue
		}
		chosen = append(chosen, list[:min(len(list), n)]...)
		if len(chosen) >= n {
			break
		}
	}
	return chosen
}

// encode stores the JSON of the chosen rows, one per line, within the size limit.
func (p *page) encode(ctx context.Context, chosen []mark) error {
	p.rows = append(p.rows, '[')
	for i, m := range chosen {
		if i&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, err := viewAt(p.in.Rows, m)
		if err != nil {
			return err
		}
		end := len(p.rows)
		if i > 0 {
			p.rows = append(p.rows, ',')
		}
		p.rows = appendData(append(p.rows, '\n'), p.row(row, m))
		if len(p.rows) > pageBytes && i > 0 {
			p.rows = p.rows[:end]
			break
		}
		p.count++
	}
	p.rows = append(p.rows, "\n]"...)
	return nil
}

// row returns a row in the form for the page's script. Members without a value
// are left out.
func (p *page) row(row view, m mark) *value.Object {
	o := value.ObjectOf("t", float64(m.test), "c", float64(m.column), "s", row.status.String(), "n", row.name(),
		"score", shortScore(row.Object), "prompt", clip(brief(row.Object.Object("prompt").Text("raw")), pageText))
	if compared := comparedScore(row.Object); compared != "" {
		o.Set("score", compared)
	}
	if d := row.description(); d != "" {
		o.Set("d", clip(d, pageWhy))
	}
	if m.forgiven {
		o.Set("forgiven", true)
	}
	if ms := num(row.Object, "latencyMs"); ms > 0 {
		o.Set("ms", ms)
	}
	if cost := num(row.Object, "cost"); cost > 0 {
		o.Set("cost", cost)
		if incurred, ok := row.At("incurredCost").(float64); ok {
			o.Set("incurred", incurred)
		}
	}
	if text, answered := row.output(); answered {
		o.Set("out", clip(text, pageText))
	}
	if why := wholeReason(row); why != "" {
		o.Set("err", clip(why, pageWhy))
	}
	vars := []any{}
	for name, v := range row.vars().All() {
		if len(vars) < pageVars {
			vars = append(vars, []any{clip(name, pageWhy), clip(shownOf(v), pageText)})
		}
	}
	o.Set("vars", vars)
	o.Set("a", pageAssertions(p.in.Meta.Types, row))
	return o
}

// shortScore formats a row's score for people.
func shortScore(o *value.Object) string {
	if Unscored(o) {
		return "–"
	}
	return short(score(o))
}

// wholeReason returns why the row as a whole did not pass, unless an assertion has
// the same reason.
func wholeReason(row view) string {
	for _, r := range row.reasons() {
		if r.name == "" {
			return r.text
		}
	}
	return ""
}

// pageAssertions returns the assertions of a row in the order of the suite, each
// followed by its components.
func pageAssertions(types proviso.Types, row view) []any {
	list := []any{}
	components, _ := row.Object.Object("gradingResult").At("componentResults").([]any)
	output, _ := row.Object.Object("response").Get("output")
	var ends []int // of the sets around a component
	for i, v := range components[:min(len(components), pageParts)] {
		for len(ends) > 0 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		c, _ := v.(*value.Object)
		o := pageAssertion(types, c, output)
		if len(ends) > 0 {
			o.Set("level", float64(len(ends)))
		}
		if n := integer(c, "members"); n > 0 && n < len(components) {
			ends = append(ends, i+1+n)
		}
		list = append(list, o)
	}
	return list
}

func pageAssertion(types proviso.Types, c *value.Object, output any) *value.Object {
	status := statusOf(c.Text("status"))
	b := brokenOf(c, status)
	o := value.ObjectOf("s", status.String(), "k", clip(b.names[0], pageText), "n", clip(b.about.summary().Name(), 2*maxValueText), "why", clip(b.reason, pageWhy))
	if threshold := thresholdOf(c); threshold != "" {
		o.Set("th", threshold)
	}
	if status != proviso.Errored && status != proviso.Skip && !Unscored(c) {
		o.Set("score", shortScore(c))
	}
	if judge := c.Text("judge"); judge != "" {
		o.Set("judge", clip(judge, pageWhy))
	}
	if status == proviso.Fail {
		if parts := pagePassages(b.compare(types, output)); len(parts) > 0 {
			o.Set("parts", parts)
		}
	}
	if b.judged != nil {
		pageJudgement(o, b.judged, textOf(output))
	} else if quotes := pageQuotes(evidenceOf(c), textOf(output)); quotes != nil {
		o.Set("ev", quotes)
	}
	return o
}

// pageJudgement adds the instruction and the criteria of a judged assertion.
func pageJudgement(o *value.Object, j *Judgement, output string) {
	if j.Instruction != "" {
		o.Set("asks", clip(j.Instruction, pageWhy))
	}
	list := []any{}
	for i := range j.Criteria[:min(len(j.Criteria), pageParts)] {
		c := &j.Criteria[i]
		why := OneLine(c.Reasoning) + votesText(c.Votes)
		if c.Note != "" {
			why += " (" + OneLine(c.Note) + ")"
		}
		one := value.ObjectOf("s", statusOf(c.Status).String(), "text", clip(c.Text, pageWhy), "why", clip(why, pageWhy))
		if quotes := pageQuotes(c.Evidence, output); quotes != nil {
			one.Set("ev", quotes)
		}
		list = append(list, one)
	}
	o.Set("criteria", list)
}

// pageQuotes returns evidence: quote, note, and its position in the output that the
// page shows, in JavaScript's units; -1 if it is not there.
func pageQuotes(list []proviso.Evidence, output string) []any {
	var quotes []any
	for _, e := range list[:min(len(list), maxEvidence)] {
		at := -1
		if e.Start >= 0 && e.Quote != "" {
			at = placeOf(e, output)
		}
		if at+len(e.Quote) > pageText {
			at = -1
		}
		if at >= 0 {
			at = value.UTF16Len(output[:at])
		}
		quotes = append(quotes, []any{clip(e.Quote, pageWhy), clip(e.Note, pageWhy), float64(at)})
	}
	return quotes
}

// pagePassages returns the differences: name, text before, marked part, text after,
// and whether nothing is marked.
func pagePassages(parts []passage) []any {
	var list []any
	for _, x := range parts {
		if x.plain {
			list = append(list, []any{x.name, clip(x.text, 2*around), "", "", true})
			continue
		}
		from := excerpt.Start(x.text, max(0, x.start-around))
		before := x.text[from:x.start]
		if from > 0 {
			before = "…" + before
		}
		list = append(list, []any{x.name, before, clip(x.text[x.start:x.end], 4*around), excerpt.Bytes(x.text[x.end:], around), false})
	}
	return list
}
