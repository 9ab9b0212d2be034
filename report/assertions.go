package report

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

const (
	// maxAssertions limits how many assertions a summary keeps with their text.
	// Assertions that failed or have errors take precedence over those that always passed.
	maxAssertions = 1_000
	// maxCounted limits how many further assertions are counted separately, by a
	// hash.
	maxCounted = 200_000
	// maxValueText is how many bytes of a text a name may show. maxStructureText is
	// the same for a list or an object, whose beginning is enough.
	maxValueText     = 200
	maxStructureText = 80
)

// AssertionSummary counts the verdicts on one assertion. Assertions of several cases
// with equal type, value, threshold, id and metric are combined.
type AssertionSummary struct {
	Type      string // "" if the entry combines the assertions without one of their own
	ID        string // "" if the suite gives none
	Metric    string // "" if the suite gives none
	Value     string // for display: texts in quotes, structures as JSON, long ones shortened
	Threshold string // as in the suite; "" if there is none or the type has no use for it
	Unweighed bool   // its weight is 0: it always passes, but its counts are those of its findings
	Others    int    // how many assertions without an entry of their own are combined here; 0 for a single assertion
	Counts
	Usage proviso.Usage // of deciding
	Cost  float64       // of deciding, in US dollars
	// CannotTell counts the outputs for which the judge cannot tell whether a
	// criterion is met. Most of them are in Errors too.
	CannotTell int
	Judges     []string // identities of the judges that decided, sorted; at most maxJudges

	asked []string // what they decided, as JSON, sorted; "" is what is not known
	name  string   // set by [Summary.Assertions], which needs it anyway
}

// Label returns the id, or else the metric, or "" if the suite sets neither.
func (a *AssertionSummary) Label() string { return cmp.Or(a.ID, a.Metric) }

// Name returns the name of the assertion in reports: its id and metric, if set, then
// type, value and threshold, as in `not-icontains "refund you"`.
func (a *AssertionSummary) Name() string {
	if a.name != "" {
		return a.name
	}
	if a.Others > 0 {
		return Plural(a.Others, "further assertion")
	}
	name := a.Label()
	if a.ID != "" && a.Metric != "" && a.ID != a.Metric {
		name += " (" + a.Metric + ")"
	}
	if name != "" {
		name += ": "
	}
	name += a.Type
	if a.Value != "" {
		name += " " + a.Value
	}
	if a.Threshold != "" {
		name += ", threshold " + a.Threshold
	}
	if a.Unweighed {
		name += ", weight 0"
	}
	return name
}

// urgency orders entries: by the pass rate if any failed, then those with errors, those
// that passed, and those that never applied.
func (a *AssertionSummary) urgency() float64 {
	switch {
	case a.Failed > 0:
		return float64(a.Passed) / float64(a.Asked())
	case a.Errors > 0:
		return 1
	case a.Passed > 0:
		return 2
	}
	return 3
}

func (c *Counts) plus(d Counts) {
	c.Passed += d.Passed
	c.Failed += d.Failed
	c.Errors += d.Errors
	c.Skipped += d.Skipped
}

// assertions counts verdicts by assertion, with limited memory. Beyond maxAssertions,
// assertions that always passed lose their entries to those that did not, and are
// then counted by a hash.
type assertions struct {
	seed   maphash.Seed
	lines  map[uint64]*AssertionSummary
	clean  []uint64 // lines that may be given up
	counts tallies  // of assertions without a line
	others Counts   // of assertions that are not told apart either
	buffer []byte

	// recent finds entries by the suite's objects, which rows of one suite share.
	// Encoding a schema for its key each time would take longer than everything else.
	recent map[*value.Object]*AssertionSummary

	// sorted is what Assertions returned, until another verdict comes: a run has its
	// summary in several reports.
	sorted atomic.Pointer[[]AssertionSummary]
}

// maxRecent limits the assertions that are found without their key.
const maxRecent = 1024

func newAssertions() *assertions {
	return &assertions{seed: maphash.MakeSeed(), lines: map[uint64]*AssertionSummary{}, counts: newTallies(), recent: map[*value.Object]*AssertionSummary{}}
}

