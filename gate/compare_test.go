package gate_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/stats"
)

// runOf builds a run with one column from lines "case assertion=PFES …", in which each
// letter is the verdict of a repeat. A row passes if all its verdicts pass.
func runOf(name string, lines ...string) *gate.Run {
	r := &gate.Run{Name: name, Columns: []gate.Column{{Prompt: "p", Provider: "m"}}}
	for _, line := range lines {
		fields := strings.Fields(line)
		id, cluster, _ := strings.Cut(fields[0], "@")
		repeats := 1
		for _, f := range fields[1:] {
			_, letters, _ := strings.Cut(f, "=")
			repeats = len(letters)
		}
		for k := range repeats {
			row := gate.Row{
				Index: len(r.Rows), Status: proviso.Pass, Score: 1, LatencyMS: 100, Cost: 0.01, Tokens: 10,
				Case: gate.Case{ID: id, Vars: "v" + id, Name: id, Cluster: cluster, Repeat: k},
			}
			for _, f := range fields[1:] {
				assertion, letters, _ := strings.Cut(f, "=")
				s := statuses[letters[k]]
				row.Verdicts = append(row.Verdicts, gate.Verdict{Assertion: assertion, Status: s, Criterion: "c" + assertion})
				row.Status = worst(row.Status, s)
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r
}

var statuses = map[byte]proviso.Status{'P': proviso.Pass, 'F': proviso.Fail, 'E': proviso.Errored, 'S': proviso.Skip}

func worst(a, b proviso.Status) proviso.Status {
	switch {
	case a == proviso.Fail || b == proviso.Fail:
		return proviso.Fail
	case a == proviso.Errored || b == proviso.Errored:
		return proviso.Errored
	}
	return proviso.Pass
}

func compare(t testing.TB, base, head *gate.Run) *gate.Comparison {
	t.Helper()
	c, err := gate.Compare(base, head, gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func names(list []gate.CasePair) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

// summary formats a comparison as one line.
func summary(c *gate.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pairs %d left %d suite %+.3f", c.Pairs, c.LeftOut, c.Suite.Difference.Value)
	for _, x := range []struct {
		name string
		list []gate.CasePair
	}{{"broke", c.Cases.Broke}, {"fixed", c.Cases.Fixed}, {"failing", c.Cases.StillFailing}, {"flaky", c.Cases.Flaky}, {"undecided", c.Cases.Undecided}, {"base", c.Cases.OnlyBase}, {"head", c.Cases.OnlyHead}} {
		if len(x.list) > 0 {
			fmt.Fprintf(&b, " | %s %s", x.name, names(x.list))
		}
	}
	fmt.Fprintf(&b, " | same %d", c.Cases.Same)
	for _, a := range c.Assertions {
		fmt.Fprintf(&b, " | %s n%d -%d +%d %+.3f", a.Assertion, a.Pairs, a.Broke, a.Fixed, a.Difference.Value)
		if a.OnlyBase+a.OnlyHead+a.LeftOut > 0 {
			fmt.Fprintf(&b, " (only %d/%d, left %d)", a.OnlyBase, a.OnlyHead, a.LeftOut)
		}
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		base, head []string
		want       string
	}{
		{
			"flips both ways", []string{"1 a=P", "2 a=P", "3 a=F", "4 a=F", "5 a=P"}, []string{"1 a=P", "2 a=F", "3 a=P", "4 a=F", "5 a=F"},
			"pairs 5 left 0 suite -0.200 | broke 2 5 | fixed 3 | failing 4 | same 1 | a n5 -2 +1 -0.200",
		},
		{
			"the order of the rows does not matter", []string{"1 a=P", "2 a=F"}, []string{"2 a=F", "1 a=P"},
			"pairs 2 left 0 suite +0.000 | failing 2 | same 1 | a n2 -0 +0 +0.000",
		},
		{
			"an added assertion enters nothing", []string{"1 a=P", "2 a=P"}, []string{"1 a=P b=F", "2 a=P b=P"},
			"pairs 2 left 0 suite +0.000 | same 2 | a n2 -0 +0 +0.000 | b n0 -0 +0 +NaN (only 0/2, left 0)",
		},
		{
			"cases of one side are listed", []string{"1 a=P", "2 a=F"}, []string{"1 a=P", "3 a=F"},
			"pairs 1 left 0 suite +0.000 | base 2 | head 3 | same 1 | a n1 -0 +0 +0.000 (only 1/1, left 0)",
		},
		{
			"undecided in any repeat is left out", []string{"1 a=PPP b=PPP", "2 a=PPP b=PPP"}, []string{"1 a=PEP b=FFF", "2 a=PPP b=PPP"},
			"pairs 1 left 1 suite +0.000 | undecided 1 | same 1 | b n2 -1 +0 -0.500 | a n1 -0 +0 +0.000 (only 0/0, left 1)",
		},
		{
			"a row without verdicts leaves out every assertion", []string{"1 a=P", "2 a=P"}, []string{"1", "2 a=P"},
			"pairs 1 left 1 suite +0.000 | undecided 1 | same 1 | a n1 -0 +0 +0.000 (only 0/0, left 1)",
		},
		{
			"repeats enter as means", []string{"1 a=PPPP", "2 a=PPFF", "3 a=FFFF", "4 a=PPPP"}, []string{"1 a=FFFP", "2 a=PPFF", "3 a=FFFF", "4 a=PPPF"},
			"pairs 4 left 0 suite -0.250 | broke 1 | failing 3 | flaky 4 2 | same 0 | a n4 -1 +0 -0.250",
		},
		{
			"skipped verdicts are left out", []string{"1 a=P b=S", "2 a=F b=P"}, []string{"1 a=P b=S", "2 a=F b=S"},
			"pairs 2 left 0 suite +0.000 | failing 2 | same 1 | a n2 -0 +0 +0.000 | b n0 -0 +0 +NaN (only 1/0, left 0)",
		},
		{
			"one assertion breaks in a case that fails anyway", []string{"1 a=P b=F", "2 a=F b=F"}, []string{"1 a=F b=F", "2 a=F b=F"},
			"pairs 2 left 0 suite -0.250 | broke 1 | failing 2 | same 0 | a n2 -1 +0 -0.500 | b n2 -0 +0 +0.000",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base, head := runOf("base", c.base...), runOf("head", c.head...)
			for i := range head.Rows {
				if len(head.Rows[i].Verdicts) == 0 {
					head.Rows[i].Status = proviso.Errored
				}
			}
			if got := summary(compare(t, base, head)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCompareNothing: comparing runs that have nothing in common returns an error with
// the reason.
func TestCompareNothing(t *testing.T) {
	t.Parallel()
	good := runOf("base", "1 a=P", "2 a=P")
	other := runOf("head", "8 a=P", "9 a=P")
	errored := runOf("head", "1 a=E", "2 a=E")
	columns := runOf("head", "1 a=P")
	columns.Columns = []gate.Column{{Prompt: "q", Provider: "x"}, {Prompt: "r", Provider: "y"}}
	for _, c := range []struct {
		base, head *gate.Run
		want       string
	}{
		{good, &gate.Run{Name: "head"}, "head has no rows"},
		{good, other, "have no case in common"},
		{good, errored, "every row of head has an error"},
		{errored, good, "every row of head has an error"},
		{good, columns, "no prompt with a provider in common"},
		{good, runOf("head", "1 b=P", "2 b=F"), "none of the 2 cases in both runs has a verdict on the same assertion"},
	} {
		_, err := gate.Compare(c.base, c.head, gate.Options{})
		if !errors.Is(err, gate.ErrNothing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestPairing(t *testing.T) {
	t.Parallel()
	rows := func(cases ...gate.Case) *gate.Run {
		r := runOf("r")
		for i, c := range cases {
			c.Name = fmt.Sprint(i)
			r.Rows = append(r.Rows, gate.Row{Index: i * 10, Case: c, Status: proviso.Pass, Verdicts: []gate.Verdict{{Assertion: "a", Status: proviso.Pass}}})
		}
		return r
	}
	same := gate.Case{Vars: "x"}
	for _, c := range []struct {
		name       string
		base, head *gate.Run
		pairs      int
		only       [2]int
	}{
		{"by id, whatever the variables", rows(gate.Case{ID: "1", Vars: "x"}), rows(gate.Case{ID: "1", Vars: "y"}), 1, [2]int{}},
		{"different ids, equal variables", rows(gate.Case{ID: "1", Vars: "x"}, same), rows(gate.Case{ID: "2", Vars: "x"}, same), 1, [2]int{1, 1}},
		{"by variables and ordinal", rows(same, same, gate.Case{Vars: "y"}), rows(gate.Case{Vars: "y"}, same), 2, [2]int{1, 0}},
		{"an id was added", rows(same), rows(gate.Case{ID: "1", Vars: "x"}), 1, [2]int{}},
		{"an id was removed", rows(gate.Case{ID: "1", Vars: "x"}), rows(same), 1, [2]int{}},
		{"repeats are one case", rows(same, gate.Case{Vars: "x", Repeat: 1}), rows(gate.Case{Vars: "x", Repeat: 1}, same), 1, [2]int{}},
		{"equal cases with repeats", rows(same, gate.Case{Vars: "x", Repeat: 1}, same, gate.Case{Vars: "x", Repeat: 1}), rows(same, same), 2, [2]int{}},
	} {
		got := compare(t, c.base, c.head)
		if only := [2]int{len(got.Cases.OnlyBase), len(got.Cases.OnlyHead)}; got.Pairs != c.pairs || only != c.only {
			t.Errorf("%s: %d pairs, only %v; want %d and %v", c.name, got.Pairs, only, c.pairs, c.only)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	with := func(columns ...gate.Column) *gate.Run {
		r := &gate.Run{Name: "r", Columns: columns}
		for i := range columns {
			for id := range 3 {
				r.Rows = append(r.Rows, gate.Row{Index: len(r.Rows), Column: i, Case: gate.Case{ID: fmt.Sprint(id)}, Status: proviso.Pass, Verdicts: []gate.Verdict{{Assertion: "a", Status: proviso.Pass}}})
			}
		}
		return r
	}
	one, two, three := gate.Column{Prompt: "p", Provider: "m"}, gate.Column{Prompt: "p", Provider: "n"}, gate.Column{Prompt: "q", Provider: "m"}
	for _, c := range []struct {
		name       string
		base, head *gate.Run
		pairs      int
		only       int
	}{
		{"single with single", with(one), with(gate.Column{Prompt: "new", Provider: "other"}), 1, 0},
		{"by labels, in any order", with(one, two), with(two, one), 2, 0},
		{"a single prompt whose text changed", with(one, two), with(gate.Column{Prompt: "new", Provider: "n"}, gate.Column{Prompt: "new", Provider: "m"}), 2, 0},
		{"a column of one side", with(one, three), with(one, three, two), 2, 1},
		{"equal labels pair in order", with(one, one), with(one, one, one), 2, 1},
	} {
		got := compare(t, c.base, c.head)
		if len(got.Columns) != c.pairs || len(got.OnlyBase)+len(got.OnlyHead) != c.only || got.Pairs != 3*c.pairs {
			t.Errorf("%s: %d columns, %d only, %d pairs", c.name, len(got.Columns), len(got.OnlyBase)+len(got.OnlyHead), got.Pairs)
		}
		if got.Suite.Units != 3 {
			t.Errorf("%s: %v units; the same case in two columns is one", c.name, got.Suite.Units)
		}
	}
}

// drawRun draws a run of cases a, b, c … with two assertions and undecided verdicts.
func drawRun(t *rapid.T, name string, cases, repeats int, letters string) *gate.Run {
	verdict := rapid.SampledFrom([]byte(letters))
	lines := make([]string, cases)
	for i := range lines {
		draw := func(what string) string { return string(rapid.SliceOfN(verdict, repeats, repeats).Draw(t, what)) }
		lines[i] = fmt.Sprintf("%d@%s a=%s b=%s", i, rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "cluster"), draw("a"), draw("b"))
	}
	return runOf(name, lines...)
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestCompareLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cases, repeats := rapid.IntRange(1, 25).Draw(t, "cases"), rapid.IntRange(1, 3).Draw(t, "repeats")
		base, head := drawRun(t, "base", cases, repeats, "PPPF"), drawRun(t, "head", cases, repeats, "PPFES")
		for i := range head.Rows { // a case has the same cluster in both runs
			head.Rows[i].Case.Cluster = base.Rows[i].Case.Cluster
		}
		itself, err := gate.Compare(base, base, gate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := itself.Cases; len(got.Broke)+len(got.Fixed)+len(got.Undecided) > 0 || itself.Suite.Difference.Value != 0 {
			t.Fatalf("a run and itself: %+v", got)
		}
		for _, a := range itself.Assertions {
			if a.P != 1 || a.PAdjusted != 1 || a.Broke+a.Fixed > 0 {
				t.Fatalf("a run and itself: %+v", a)
			}
		}
		forth, err := gate.Compare(base, head, gate.Options{})
		back, err2 := gate.Compare(head, base, gate.Options{})
		if errors.Is(err, gate.ErrNothing) && errors.Is(err2, gate.ErrNothing) {
			return
		}
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		mirrored(t, forth, back)
		added := *head
		added.Rows = slices.Clone(head.Rows)
		for i := range added.Rows {
			v := gate.Verdict{Assertion: "new", Status: rapid.SampledFrom([]proviso.Status{proviso.Pass, proviso.Fail, proviso.Skip}).Draw(t, "added")}
			added.Rows[i].Verdicts = append(slices.Clone(head.Rows[i].Verdicts), v)
		}
		more, err := gate.Compare(base, &added, gate.Options{})
		if err != nil || more.Pairs != forth.Pairs || more.LeftOut != forth.LeftOut || more.Suite.Difference != forth.Suite.Difference || names(more.Cases.Broke) != names(forth.Cases.Broke) {
			t.Fatalf("an added assertion changes the suite: %v\n%+v\n%+v", err, forth, more)
		}
		undecidedNeverCount(t, forth, head)
	})
}

// mirrored checks that swapping the sides negates every difference.
func mirrored(t *rapid.T, forth, back *gate.Comparison) {
	effect := func(what string, a, b gate.Effect) {
		if a.Pairs != b.Pairs || a.Pairs > 0 && !(near(a.Difference.Value, -b.Difference.Value) && near(a.Difference.Low, -b.Difference.High) && near(a.Base.Low, b.Head.Low)) {
			t.Fatalf("%s: %+v and %+v do not mirror", what, a, b)
		}
	}
	effect("suite", forth.Suite, back.Suite)
	if names(forth.Cases.Broke) == "" != (names(back.Cases.Fixed) == "") && names(back.Cases.Broke) == "" {
		t.Fatalf("broke %s, fixed %s", names(forth.Cases.Broke), names(back.Cases.Fixed))
	}
	for _, a := range forth.Assertions {
		b := back.Assertions[slices.IndexFunc(back.Assertions, func(b gate.AssertionEffect) bool { return b.Assertion == a.Assertion })]
		effect(a.Assertion, a.Effect, b.Effect)
		if a.Broke != b.Fixed || a.Fixed != b.Broke || a.OnlyBase != b.OnlyHead || !near(a.P, b.P) || a.Pairs > 0 && !near(a.Worse, 1-b.Worse) && a.Worse+b.Worse != 2 {
			t.Fatalf("%+v and %+v do not mirror", a, b)
		}
	}
}

// undecidedNeverCount checks that the figures are those of the cases without undecided
// verdicts.
func undecidedNeverCount(t *rapid.T, c *gate.Comparison, head *gate.Run) {
	undecided := map[string]bool{}
	cases := map[string]bool{}
	for _, row := range head.Rows {
		cases[row.Case.ID] = true
		for _, v := range row.Verdicts {
			undecided[row.Case.ID] = undecided[row.Case.ID] || v.Status == proviso.Errored
		}
	}
	for _, list := range [][]gate.CasePair{c.Cases.Broke, c.Cases.Fixed, c.Cases.Flaky, c.Cases.StillFailing} {
		for _, p := range list {
			if undecided[p.Name] {
				t.Fatalf("case %s is undecided and counts", p.Name)
			}
		}
	}
	n := 0
	for id := range cases {
		if undecided[id] {
			n++
		}
	}
	if c.Pairs+n > len(cases) || c.LeftOut < n {
		t.Fatalf("%d cases, %d undecided, %d pairs, %d left out", len(cases), n, c.Pairs, c.LeftOut)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	base, head := runOf("base", "1 a=P b=P", "2 a=P b=P", "3 a=P b=P"), runOf("head", "1 a=P", "2 a=P", "4 a=P")
	base.Identity, head.Identity = gate.Identity{Judge: "old", Repeats: 1}, gate.Identity{Judge: "new", Repeats: 3}
	head.Rows[0].Verdicts[0].Criterion = "other"
	got := strings.Join(compare(t, base, head).Warnings, "\n")
	want := `The judges differ: "old" and "new". A difference in judged assertions may come from the judge.
Assertion "a" has a different criterion in 1 case: its difference may come from the assertion.
The runs repeat each case differently often: 1 and 3 times.
The cases differ: 1 case only in base and 1 case only in head. They are left out of the figures. Cases match by their ids, else by their variables.
Assertion "b" is only in base: nothing decides on it any more. Keep it in the suite unless it should go.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCorrected: a judge that shows 80 % of a change is corrected, for its assertion and
// for the suite.
func TestCorrected(t *testing.T) {
	t.Parallel()
	var lines [2][]string
	for i := range 100 {
		letter := func(fails bool) string { return map[bool]string{true: "F", false: "P"}[fails] }
		lines[0] = append(lines[0], fmt.Sprintf("%d a=%s", i, letter(i < 20)))
		lines[1] = append(lines[1], fmt.Sprintf("%d a=%s", i, letter(i < 28)))
	}
	base, head := runOf("base", lines[0]...), runOf("head", lines[1]...)
	labels := map[string]stats.Confusion{"a": {TP: 190, FN: 10, TN: 85, FP: 15}}
	for _, judged := range []bool{false, true} {
		for _, r := range []*gate.Run{base, head} {
			for i := range r.Rows {
				if judged {
					r.Rows[i].Verdicts[0].Judge = "j"
				}
			}
		}
		c, err := gate.Compare(base, head, gate.Options{Judges: labels})
		if err != nil {
			t.Fatal(err)
		}
		if !judged {
			if c.SuiteCorrected != nil || c.Assertions[0].Corrected != nil {
				t.Error("an assertion without a judge is corrected")
			}
			continue
		}
		head.Rows[0].Verdicts[0].Judge = "another"
		if c, err := gate.Compare(base, head, gate.Options{Judges: labels}); err != nil || c.SuiteCorrected != nil || c.Assertions[0].Corrected != nil {
			t.Errorf("two judges are corrected by the errors of one: %v", err)
		}
		for what, e := range map[string]*gate.Effect{"assertion": c.Assertions[0].Corrected, "suite": c.SuiteCorrected} {
			if e == nil || !near(e.Difference.Value, -0.1) || !near(e.Base.Value, 0.65/0.8) || e.Difference.Low > c.Suite.Difference.Low {
				t.Errorf("%s: %+v", what, e)
			}
		}
	}
}

// TestScores: rows without verdicts count by their score; a score that is NaN is left
// out.
func TestScores(t *testing.T) {
	t.Parallel()
	side := func(scores ...float64) *gate.Run {
		r := runOf("r")
		for i, s := range scores {
			id := fmt.Sprint(i)
			r.Rows = append(r.Rows, gate.Row{Index: i, Case: gate.Case{ID: id, Name: id}, Status: proviso.Pass, Score: s})
		}
		return r
	}
	c := compare(t, side(0.5, 1, 0.25, 0.5), side(0.25, 7, -3, math.NaN()))
	if got := fmt.Sprintf("%.4f %.4f pairs %d left %d undecided %s", c.Suite.Base.Value, c.Suite.Head.Value, c.Pairs, c.LeftOut, names(c.Cases.Undecided)); got != "0.5833 0.4167 pairs 3 left 1 undecided 3" {
		t.Error(got)
	}
}

// TestDropped: a warning names an assertion that a change removes from cases.
func TestDropped(t *testing.T) {
	t.Parallel()
	base := runOf("base", "a tone=P brief=P", "b tone=P brief=P", "c tone=P brief=P")
	for name, head := range map[string]*gate.Run{
		"removed": runOf("head", "a brief=P", "b brief=P", "c tone=P brief=P"),
		"skipped": runOf("head", "a tone=S brief=P", "b tone=S brief=P", "c tone=P brief=P"),
	} {
		if got := strings.Join(compare(t, base, head).Warnings, "\n"); !strings.Contains(got, `Assertion "tone" has no verdict in 2 cases of head that had one in base`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPairingOfMany: cases with equal variables are not all compared with each other,
// which would take 64 times as long for eight times the cases.
func TestPairingOfMany(t *testing.T) {
	t.Parallel()
	many := func(prefix string, n int) *gate.Run {
		r := &gate.Run{Name: prefix, Columns: []gate.Column{{}}}
		for i := range n {
			r.Rows = append(r.Rows, gate.Row{Index: i, Status: proviso.Pass, Score: 1, Case: gate.Case{ID: fmt.Sprint(prefix, i), Vars: "v"}})
		}
		return r
	}
	took := func(n int) time.Duration {
		base, head := many("base", n), many("head", n)
		started := time.Now()
		if _, err := gate.Compare(base, head, gate.Options{}); !errors.Is(err, gate.ErrNothing) {
			t.Error(err)
		}
		return time.Since(started)
	}
	var few, all time.Duration
	for range 5 { // a busy machine may delay one of the two
		if few, all = took(10_000), took(80_000); all < 32*few {
			return
		}
	}
	t.Errorf("%v for 10,000 cases, %v for 80,000", few, all)
}
