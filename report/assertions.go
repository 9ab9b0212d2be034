package report

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/value"
)

const (
	// maxAssertions limits the assertions that a summary keeps with their text. Assertions
	// that failed or have errors take precedence over those that always passed.
	maxAssertions = 1_000
	// maxCounted limits the further assertions that are counted separately, by a hash.
	maxCounted = 200_000
	// maxValueText is the maximum size, in bytes, of a text in a name. maxStructureText is
	// the limit for a list or an object, whose beginning is enough.
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
	Unweighed bool   // the weight is 0: the assertion always passes, but the counts are those of its findings
	Others    int    // number of assertions combined in this entry, which have no entries of their own; 0 for a single assertion
	Counts
	Usage proviso.Usage // usage for deciding
	Cost  float64       // cost of deciding, in US dollars
	// CannotTell counts the outputs for which the judge cannot tell whether a criterion is
	// met. Most of them count in Errors too.
	CannotTell int
	Judges     []string // identities of the deciding judges, sorted; at most maxJudges

	asked []string // what they decided, as JSON, sorted; "" is what is not known
	name  string   // set by [Summary.Assertions], which computes it for sorting
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
		return plural.Of(a.Others, "further assertion")
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

// urgency orders entries: first those with failures, by pass rate, then those with errors,
// those that passed, and those that never applied.
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

// assertions counts verdicts by assertion, with limited memory. Beyond maxAssertions, an
// assertion that fails or has an error takes the entry of one that always passed, which is
// then counted only by a hash.
type assertions struct {
	seed   maphash.Seed
	lines  map[uint64]*AssertionSummary
	clean  []uint64 // keys of the lines that may be removed
	counts tallies  // counts of assertions without a line
	others Counts   // combined counts of all further assertions
	buffer []byte

	// recent finds entries by the suite's objects, which a suite's rows share. Encoding a
	// schema for its key each time would dominate the time.
	recent map[*value.Object]*AssertionSummary

	// sorted caches the result of Assertions until the next verdict, because several
	// reports use a run's summary.
	sorted atomic.Pointer[[]AssertionSummary]
}

// maxRecent limits the assertions that are found without their key.
const maxRecent = 1024

func newAssertions() *assertions {
	return &assertions{seed: maphash.MakeSeed(), lines: map[uint64]*AssertionSummary{}, counts: newTallies(), recent: map[*value.Object]*AssertionSummary{}}
}

// addOf counts a verdict on a suite's assertion.
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

// add counts a verdict and returns the entry of its assertion; nil if there is none.
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

// open returns a new entry if there is room, or if the assertion takes precedence over one
// that has an entry. Otherwise it returns nil.
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

// makeRoom removes the entry of an assertion that always passed. It reports whether there
// was one.
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
		clear(t.recent) // it may contain the removed entry
		return true
	}
	return false
}

// Assertions returns the counts of each assertion, lowest pass rate first. If the summary
// keeps entries for only some assertions, the last entry combines the others. The caller
// must not change the slice.
func (s *Summary) Assertions() []AssertionSummary {
	t := s.asserted
	if list := t.sorted.Load(); list != nil {
		return *list
	}
	type line struct {
		*AssertionSummary
		name    string // cached: sorting compares names and urgencies many times
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

// leftOut returns a note about the assertions that a table leaves out; "" if there are
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
