package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// If the judge cannot tell for at least this share and this number of outputs, the
// criterion is probably bad.
const (
	unclearShare = 0.1
	unclearLeast = 2
)

// maxLinted bounds how many assertions of a run are checked.
const maxLinted = 10_000

// RunLint is a finding about an assertion of a finished run.
type RunLint struct {
	Assertion string // id, else metric, else type
	Lint             // Pointer is relative to the assertion, such as /criteria/1
}

// LintRun checks the judged assertions of a run: their wording, and how often the judge
// could not tell. Findings are in the order of the assertions.
func LintRun(run KeptRun) ([]RunLint, error) {
	known := map[string]*lintedRun{}
	var order []*lintedRun
	for row, err := range keptRows(run) {
		if err != nil {
			return nil, err
		}
		for _, v := range row.verdicts() {
			criteria, _ := v.component.At("criteria").([]any)
			if len(criteria) == 0 {
				continue
			}
			key := v.name + "\x00" + hashOfAssertion(v.assertion)
			l := known[key]
			if l == nil {
				if len(order) >= maxLinted {
					continue
				}
				l = &lintedRun{name: v.name, assertion: v.assertion}
				known[key], order = l, append(order, l)
			}
			l.add(criteria)
		}
	}
	var found []RunLint
	for _, l := range order {
		for _, f := range l.findings() {
			found = append(found, RunLint{l.name, f})
		}
	}
	return found, nil
}

// lintedRun is an assertion of a run.
type lintedRun struct {
	name      string
	assertion *value.Object
	counts    []unclearCount // by the index of the criterion among the verdicts
}

// unclearCount counts the verdicts on a criterion.
type unclearCount struct {
	text           string // of the first output; variables may change it
	asked, unclear int
}

func (l *lintedRun) add(criteria []any) {
	for i, v := range criteria {
		c, _ := v.(*value.Object)
		if i == len(l.counts) {
			l.counts = append(l.counts, unclearCount{text: textAt(c, "criterion")})
		}
		if i > len(l.counts) || c == nil || textAt(c, "status") == proviso.Skip.String() {
			continue
		}
		n := &l.counts[i]
		n.asked++
		if c.At("cannot_tell") == true {
			n.unclear++
		}
	}
}

func (l *lintedRun) findings() []Lint {
	a := &proviso.Assertion{Instruction: textAt(l.assertion, "instruction")}
	written := l.assertion.At("criteria")
	if _, one := written.(string); one {
		written = []any{written}
	}
	list, _ := written.([]any)
	for _, v := range list {
		switch v := v.(type) {
		case string:
			a.Criteria = append(a.Criteria, proviso.Criterion{Text: v})
		case *value.Object:
			a.Criteria = append(a.Criteria, proviso.Criterion{Text: textAt(v, "text"), Template: textAt(v, "template")})
		}
	}
	found := LintAssertion(a)
	for _, n := range l.counts {
		if n.unclear < unclearLeast || float64(n.unclear) < unclearShare*float64(n.asked) {
			continue
		}
		pointer := ""
		if i := slices.IndexFunc(a.Criteria, func(c proviso.Criterion) bool { return c.Text == n.text }); i >= 0 {
			pointer = fmt.Sprintf("/criteria/%d", i)
		}
		found = append(found, Lint{Rule: "cannot-tell", Pointer: pointer, Suggestion: "what one can see in the output alone, and give the judge whatever else it needs",
			Message: fmt.Sprintf("the judge cannot tell in %d of %d outputs (%.0f %%) whether this is met: %q", n.unclear, n.asked, 100*float64(n.unclear)/float64(n.asked), n.text)})
	}
	slices.SortStableFunc(found, func(x, y Lint) int { return cmp.Compare(x.Pointer, y.Pointer) })
	return found
}
