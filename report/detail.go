package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/value"
)

// Detail is a row in the form shown by the app and the report.
type Detail struct {
	Index        int               `json:"index"`
	Case         string            `json:"case" doc:"Its id"`
	Title        string            `json:"title" doc:"Description of the case, \"\" if the suite gives none"`
	Column       int               `json:"column"`
	Repeat       int               `json:"repeat" doc:"Of the case, from 0"`
	Status       string            `json:"status"`
	Score        string            `json:"score" doc:"With what it was compared with"`
	Forgiven     bool              `json:"forgiven,omitempty" doc:"It failed, but counts as passed because enough repeats of its case passed"`
	Prompt       string            `json:"prompt" doc:"That was sent"`
	Vars         [][2]string       `json:"vars" doc:"Names and values"`
	Output       *string           `json:"output,omitempty" doc:"Missing if there is none"`
	Why          string            `json:"why,omitempty" doc:"Why the row did not pass, if no assertion says it"`
	LatencyMS    float64           `json:"latency_ms,omitempty"`
	Cost         float64           `json:"cost,omitempty" doc:"US dollars for the answer"`
	IncurredCost *float64          `json:"incurred_cost,omitempty" doc:"US dollars that this run spent; less than cost if the answer came from a cache"`
	Tokens       int               `json:"tokens,omitempty"`
	Cached       bool              `json:"cached,omitempty"`
	Assertions   []DetailAssertion `json:"assertions" doc:"In the order of the suite; parts of a set follow it"`
	Spans        []DetailSpan      `json:"spans,omitempty" doc:"Of the trace, parents before children"`
	Cut          []string          `json:"cut,omitempty" doc:"Texts that were shortened, such as output"`
}

// DetailAssertion is the verdict on one assertion of a [Detail].
type DetailAssertion struct {
	Name      string            `json:"name" doc:"Its id, else its metric, else its type and value"`
	Type      string            `json:"type"`
	Status    string            `json:"status"`
	Level     int               `json:"level,omitempty" doc:"Of nesting in assertion sets"`
	Asks      string            `json:"asks,omitempty" doc:"The instruction that a model judged by"`
	Value     string            `json:"value,omitempty" doc:"What was expected"`
	Reason    string            `json:"reason"`
	Score     string            `json:"score,omitempty"`
	Threshold string            `json:"threshold,omitempty"`
	Weight    *float64          `json:"weight,omitempty"`
	Criteria  []DetailCriterion `json:"criteria,omitempty"`
	Evidence  []DetailEvidence  `json:"evidence,omitempty"`
	Diff      []DiffPart        `json:"diff,omitempty" doc:"Expected and actual, where that helps"`
	Judge     string            `json:"judge,omitempty"`
	Agreement string            `json:"agreement,omitempty" doc:"Of the judge with labels of people"`
	Cost      float64           `json:"cost,omitempty"`
	Cached    bool              `json:"cached,omitempty"`
}

// DetailCriterion is the answer to one criterion.
type DetailCriterion struct {
	Text   string `json:"text"`
	Status string `json:"status"`
	Why    string `json:"why,omitempty"`
}

// DetailEvidence is a quote that supports a verdict. Start and End are its offsets in
// [Detail.Output], in UTF-16 units as in JavaScript; both are nil if the output does not
// contain the quote.
type DetailEvidence struct {
	Quote string `json:"quote"`
	Start *int   `json:"start,omitempty"`
	End   *int   `json:"end,omitempty"`
	Note  string `json:"note,omitempty" doc:"What the quote shows, if it is not from the output"`
}

// DiffPart is a part of an expected and of an actual text.
type DiffPart struct {
	Kind string `json:"kind" doc:"same, expected or actual"`
	Text string `json:"text"`
}

// Limits of a [Detail], besides the limit of its texts.
const (
	detailVars  = 50
	detailParts = 2000 // assertions of a row, and quotes
	maxName     = 500  // bytes of an assertion name, as in a matrix
	around      = 300  // bytes on either side of the differing part
)

// NewDetail reads a row that [AppendRow] wrote. An output, a prompt or a variable has at
// most limit bytes, a reason or a criterion a quarter of that, but at least 200 or limit if
// it is less. Cut names the shortened texts. Whether the row is forgiven depends on other
// rows, so the caller sets it.
func NewDetail(m *Meta, record []byte, limit int) (*Detail, error) {
	row, err := viewOf(record)
	if err != nil {
		return nil, err
	}
	b := detailer{meta: m, limit: limit, why: max(limit/4, min(limit, 200))}
	return b.detail(row), nil
}

