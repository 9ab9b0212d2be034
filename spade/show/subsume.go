package show

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// shownPairs is how many pairs of a kind the terminal lists.
const shownPairs = 40

// SubsumptionLine summarises the result in one line.
func SubsumptionLine(s *subsume.Subsumption) string {
	by := map[subsume.Source]int{}
	kept, dropped := 0, 0
	for i := range s.Pairs {
		switch p := &s.Pairs[i]; {
		case p.Outcome == subsume.Kept:
			by[p.Source]++
			kept++
		case p.Source != subsume.FromClosure:
			dropped++
		}
	}
	var parts []string
	for _, source := range subsume.Sources() {
		if n := by[source]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, map[subsume.Source]string{
				subsume.FromProof: "proven", subsume.FromJudge: "by the judge", subsume.FromFile: "given", subsume.FromClosure: "by closure",
			}[source]))
		}
	}
	line := fmt.Sprintf("%s among %s", report.Plural(kept, "implication"), report.Plural(len(s.Names), "candidate"))
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	if dropped > 0 {
		line += fmt.Sprintf("; %d dropped", dropped)
	}
	return line
}

// Subsumption shows a subsumption to a person.
func Subsumption(s *subsume.Subsumption, o report.TerminalOptions) []byte {
	t := &page{o: o}
	t.o.Width = max(t.o.Width, 60)
	t.line("%s", t.paint("1", SubsumptionLine(s)))
	for _, source := range subsume.Sources() {
		t.pairs(s, map[subsume.Source]string{
			subsume.FromProof: "Proven", subsume.FromJudge: "By the judge", subsume.FromFile: "Given", subsume.FromClosure: "Follow from these",
		}[source], func(p *subsume.Pair) bool { return p.Outcome == subsume.Kept && p.Source == source })
	}
	if len(s.Classes) > 0 {
		t.line("")
		t.line("  %s", t.paint("1", fmt.Sprintf("The same (%d): these imply each other", len(s.Classes))))
		for _, class := range s.Classes {
			names := make([]string, len(class))
			for i, j := range class {
				names[i] = s.Names[j]
			}
			t.line("    %s", Names(names, MaxNames))
		}
	}
	for _, outcome := range []struct {
		outcome subsume.Outcome
		title   string
	}{
		{subsume.Contradicted, "Dropped: an output contradicts it"},
		{subsume.Refuted, "Dropped: a text contradicts it"},
		{subsume.Unreliable, "Dropped: an end has false failures above tau"},
		{subsume.Denied, "Dropped: the judge took it back"},
		{subsume.Unconfirmed, "Left out: the judge did not answer the second question"},
	} {
		t.pairs(s, outcome.title, func(p *subsume.Pair) bool { return p.Outcome == outcome.outcome })
	}
	if s.Unsure > 0 {
		t.line("")
		t.line("%s", t.paint("2", fmt.Sprintf("%s given up because it would have taken too long.", report.Plural(s.Unsure, "comparison"))))
	}
	return t.Bytes()
}

// pairs lists the pairs of a kind, and counts the rest.
func (t *page) pairs(s *subsume.Subsumption, title string, of func(*subsume.Pair) bool) {
	n := 0
	for i := range s.Pairs {
		if of(&s.Pairs[i]) {
			n++
		}
	}
	if n == 0 {
		return
	}
	t.line("")
	t.line("  %s", t.paint("1", fmt.Sprintf("%s (%d)", title, n)))
	shown := 0
	for i := range s.Pairs {
		p := &s.Pairs[i]
		if !of(p) {
			continue
		}
		if shown == shownPairs {
			t.line("    … and %d more", n-shown)
			return
		}
		shown++
		t.line("    %s → %s", t.paint("32", report.Line(s.Names[p.A], 60)), report.Line(s.Names[p.B], 60))
		t.line("      %s", t.paint("2", report.Line(s.Why(p), t.o.Width-6)))
	}
}
