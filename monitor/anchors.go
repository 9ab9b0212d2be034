package monitor

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

const (
	// anchorLevel is the significance level at which a round of anchors shows that the
	// judge has changed, over all assertions of the watch. At anchorOver and above, the
	// alarm closes.
	anchorLevel, anchorOver = 0.01, 0.05
	// minAnchors is the minimum number of anchors with which a change is detectable.
	minAnchors = 8
)

// AnchorResult is a new verdict on an output that was judged before.
type AnchorResult struct {
	Anchor    string
	Assertion string
	Judge     string         // identity of the judge that decided now
	Before    proviso.Status // verdict to compare with: a label, or the first verdict
	Now       proviso.Status
}

// flips compares the verdicts of one assertion.
type flips struct {
	assertion, judge string
	n                int
	worse, better    []string // anchors that changed from pass to fail, and from fail to pass
	failed, fail     int      // number of fails before, and now
	p                float64
}

// Anchored processes a round of anchors, and returns the alarms that were opened, updated
// or closed. It compares the verdicts on the same outputs with McNemar's exact test,
// adjusted for the number of assertions (Holm): if an unchanged output is judged
// differently, the judge has changed.
func (c *Charts) Anchored(results []AnchorResult, now time.Time) []*Alarm {
	now = now.UTC()
	touched := &changes{c: c, now: now}
	all := flipsOf(results)
	p := make([]float64, len(all))
	for i, f := range all {
		p[i] = f.p
	}
	adjusted, err := stats.Holm(p)
	if err != nil { // there are no results
		return nil
	}
	if c.state.Anchored == nil {
		c.state.Anchored = map[string]string{}
	}
	for i, f := range all {
		j := slices.IndexFunc(c.state.Open, func(a *Alarm) bool { return a.Kind == KindJudge && a.Assertion == f.assertion })
		switch {
		case j >= 0 && adjusted[i] > anchorOver:
			touched.add(c.closeID(c.state.Open[j].ID, now, "the judge decides the anchors as before"))
		case j >= 0:
			c.describe(c.state.Open[j], f, adjusted[i])
			touched.add(c.state.Open[j])
		case adjusted[i] <= anchorLevel && f.n >= minAnchors:
			touched.add(c.judgeAlarm(f, adjusted[i], now))
		}
		c.state.Anchored[f.assertion] = f.judge
	}
	return touched.list
}

// flipsOf compares the verdicts of each assertion, in the order of their names.
func flipsOf(results []AnchorResult) []*flips {
	by := map[string]*flips{}
	for _, r := range results {
		decided := func(s proviso.Status) bool { return s == proviso.Pass || s == proviso.Fail }
		if !decided(r.Before) || !decided(r.Now) {
			continue
		}
		f := by[r.Assertion]
		if f == nil {
			f = &flips{assertion: r.Assertion}
			by[r.Assertion] = f
		}
		f.n++
		f.judge = r.Judge
		if r.Before == proviso.Fail {
			f.failed++
		}
		if r.Now == proviso.Fail {
			f.fail++
		}
		switch {
		case r.Before == proviso.Pass && r.Now == proviso.Fail:
			f.worse = append(f.worse, r.Anchor)
		case r.Before == proviso.Fail && r.Now == proviso.Pass:
			f.better = append(f.better, r.Anchor)
		}
	}
	list := make([]*flips, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		f := by[name]
		f.p = 1
		if p, err := stats.McNemar(len(f.worse), len(f.better), stats.TwoSided, false); err == nil {
			f.p = p
		}
		list = append(list, f)
	}
	return list
}

func (c *Charts) judgeAlarm(f *flips, p float64, now time.Time) *Alarm {
	a := &Alarm{
		ID: alarmID(c.watch.Name, KindJudge, f.assertion+"\x00"+f.judge, now), Watch: c.watch.Name, Kind: KindJudge, Assertion: f.assertion, State: StateOpen, Opened: now,
		Changed: []Change{},
	}
	if before := c.state.Anchored[f.assertion]; before != "" && before != f.judge {
		a.Changed = append(a.Changed, Change{What: "judge", From: before, To: f.judge, At: now})
	}
	c.describe(a, f, p)
	c.state.Open = append(c.state.Open, a)
	return a
}

// describe updates the alarm about a judge.
func (c *Charts) describe(a *Alarm, f *flips, p float64) {
	a.Judge = f.judge
	was, is := stats.Count{Pass: f.failed, N: f.n}, stats.Count{Pass: f.fail, N: f.n}
	a.Baseline = &Baseline{Rate: short(was.Share()), Upper: short(was.Share()), N: f.n}
	limits := stats.Wilson(f.fail, f.n, confidence)
	a.Now = &Now{Rate: short(is.Share()), Low: short(limits.Low), High: short(limits.High), N: f.n}
	a.Reason = fmt.Sprintf("of %d anchors, %d that passed fail now and %d that failed pass now (p = %.2g)", f.n, len(f.worse), len(f.better), p)
	a.Examples = slices.Concat(f.worse, f.better)
	a.Examples = a.Examples[:min(maxExamples, len(a.Examples))]
}