// detailer builds the detail of one row.
type detailer struct {
	meta       *Meta
	limit, why int    // maximum bytes of texts and of reasons
	raw        string // the full output, to which the offsets of evidence refer
	shown      string // the output as shown in the detail
	quotes     int    // number of quotes so far
	cut        []string
}

func (b *detailer) detail(row view) *Detail {
	o, response := row.Object, row.Object.Object("response")
	d := &Detail{Index: integer(o, "index"), Case: b.short("case", o.Text("caseId")), Title: b.short("title", row.description()),
		Column: integer(o, "promptIdx"), Repeat: integer(o.Object("repeat"), "index"), Status: row.status.String(),
		Score: scoreOfRow(row), Why: b.short("why", wholeReason(row)),
		LatencyMS: num(o, "latencyMs"), Cost: num(o, "cost"), Tokens: integer(response.Object("tokenUsage"), "total"), Cached: response.At("cached") == true}
	if incurred, ok := o.At("incurredCost").(float64); ok {
		d.IncurredCost = &incurred
	}
	if text, answered := row.output(); answered {
		b.raw = textOf(response.At("output"))
		b.shown = b.text("output", text)
		d.Output = &b.shown
	}
	d.Prompt = b.text("prompt", brief(o.Object("prompt").Text("raw")))
	d.Vars = b.vars(row)
	d.Assertions = b.assertions(o)
	d.Spans = b.spans(o)
	d.Cut = b.cut
	return d
}

// text limits a long text; short limits a text that is part of a reason.
func (b *detailer) text(name, s string) string  { return b.bound(name, s, b.limit) }
func (b *detailer) short(name, s string) string { return b.bound(name, s, b.why) }

