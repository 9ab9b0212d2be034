package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
)

// A criterion is probably bad if the judge cannot tell for at least this share and this
// number of outputs.
const (
	unclearShare = 0.1
	unclearLeast = 2
)

// maxLinted bounds the number of assertions of a run that are checked.
const maxLinted = 10_000

// RunFinding is a finding about an assertion of a finished run.
type RunFinding struct {
	Assertion string `json:"assertion"` // id, otherwise metric, otherwise type
	Finding          // Pointer is relative to the assertion, such as /criteria/1
}

// Run checks the judged assertions of a run: their wording, and how often the judge could
// not tell. Findings are in the order of the assertions. unread is a message about the
// criteria that the lint does not read, as from [Unread].
func Run(run record.Run) (found []RunFinding, unread string, err error) {
	known := map[string]*judgedAssertion{}
	var order []*judgedAssertion
	for row, err := range record.Rows(run) {
		if err != nil {
			return nil, "", err
		}
		for _, v := range row.Verdicts() {
			criteria := v.Criteria()
			if len(criteria) == 0 {
				continue
			}
			key := v.Name + "\x00" + record.HashOf(v.Assertion)
			l := known[key]
			if l == nil {
				if len(order) >= maxLinted {
					continue
				}
				l = &judgedAssertion{name: v.Name, assertion: v.Judged()}
				known[key], order = l, append(order, l)
			}
			l.add(criteria)
		}
	}
	found = []RunFinding{}
	var texts []string
	for _, l := range order {
		for i := range l.counts {
			texts = append(texts, l.counts[i].text)
		}
		for _, f := range l.findings() {
			found = append(found, RunFinding{l.name, f})
		}
	}
	return found, unreadOf(texts), nil
}

// judgedAssertion is an assertion of a run.
type judgedAssertion struct {
	name      string
	assertion *proviso.Assertion
	counts    []unclearCount // by the criterion's index among the verdicts
}

// unclearCount counts the verdicts on a criterion.
type unclearCount struct {
	text           string // text for the first output; variables may change it
	asked, unclear int
}

func (l *judgedAssertion) add(criteria []record.Criterion) {
	for i, c := range criteria {
		if i == len(l.counts) {
			l.counts = append(l.counts, unclearCount{text: c.Text})
		}
		if c.Skipped {
			continue
		}
		n := &l.counts[i]
		n.asked++
		if c.CannotTell {
			n.unclear++
		}
	}
}

func (l *judgedAssertion) findings() []Finding {
	a := l.assertion
	found := Assertion(a)
	for _, n := range l.counts {
		if n.unclear < unclearLeast || float64(n.unclear) < unclearShare*float64(n.asked) {
			continue
		}
		pointer := ""
		if i := slices.IndexFunc(a.Criteria, func(c proviso.Criterion) bool { return c.Text == n.text }); i >= 0 {
			pointer = fmt.Sprintf("/criteria/%d", i)
		}
		found = append(found, Finding{Rule: "cannot-tell", Pointer: pointer, Suggestion: "what one can see in the output alone, and give the judge whatever else it needs",
			Message: fmt.Sprintf("the judge cannot tell in %d of %d outputs (%.0f %%) whether this is met: %q", n.unclear, n.asked, 100*float64(n.unclear)/float64(n.asked), n.text)})
	}
	slices.SortStableFunc(found, func(x, y Finding) int { return cmp.Compare(x.Pointer, y.Pointer) })
	return found
}
