package show

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// shownPairs is the maximum number of pairs of a kind that the terminal lists.
const shownPairs = 40

// sourceNames name the sources of implications, in a sentence and as a title.
var sourceNames = map[subsume.Source]struct{ short, title string }{
	subsume.FromProof: {"proven", "Proven"}, subsume.FromJudge: {"by the judge", "By the judge"},
	subsume.FromFile: {"given", "Given"}, subsume.FromClosure: {"by closure", "Follow from these"},
}

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
			parts = append(parts, fmt.Sprintf("%d %s", n, sourceNames[source].short))
		}
	}
	line := fmt.Sprintf("%s among %s", plural.Of(kept, "implication"), plural.Of(len(s.Names), "candidate"))
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
	t := newPage(o, 60)
	t.line("%s", t.o.Paint(report.Bold, SubsumptionLine(s)))
	for _, source := range subsume.Sources() {
		t.pairs(s, sourceNames[source].title, func(p *subsume.Pair) bool { return p.Outcome == subsume.Kept && p.Source == source })
	}
	if len(s.Classes) > 0 {
		t.part("The same (%d): these imply each other", len(s.Classes))
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
		t.line("\n%s", t.o.Paint(report.Dim, fmt.Sprintf("%s given up because it would have taken too long.", plural.Of(s.Unsure, "comparison"))))
	}
	return t.Bytes()
}

// pairs lists the pairs of a kind, and counts the rest.
func (t *page) pairs(s *subsume.Subsumption, title string, of func(*subsume.Pair) bool) {
	var list []*subsume.Pair
	for i := range s.Pairs {
		if p := &s.Pairs[i]; of(p) {
			list = append(list, p)
		}
	}
	if len(list) > 0 {
		t.part("%s (%d)", title, len(list))
	}
	for i, p := range list {
		if i == shownPairs {
			t.line("    … and %d more", len(list)-i)
			return
		}
		t.line("    %s → %s", t.o.Paint(report.Green, report.Line(s.Names[p.A], 60)), report.Line(s.Names[p.B], 60))
		t.line("      %s", t.o.Paint(report.Dim, report.Line(s.Why(p), t.o.Width-6)))
	}
}

// Pairs shows the pairs of a subsumption to a reviewer.
type Pairs struct {
	Subsumption *subsume.Subsumption
	Options     report.TerminalOptions
	Outputs     map[string]string // texts of outputs by id, to show as examples; may be nil
}

// Pair shows a pair with its evidence, but without its source, which would bias people.
func (v *Pairs) Pair(p *subsume.Pair, number, of int) []byte {
	t := newPage(v.Options, 60)
	t.line("\n%s", t.o.Paint(report.Bold, fmt.Sprintf("%d of %d", number, of)))
	for _, end := range []struct {
		letter string
		i      int
	}{{"a", p.A}, {"b", p.B}} {
		says, check := v.Subsumption.Shown(end.i)
		t.line("  %s  %s", t.o.Paint(report.Bold, end.letter), t.o.Paint(report.Green, report.Line(v.Subsumption.Names[end.i], t.o.Width-5)))
		if says != "" {
			t.line("     %s", report.Line(says, t.o.Width-5))
		}
		if check != "" {
			t.line("     %s", t.o.Paint(report.Dim, report.Line(check, 3*t.o.Width)))
		}
	}
	if c := v.Subsumption.Tally(p); c != nil {
		text := fmt.Sprintf("Of the outputs %d pass both, %d pass b alone, %d fail both", c.Both, c.OnlyB, c.Neither)
		if c.Undecided > 0 {
			text += fmt.Sprintf(", %d undecided", c.Undecided)
		}
		t.line("     %s", text)
		v.output(t, "passes b alone", c.OnlyBID)
		v.output(t, "fails both", c.NeitherID)
	}
	t.line("  %s  y yes, n no, s skip, u undo, q quit", t.o.Paint(report.Bold, "Does every output that passes a pass b?"))
	return t.Bytes()
}

// output shows one output.
func (v *Pairs) output(t *page, what, id string) {
	if text, ok := v.Outputs[id]; ok && id != "" {
		t.line("     %s %s: %s", report.Line(id, 40), what, t.o.Paint(report.Dim, report.Line(text, 2*t.o.Width)))
	}
}

// Precision shows how many of each source's pairs are correct.
func Precision(list []subsume.Precision, o report.TerminalOptions) []byte {
	t := &page{o: o}
	t.part("%-10s %6s %6s %8s  precision", "Source", "right", "wrong", "skipped")
	for _, p := range list {
		share := "–"
		if n := p.Right + p.Wrong; n > 0 {
			share = report.PercentRange(float64(p.Right)/float64(n), p.Interval.Low, p.Interval.High)
		}
		t.line("  %-10s %6d %6d %8d  %s", p.Source, p.Right, p.Wrong, p.Skipped, share)
	}
	t.intervals()
	return t.Bytes()
}