func (b *detailer) bound(name, s string, limit int) string {
	if len(s) > limit {
		s = excerpt.Head(s, limit)
		if !slices.Contains(b.cut, name) {
			b.cut = append(b.cut, name)
		}
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

func (b *detailer) vars(row view) [][2]string {
	list := [][2]string{}
	for name, v := range row.vars().All() {
		if len(list) == detailVars {
			b.cut = append(b.cut, "vars")
			break
		}
		list = append(list, [2]string{b.short("vars", name), b.text("vars", shownOf(v))})
	}
	return list
}

// assertions returns the verdicts in suite order, each followed by its parts.
func (b *detailer) assertions(row *value.Object) []DetailAssertion {
	list := []DetailAssertion{}
	components, _ := row.Object("gradingResult").At("componentResults").([]any)
	output, _ := row.Object("response").Get("output")
	var ends []int // ends of the sets around a component
	for i, v := range components {
		if len(list) == detailParts {
			b.cut = append(b.cut, "assertions")
			break
		}
		for len(ends) > 0 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		c, _ := v.(*value.Object)
		a := b.assertion(c, output)
		a.Level = len(ends)
		if n := integer(c, "members"); n > 0 && n < len(components) {
			ends = append(ends, i+1+n)
		}
		list = append(list, a)
	}
	return list
}

func (b *detailer) assertion(c *value.Object, output any) DetailAssertion {
	status := proviso.StatusNamed(c.Text("status"))
	x := brokenOf(c, status)
	about := x.about.summary()
	a := DetailAssertion{Name: b.bound("assertions", rowscan.NameOf(c.Object("assertion")), maxName), Type: b.short("assertions", cmp.Or(x.about.kind, "part")), Status: status.String(),
		Reason: b.short("assertions", x.reason), Threshold: thresholdOf(c), Judge: b.short("assertions", c.Text("judge")),
		Cost: num(c, "cost"), Cached: c.At("cached") == true}
	if status != proviso.Errored && status != proviso.Skip && !Unscored(c) {
		a.Score = shortScore(c)
	}
	if weight, ok := c.Object("assertion").At("weight").(float64); ok {
		a.Weight = &weight
	}
	if a.Judge != "" && b.meta.Trust != nil {
		a.Agreement = b.meta.Trust(c.Text("judge"), about.Label(), c.Object("assertion")).Text
	}
	b.expected(&a, &x)
	b.judgement(&a, x.judged)
	b.evidence(&a, evidenceOf(c))
	if status == proviso.Fail {
		b.differences(&a, x.compare(b.meta.Types, output))
	}
	return a
}

// expected adds what an assertion requires: the instruction of a judged assertion,
// otherwise the value.
func (b *detailer) expected(a *DetailAssertion, x *brokenAssertion) {
	if x.judged != nil {
		a.Asks = b.short("assertions", x.judged.Instruction)
		return
	}
	v := defined(x.value)
	if v == nil {
		v = x.about.value // value of the judged assertion's check
	}
	switch {
	case v == nil:
	case a.Judge != "":
		a.Asks = b.short("assertions", shownOf(v))
	default:
		a.Value = b.short("assertions", shownOf(v))
	}
}

// judgement adds the criteria of a judged assertion and their evidence.
func (b *detailer) judgement(a *DetailAssertion, j *Judgement) {
	if j == nil {
		return
	}
	for i := range j.Criteria {
		if i == detailParts {
			b.cut = append(b.cut, "criteria")
			break
		}
		c := &j.Criteria[i]
		why := OneLine(c.Reasoning) + votesText(c.Votes)
		if c.Note != "" {
			why += " (" + OneLine(c.Note) + ")"
		}
		a.Criteria = append(a.Criteria, DetailCriterion{Text: b.short("criteria", c.Text), Status: proviso.StatusNamed(c.Status).String(), Why: b.short("criteria", why)})
		b.evidence(a, c.Evidence)
	}
}

// evidence adds quotes without duplicates, with their places in the shown output.
func (b *detailer) evidence(a *DetailAssertion, list []proviso.Evidence) {
	for _, e := range list[:min(len(list), maxEvidence)] {
		if e.Quote == "" || slices.ContainsFunc(a.Evidence, func(o DetailEvidence) bool { return o.Quote == e.Quote && o.Note == e.Note }) {
			continue
		}
		if b.quotes++; b.quotes > detailParts {
			b.bound("evidence", e.Quote, 0)
			return
		}
		one := DetailEvidence{Quote: b.short("evidence", e.Quote), Note: b.short("evidence", e.Note)}
		if e.Start >= 0 && one.Quote == e.Quote {
			one.Start, one.End = b.place(e)
		}
		a.Evidence = append(a.Evidence, one)
	}
}

// place returns the offsets of a quote in the shown output, in UTF-16 units.
func (b *detailer) place(e proviso.Evidence) (start, end *int) {
	at := -1
	if n := e.Start + len(e.Quote); n <= min(len(b.raw), len(b.shown)) && b.raw[:n] == b.shown[:n] {
		at = e.Start // both texts are equal up to there, so the offset is valid for both
	}
	if at < 0 || !strings.HasPrefix(b.shown[at:], e.Quote) {
		at = strings.Index(b.shown, e.Quote)
	}
	if at < 0 {
		return nil, nil
	}
	from := value.UTF16Len(b.shown[:at])
	to := from + value.UTF16Len(e.Quote)
	return &from, &to
}

// differences adds the differences between output and expected value. A forbidden part of
// the output is evidence, which is marked in the output.
func (b *detailer) differences(a *DetailAssertion, parts []passage) {
	for _, x := range parts {
		if x.name == "found" && x.end <= len(b.raw) && b.raw[x.start:x.end] == x.text[x.start:x.end] {
			b.evidence(a, []proviso.Evidence{{Quote: x.text[x.start:x.end], Start: x.start}})
			return
		}
	}
	if len(parts) != 2 || parts[0].plain { // nothing in common: the reason and the output are enough
		return
	}
	want, got := parts[0], parts[1]
	add := func(kind, text string) {
		if text != "" {
			a.Diff = append(a.Diff, DiffPart{kind, b.short("diff", text)})
		}
	}
	from := excerpt.Start(want.text, max(0, want.start-around))
	before := want.text[from:want.start]
	if from > 0 {
		before = "…" + before
	}
	add("same", before)
	add("expected", excerpt.Bytes(want.text[want.start:want.end], 4*around))
	add("actual", excerpt.Bytes(got.text[got.start:got.end], 4*around))
	add("same", excerpt.Bytes(got.text[got.end:], around))
}
