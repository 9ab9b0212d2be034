package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
)

// JudgeSummary is what one judge did in a run.
type JudgeSummary struct {
	Identity string
	Verdicts int           // that rest on what it said, those without a decision included
	Cached   int           // of them, those for which it did not have to be asked
	Usage    proviso.Usage // Cached are the tokens that its vendor read from a cache of its own
	Cost     float64       // US dollars
}

// Trust says how far a judge was found to agree with people on one assertion.
type Trust struct {
	Validated bool   // labels show that it agrees with people beyond chance
	Text      string // in a few words, such as "judge unvalidated"
	Labels    int    // verdicts of people that it was compared with

	Kappa    *float64 // nil if it was not measured
	TPR, TNR *float64 // share of the passes, and of the fails, of people that it found
}

const (
	maxJudges   = 100 // of a run; what is beyond counts in the totals only
	maxTexts    = 8   // of the assertions of one name
	judgesShown = 5
	unvalidated = "judge unvalidated"
)

// judged counts a verdict that a judge was asked for.
func (s *Summary) judged(p *part) {
	j := s.judges[p.judge]
	if j == nil {
		if len(s.judges) >= maxJudges {
			return
		}
		j = &JudgeSummary{Identity: p.judge}
		s.judges[p.judge] = j
	}
	j.Verdicts++
	if p.cached {
		j.Cached++
	}
	j.Usage.Add(p.usage)
	j.Cost += p.cost
}

// judgedBy notes who decided what, which is the assertion as JSON; "" if that is
// not known. Further texts than are kept count as one that nobody knows.
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

// insert adds a text to a sorted list that has none twice.
func insert(list *[]string, text string, most int) {
	if i, found := slices.BinarySearch(*list, text); !found && len(*list) < most {
		*list = slices.Insert(*list, i, text)
	}
}

// Judges returns what each judge did, by identity.
func (s *Summary) Judges() []JudgeSummary {
	list := make([]JudgeSummary, 0, len(s.judges))
	for _, j := range s.judges {
		list = append(list, *j)
	}
	slices.SortFunc(list, func(a, b JudgeSummary) int { return cmp.Compare(a.Identity, b.Identity) })
	return list
}

// trustIn returns what is known of one of the judges of an assertion: of several
// texts under one name, what is known of the one that is known least.
func (m *Meta) trustIn(judge string, a *AssertionSummary) Trust {
	least := Trust{Text: unvalidated}
	for _, text := range a.asked {
		v, err := proviso.ParseJSON(text)
		raw, _ := v.(*proviso.Object)
		if m.Trust == nil || err != nil || raw == nil {
			return Trust{Text: unvalidated}
		}
		t := m.Trust(judge, a.Label, raw)
		if !t.Validated {
			return t
		}
		if !least.Validated || t.Kappa != nil && least.Kappa != nil && *t.Kappa < *least.Kappa {
			least = t
		}
	}
	return least
}

// trust says how far the judges of an assertion can be trusted: what is known of
// the one that is known least. It is false if a model had no part in it.
func (m *Meta) trust(a *AssertionSummary) (Trust, bool) {
	var least Trust
	for i, judge := range a.Judges {
		t := m.trustIn(judge, a)
		if i == 0 || !t.Validated && least.Validated {
			least = t
		}
	}
	return least, len(a.Judges) > 0
}

// trustText is what a table says of the judges of an assertion.
func (m *Meta) trustText(a *AssertionSummary) string {
	t, _ := m.trust(a)
	return t.Text
}

// spent says what deciding took, in a few words.
func spent(verdicts, cached int, u proviso.Usage, cost float64) string {
	text := plural(verdicts, "verdict")
	if cached > 0 {
		text += fmt.Sprintf(" (%d kept from before)", cached)
	}
	if u.Total > 0 {
		text += ", " + plural(int(u.Total), "token")
	}
	if u.Cached > 0 && u.Prompt > 0 {
		text += fmt.Sprintf(", %.0f %% of the prompts read from the vendor's cache", 100*float64(u.Cached)/float64(u.Prompt))
	}
	if cost > 0 {
		text += fmt.Sprintf(", $%.4g", cost)
	}
	return text
}

// judges shows who graded and what that took.
func (p *printer) judges() {
	list := p.sum.Judges()
	if len(list) == 0 {
		return
	}
	p.line("%s", p.paint(bold, "Judge"))
	for _, j := range list[:min(len(list), judgesShown)] {
		p.line("  %s", cut(j.Identity, p.o.Width-4))
		p.line("    %s", spent(j.Verdicts, j.Cached, j.Usage, j.Cost))
	}
	if more := len(list) - judgesShown; more > 0 {
		p.line("  … and %d more (in the JSON report)", more)
	}
	if p.sum.unvalidated(p.meta) {
		p.line("  %s: nobody has compared its verdicts with those of people yet (proviso align)", p.paint(yellow, unvalidated))
	}
	p.w.WriteByte('\n')
}

// unvalidated reports whether a judge decided an assertion on which it was never
// compared with people.
func (s *Summary) unvalidated(m *Meta) bool {
	for _, a := range s.labels {
		if t, judged := m.trust(a); judged && !t.Validated {
			return true
		}
	}
	return false
}

// judges writes who graded, for Markdown.
func (m *markdown) judges() {
	list := m.in.Summary.Judges()
	if len(list) == 0 {
		return
	}
	for _, j := range list[:min(len(list), judgesShown)] {
		m.line("Judge %s: %s\n", code(j.Identity, 200), spent(j.Verdicts, j.Cached, j.Usage, j.Cost))
	}
	if m.in.Summary.unvalidated(m.in.Meta) {
		m.line("**%s**: nobody has compared its verdicts with those of people yet.\n", unvalidated)
	}
}

// judges writes who graded, for a page.
func (p *page) judges() {
	list := p.in.Summary.Judges()
	for _, j := range list[:min(len(list), judgesShown)] {
		p.w.WriteString("<p class=\"note\">Judge <code>")
		p.text(cut(j.Identity, 200))
		p.w.WriteString("</code>: ")
		p.text(spent(j.Verdicts, j.Cached, j.Usage, j.Cost))
		p.w.WriteString("</p>\n")
	}
	if len(list) > 0 && p.in.Summary.unvalidated(p.in.Meta) {
		p.w.WriteString("<p class=\"note\"><b>" + unvalidated + "</b>: nobody has compared its verdicts with those of people yet.</p>\n")
	}
}

// agreements returns, for JSON, how far the judges of an assertion agree with
// people.
func (m *Meta) agreements(a *AssertionSummary) []any {
	list := []any{}
	for _, judge := range a.Judges {
		t := m.trustIn(judge, a)
		o := proviso.ObjectOf("judge", judge, "validated", t.Validated, "text", t.Text)
		if t.Labels > 0 {
			o.Set("labels", float64(t.Labels))
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

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// judgesOf returns the judges for JSON.
func judgesOf(in *Input) []any {
	list := []any{}
	for _, j := range in.Summary.Judges() {
		list = append(list, proviso.ObjectOf("judge", j.Identity, "verdicts", float64(j.Verdicts), "cached", float64(j.Cached),
			"tokenUsage", tokens(j.Usage), "cost", j.Cost))
	}
	return list
}