// addOf counts a verdict on an assertion of a suite.
func (t *assertions) addOf(a *proviso.Assertion, compared bool, status proviso.Status, judged bool) *AssertionSummary {
	shared := a.Raw != nil && len(a.Assert) == 0
	if shared {
		if line := t.recent[a.Raw]; line != nil {
			line.Counts.add(status)
			return line
		}
	}
	x := aboutOf(a, compared)
	if x.kind == "" {
		return nil
	}
	line := t.add(&x, status, judged)
	if shared && line != nil {
		if len(t.recent) >= maxRecent {
			clear(t.recent)
		}
		t.recent[a.Raw] = line
	}
	return line
}

// add counts a verdict and returns the entry of its assertion; nil if it has none.
func (t *assertions) add(x *about, status proviso.Status, judged bool) *AssertionSummary {
	t.buffer = x.appendKey(t.buffer[:0])
	key := maphash.Bytes(t.seed, t.buffer)
	if a := t.lines[key]; a != nil {
		a.Counts.add(status)
		return a
	}
	before, known := t.counts.get(key)
	before.add(status)
	if a := t.open(key, x, judged || before.Failed+before.Errors > 0); a != nil {
		a.Counts = before
		t.counts.remove(key)
		return a
	}
	if known || t.counts.len() < maxCounted {
		t.counts.set(key, before)
	} else {
		t.others.add(status)
	}
	return nil
}

// open returns a new entry if there is room, or if the assertion takes precedence
// over one that has an entry.
func (t *assertions) open(key uint64, x *about, matters bool) *AssertionSummary {
	if len(t.lines) >= maxAssertions && (!matters || !t.makeRoom()) {
		return nil
	}
	a := x.summary()
	t.lines[key] = a
	if !matters {
		t.clean = append(t.clean, key)
	}
	return a
}

// makeRoom removes the entry of an assertion that always passed.
func (t *assertions) makeRoom() bool {
	for len(t.clean) > 0 {
		key := t.clean[len(t.clean)-1]
		t.clean = t.clean[:len(t.clean)-1]
		a := t.lines[key]
		if a == nil || a.Failed+a.Errors > 0 || len(a.Judges) > 0 || a.Cost > 0 || a.CannotTell > 0 {
			continue
		}
		if t.counts.len() < maxCounted {
			t.counts.set(key, a.Counts)
		} else {
			t.others.plus(a.Counts)
		}
		delete(t.lines, key)
		clear(t.recent) // it may hold the entry
		return true
	}
	return false
}

// Assertions returns the counts of each assertion, lowest pass rate first. If there
// are more assertions than are kept, the last entry combines the rest.
// The caller must not change it.
func (s *Summary) Assertions() []AssertionSummary {
	t := s.asserted
	if list := t.sorted.Load(); list != nil {
		return *list
	}
	type line struct {
		*AssertionSummary
		name    string // sorting compares both many times
		urgency float64
	}
	lines := make([]line, 0, len(t.lines))
	for _, a := range t.lines {
		lines = append(lines, line{a, a.Name(), a.urgency()})
	}
	slices.SortFunc(lines, func(a, b line) int {
		if c := cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(b.Errors, a.Errors)); c != 0 {
			return c
		}
		if a.Type != b.Type {
			return strings.Compare(a.Type, b.Type)
		}
		return strings.Compare(a.name, b.name)
	})
	list := make([]AssertionSummary, 0, len(lines)+1)
	for _, a := range lines {
		one := *a.AssertionSummary
		one.name = a.name
		list = append(list, one)
	}
	if n := t.counts.len(); n > 0 {
		more := AssertionSummary{Others: n, Counts: t.others}
		more.plus(t.counts.total())
		list = append(list, more)
	}
	t.sorted.Store(&list)
	return list
}

// leftOut returns a note on the assertions that a table leaves out; "" if there are
// none.
func leftOut(list []AssertionSummary, shown int) string {
	if shown >= len(list) {
		return ""
	}
	n := 0
	var c Counts
	for i := range list[shown:] {
		a := &list[shown+i]
		n += max(1, a.Others)
		c.plus(a.Counts)
	}
	return fmt.Sprintf("… and %d more: %s", n, c.passedOf())
}
