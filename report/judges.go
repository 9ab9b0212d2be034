package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/value"
)

// JudgeSummary is the work of one judge in a run.
type JudgeSummary struct {
	Identity string
	Verdicts int           // number of pass and fail verdicts
	Cached   int           // verdicts that came from a cache
	Errors   int           // questions without a verdict, for any reason
	Usage    proviso.Usage // Cached is the number of tokens that the vendor read from its own cache
	Cost     float64       // US dollars
}

// Trust is the measured agreement of a judge with human labels for one assertion.
type Trust struct {
	Validated bool   // labels show good enough agreement
	Weak      bool   // labels show poor agreement
	TooFew    bool   // there are too few labels to measure it
	Lapsed    bool   // the judge or the assertion has changed since the measurement
	Text      string // a short text with the numbers, such as "judge unvalidated"
	Labels    int    // human labels compared with the judge; 0 if this version was not measured

	MissingGood, MissingBad int // with TooFew: further labels needed, of good and of bad outputs

	Kappa    *float64 // nil if it was not measured
	TPR, TNR *float64 // shares of the human passes and of the human fails that the judge found; nil if not measured
}

const (
	maxJudges   = 100 // judges of a run; further judges count only in the totals
	maxTexts    = 8   // assertions with the same name
	judgesShown = 5
	unvalidated = "judge unvalidated"
	weak        = "weak judge"
)

// judged counts a judge's verdict.
func (s *Summary) judged(p *part) {
	j := s.judges[p.judge]
	if j == nil {
		if len(s.judges) >= maxJudges {
			return
		}
		j = &JudgeSummary{Identity: p.judge}
		s.judges[p.judge] = j
	}
	switch {
	case p.status == proviso.Errored:
		j.Errors++
	case p.cached:
		j.Cached++
		fallthrough
	default:
		j.Verdicts++
	}
	j.Usage.Add(p.usage)
	j.Cost += p.cost
}

// judgedBy records which judge decided which assertion. assertion is JSON, "" if unknown.
// Further texts beyond the limit count as one unknown text.
func (a *AssertionSummary) judgedBy(judge, assertion string) {
	if judge == "" {
		return
	}
	if len(a.asked) >= maxTexts {
		assertion = ""
	}
	insert(&a.Judges, judge, maxJudges)
	insert(&a.asked, assertion, maxTexts+1)
}

// insert adds a text to a sorted list without duplicates, up to a limit.
func insert(list *[]string, text string, most int) {
	if i, found := slices.BinarySearch(*list, text); !found && len(*list) < most {
		*list = slices.Insert(*list, i, text)
	}
}

// Judges returns the work of each judge, sorted by identity.
func (s *Summary) Judges() []JudgeSummary {
	list := make([]JudgeSummary, 0, len(s.judges))
	for _, j := range s.judges {
		list = append(list, *j)
	}
	slices.SortFunc(list, func(a, b JudgeSummary) int { return cmp.Compare(a.Identity, b.Identity) })
	return list
}

// trustIn returns the trust in one of an assertion's judges. If several texts have the same
// name, it is the lowest trust among them.
func (m *Meta) trustIn(judge string, a *AssertionSummary) Trust {
	least := Trust{Text: unvalidated}
	for i, text := range a.asked {
		v, err := value.ParseJSON(text)
		raw, _ := v.(*value.Object)
		if m.Trust == nil || err != nil || raw == nil {
			return Trust{Text: unvalidated}
		}
		t := m.Trust(judge, a.Label(), raw)
		if i == 0 || t.less(&least) {
			least = t
		}
	}
	return least
}

// Ranks of trust, in ascending order.
const (
	knownNothing = iota
	knownTooFew
	knownLapsed // or the measurement was inconclusive
	knownWeak
	knownGood
	knownRanks
)

// rank returns the rank of t.
func (t *Trust) rank() int {
	switch {
	case t.Validated:
		return knownGood
	case t.Weak:
		return knownWeak
	case t.TooFew:
		return knownTooFew
	case t.Lapsed || t.Labels > 0:
		return knownLapsed
	}
	return knownNothing
}

// less reports whether t is less trust than u.
func (t *Trust) less(u *Trust) bool {
	if t.rank() != u.rank() {
		return t.rank() < u.rank()
	}
	return t.Kappa != nil && u.Kappa != nil && *t.Kappa < *u.Kappa
}

// trust returns the trust in an assertion's judges: that in the least trusted one. It
// returns false if no model took part.
func (m *Meta) trust(a *AssertionSummary) (Trust, bool) {
	var least Trust
	for i, judge := range a.Judges {
		t := m.trustIn(judge, a)
		if i == 0 || t.less(&least) {
			least = t
		}
	}
	return least, len(a.Judges) > 0
}

// trustText returns a table's text about an assertion's judges.
func (m *Meta) trustText(a *AssertionSummary) string {
	t, _ := m.trust(a)
	return t.Text
}

