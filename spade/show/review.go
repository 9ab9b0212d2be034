package show

import (
	"fmt"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// Pairs shows pairs of a subsumption to a person who reviews them.
type Pairs struct {
	Subsumption *subsume.Subsumption
	Options     report.TerminalOptions
	Outputs     map[string]string // texts of outputs by id, to show some of them; may be nil
}

// Pair shows a pair with its evidence, but without its source, which would bias people.
func (v *Pairs) Pair(p *subsume.Pair, number, of int) []byte {
	t := &page{o: v.Options}
	t.o.Width = max(t.o.Width, 60)
	t.line("")
	t.line("%s", t.paint("1", fmt.Sprintf("%d of %d", number, of)))
	for _, end := range []struct {
		letter string
		i      int
	}{{"a", p.A}, {"b", p.B}} {
		says, check := v.Subsumption.Shown(end.i)
		t.line("  %s  %s", t.paint("1", end.letter), t.paint("32", report.Line(v.Subsumption.Names[end.i], t.o.Width-5)))
		if says != "" {
			t.line("     %s", report.Line(says, t.o.Width-5))
		}
		if check != "" {
			t.line("     %s", t.paint("2", report.Line(check, 3*t.o.Width)))
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
	t.line("  %s  y yes, n no, s skip, u undo, q quit", t.paint("1", "Does every output that passes a pass b?"))
	return t.Bytes()
}

// output shows one output.
func (v *Pairs) output(t *page, what, id string) {
	if text, ok := v.Outputs[id]; ok && id != "" {
		t.line("     %s %s: %s", report.Line(id, 40), what, t.paint("2", report.Line(text, 2*t.o.Width)))
	}
}

// Precision shows how many of the pairs of each source are right.
func Precision(list []subsume.Precision, o report.TerminalOptions) []byte {
	t := &page{o: o}
	t.line("")
	t.line("%s", t.paint("1", fmt.Sprintf("  %-10s %6s %6s %8s  precision", "Source", "right", "wrong", "skipped")))
	for _, p := range list {
		share := "–"
		if n := p.Right + p.Wrong; n > 0 {
			share = report.PercentRange(float64(p.Right)/float64(n), p.Interval.Low, p.Interval.High)
		}
		t.line("  %-10s %6d %6d %8d  %s", p.Source, p.Right, p.Wrong, p.Skipped, share)
	}
	t.line("")
	t.line("%s", t.paint("2", "Ranges in brackets are 95 % intervals (Wilson)."))
	return t.Bytes()
}
