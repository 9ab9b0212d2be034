package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/plural"
)

// Decision is a gate's decision on a run: whether the change may merge. A report begins
// with it. Its JSON is the server's JSON of a comparison, plus the rows.
type Decision struct {
	Outcome string   `json:"decision"` // pass, fail or inconclusive; "" if nothing could be compared
	Reasons []Reason `json:"reasons"`  // the deciding reasons first
	Needed  *Needed  `json:"needed"`   // nil if no known number of cases would decide
	Base    string   `json:"base,omitempty"`
}

// Reason is one rule that decided, or a further note.
type Reason struct {
	Rule      string `json:"rule"`
	Assertion string `json:"assertion,omitempty"` // "" if the rule is about the suite
	Met       bool   `json:"met"`                 // false if the rule prevented a pass
	Text      string `json:"text"`                // a sentence; names from the suite are quoted
	Rows      []int  `json:"rows,omitempty"`      // indices of the rows concerned, the worst first, at most [ReasonRows]
	More      int    `json:"more_rows,omitempty"` // number of further rows concerned
	Note      bool   `json:"-"`                   // a note, which did not decide
}

// ReasonRows limits the rows of a [Reason].
const ReasonRows = 5

// Needed is what would turn "inconclusive" into a decision: this many cases, or this many
// repeats of the same cases. A number is 0 if it is not known.
type Needed struct {
	Cases   int `json:"cases"`
	Repeats int `json:"repeats"`
}

// String returns a sentence; "" if nothing is known.
func (n *Needed) String() string {
	switch {
	case n == nil || n.Cases <= 0 && n.Repeats <= 0:
		return ""
	case n.Repeats <= 0:
		return fmt.Sprintf("About %s would be enough to decide.", plural.Of(n.Cases, "case"))
	case n.Cases <= 0:
		return fmt.Sprintf("About %s of each case would be enough to decide.", plural.Of(n.Repeats, "repeat"))
	}
	return fmt.Sprintf("About %s, or %s of each case, would be enough to decide.", plural.Of(n.Cases, "case"), plural.Of(n.Repeats, "repeat"))
}

// PassRateDecision decides by the share of rows that must pass. It is a fail if too few
// pass, and inconclusive if rows with errors could change the result.
func PassRateDecision(s *Summary, least float64, missed bool) *Decision {
	c := s.rows
	d := &Decision{Outcome: "inconclusive"}
	switch low, _ := c.ends(); {
	case missed:
		d.Outcome = "fail"
	case c.Asked() == 0 || low >= least:
		d.Outcome = "pass"
	}
	d.Reasons = []Reason{{Rule: "pass-rate", Met: d.Outcome == "pass", Text: fmt.Sprintf("%s, %s; at least %.4g %% must pass.", c.passedOf(), c.percent(" "), 100*least)}}
	if d.Outcome != "pass" {
		d.Reasons[0].Rows, d.Reasons[0].More = s.worstRows()
	}
	return d
}

// worstRows returns indices of failed rows, or of rows with errors if none failed, and the
// number of further ones.
func (s *Summary) worstRows() (list []int, more int) {
	t := s.Totals()
	list, more = s.failures(), t.Failed
	if len(list) == 0 {
		more = t.Errors
		for _, e := range s.undecidedRows() {
			list = append(list, e.first)
		}
	}
	list = list[:min(len(list), ReasonRows)]
	return list, more - len(list)
}

// maxReasons limits the reasons in a report.
const maxReasons = 20

// words returns the sign, colour class and words of an outcome.
func (d *Decision) words() (sign, class, text string) {
	switch d.Outcome {
	case "pass":
		return "✓", "pass", "Pass"
	case "fail":
		return "✗", "fail", "Fail: blocked"
	case "inconclusive":
		return "?", "error", "Inconclusive: undecided"
	}
	return "?", "error", "Undecided: nothing to compare"
}

// mark returns the sign before a reason, its colour class, and a word for readers who do
// not see the sign.
func (r *Reason) mark(d *Decision) (sign, class, word string) {
	sign, class, _ = d.words()
	switch {
	case r.Note:
		return "", "", "Note"
	case r.Met:
		return "✓", "pass", "Met"
	}
	return sign, class, map[string]string{"fail": "Not met"}[class]
}

// name returns the rule and its assertion.
func (r *Reason) name() string {
	if r.Assertion == "" {
		return r.Rule
	}
	return r.Rule + " " + r.Assertion
}

// decision writes the gate's decision, if any.
func (m *markdown) decision() {
	d := m.in.Meta.Decision
	if d == nil {
		return
	}
	sign, _, text := d.words()
	base := ""
	if d.Base != "" {
		base = ", compared with " + code(d.Base, 100)
	}
	m.line("**Gate: %s %s**%s\n", sign, text, base)
	for i := range d.Reasons[:min(len(d.Reasons), maxReasons)] {
		r := &d.Reasons[i]
		sign, _, word := r.mark(d)
		if sign == "" {
			sign = word + ":"
		}
		m.line("- %s %s: %s", sign, code(r.name(), 100), MarkdownSentence(r.Text))
	}
	if more := len(d.Reasons) - maxReasons; more > 0 {
		m.line("- … and %d more", more)
	}
	if text := d.Needed.String(); text != "" {
		m.line("- %s", text)
	}
	m.line("")
}

// about reports whether any reason concerns a row.
func (d *Decision) about(row int) bool {
	return d != nil && slices.ContainsFunc(d.Reasons[:min(len(d.Reasons), maxReasons)], func(r Reason) bool { return slices.Contains(r.Rows, row) })
}

// leading returns the marks, with the rows of the decision first.
func (d *Decision) leading(list []mark) []mark {
	isAbout := func(m mark) bool { return d.about(m.index) }
	isOther := func(m mark) bool { return !isAbout(m) }
	return slices.Concat(slices.DeleteFunc(slices.Clone(list), isOther), slices.DeleteFunc(list, isAbout))
}

// decision appends the decision as a member of an object, if there is one.
func (e *encoder) decision(d *Decision) {
	if text, err := json.Marshal(d); err == nil && d != nil { // it contains only texts and numbers
		e.raw(`,"decision":` + string(text))
	}
}

// MarkdownSentence escapes a sentence that contains names from the suite. A backslash
// prevents Markdown from interpreting markup. Mentions, references and bare addresses are
// recognised in the text without backslashes, so an invisible word joiner breaks them.
func MarkdownSentence(text string) string {
	var b strings.Builder
	text = Line(text, maxSentence)
	for i, r := range text {
		if strings.ContainsRune("\\`*_{}[]()<>#+!|&~$", r) || i == 0 && r == '-' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		rest := text[i+utf8.RuneLen(r):]
		if strings.ContainsRune("@#!", r) || r == ':' && strings.HasPrefix(rest, "/") || r == '.' && endsIn(text[:i], "www") || r == '-' && endsIn(text[:i], "gh") {
			b.WriteRune(joiner)
		}
	}
	return b.String()
}

const maxSentence = 1000 // cells

// endsIn reports whether a text ends in a word, ignoring case.
func endsIn(text, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(text[len(text)-len(word):], word)
}