// spent describes the usage and the cost of a judge.
func (j *JudgeSummary) spent() string {
	u, cost := j.Usage, j.Cost
	text := plural.Of(j.Verdicts, "verdict")
	if j.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", j.Cached)
	}
	if j.Errors > 0 {
		text += ", " + plural.Of(j.Errors, "error")
	}
	if u.Total > 0 {
		text += ", " + plural.Of(int(u.Total), "token")
	}
	if u.Cached > 0 && u.Prompt > 0 {
		text += fmt.Sprintf(", %.0f %% of the prompts read from the vendor's cache", 100*float64(u.Cached)/float64(u.Prompt))
	}
	if cost > 0 {
		text += ", " + usd.Text(cost)
	}
	return text
}

// judges shows the judges, their cost, and the doubts about them.
func (p *printer) judges() {
	list := p.sum.Judges()
	if len(list) == 0 {
		return
	}
	p.line("%s", p.o.Paint(Bold, "Judge"))
	for _, j := range list[:min(len(list), judgesShown)] {
		p.wrapped("  ", j.Identity)
		p.wrapped("    ", j.spent())
	}
	if more := len(list) - judgesShown; more > 0 {
		p.line("  … and %d more (in the JSON report)", more)
	}
	for _, d := range p.sum.doubts(p.meta) {
		for i, line := range wrap(d.Name+": "+d.Text, p.o.Width-2, nameLines) {
			if after, first := strings.CutPrefix(line, d.Name); first && i == 0 {
				line = p.o.Paint(Yellow, d.Name) + after
			}
			p.line("  %s", line)
		}
	}
	p.w.WriteByte('\n')
}

// doubt is a reason not to rely on the judges' verdicts yet.
type doubt struct{ Name, Text string }

// doubts returns the reasons not to rely on a run's judges, for all judged assertions
// together: no measurement, too few labels, an outdated or inconclusive measurement, too
// little agreement with human labels, or criteria that the judge often cannot decide.
func (s *Summary) doubts(m *Meta) []doubt {
	var n [knownRanks]int
	all := 0
	for _, a := range s.asserted.lines {
		if t, judged := m.trust(a); judged {
			n[t.rank()]++
			all++
		}
	}
	on := func(n int) string {
		if n == all {
			return ""
		}
		return fmt.Sprintf(" on %d of %d assertions", n, all)
	}
	var list []doubt
	if n := n[knownNothing]; n > 0 {
		list = append(list, doubt{unvalidated + on(n), "its verdicts have not been compared with human labels (proviso align)"})
	}
	if n := n[knownTooFew]; n > 0 {
		list = append(list, doubt{unvalidated + on(n), "not measured yet, because there are too few labels of good or of bad outputs (proviso align)"})
	}
	if n := n[knownLapsed]; n > 0 {
		list = append(list, doubt{unvalidated + on(n), "its alignment is out of date, because the judge or the assertion changed, or it is inconclusive (proviso align)"})
	}
	if n := n[knownWeak]; n > 0 {
		list = append(list, doubt{weak + on(n), "people often disagree with its verdicts; proviso align shows on which outputs"})
	}
	if n := s.unclear(); n > 0 {
		list = append(list, doubt{"unclear criteria in " + plural.Of(n, "assertion"), unclearText})
	}
	return list
}

// unclearText is the advice about criteria that a judge often cannot decide.
const unclearText = "the judge often cannot tell whether they are met (proviso judge --lint --run RUN names them)"

// judges writes the judges in Markdown.
func (m *markdown) judges() {
	list := m.in.Summary.Judges()
	if len(list) == 0 {
		return
	}
	for _, j := range list[:min(len(list), judgesShown)] {
		m.line("Judge %s: %s\n", code(j.Identity, 200), j.spent())
	}
	for _, d := range m.in.Summary.doubts(m.in.Meta) {
		m.line("**%s**: %s.\n", d.Name, d.Text)
	}
}

// agreements returns the agreement of an assertion's judges with human labels, for JSON.
func (m *Meta) agreements(a *AssertionSummary) []any {
	list := []any{}
	for _, judge := range a.Judges {
		t := m.trustIn(judge, a)
		o := value.ObjectOf("judge", judge, "validated", t.Validated, "weak", t.Weak, "text", t.Text)
		if t.Labels > 0 {
			o.Set("labels", float64(t.Labels))
			o.Set("measured", !t.TooFew)
		}
		if t.TooFew {
			o.Set("missing", value.ObjectOf("good", float64(t.MissingGood), "bad", float64(t.MissingBad)))
		}
		for _, x := range [...]struct {
			name  string
			value *float64
		}{{"kappa", t.Kappa}, {"tpr", t.TPR}, {"tnr", t.TNR}} {
			if x.value != nil {
				o.Set(x.name, *x.value)
			}
		}
		list = append(list, o)
	}
	return list
}

// judgesOf returns the judges, for JSON.
func judgesOf(in *Input) []any {
	list := []any{}
	for _, j := range in.Summary.Judges() {
		list = append(list, value.ObjectOf("judge", j.Identity, "verdicts", float64(j.Verdicts), "cached", float64(j.Cached),
			"errors", float64(j.Errors), "tokenUsage", tokens(j.Usage), "cost", j.Cost))
	}
	return list
}
