package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/stats"
)

// sized builds a run of n cases with assertions a and b. Letters in a replace P at the
// start: "FFE" makes the first two cases fail and the third undecided.
func sized(name string, n int, a string) *gate.Run {
	lines := make([]string, n)
	for i := range lines {
		letter := "P"
		if i < len(a) {
			letter = a[i : i+1]
		}
		lines[i] = fmt.Sprintf("%d a=%s b=P", i, letter)
	}
	return runOf(name, lines...)
}

// thirds builds a run of n cases with three assertions, one of which always fails.
func thirds(name string, n int) *gate.Run {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d a=P b=P c=F", i)
	}
	return runOf(name, lines...)
}

func number(v float64) *float64 { return &v }

func rulesOf(d gate.Decision) string {
	var out []string
	for _, r := range d.Reasons {
		name := r.Rule
		if r.Assertion != "" {
			name += ":" + r.Assertion
		}
		out = append(out, name)
	}
	return string(d.Outcome) + " " + strings.Join(out, " ")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	F := func(n int) string { return strings.Repeat("F", n) }
	least := 10
	for _, c := range []struct {
		name       string
		base, head *gate.Run
		rules      *proviso.GateRules
		o          gate.Options
		want       string
	}{
		{"no change passes", sized("b", 120, ""), sized("h", 120, ""), nil, gate.Options{}, "pass margin"},
		{"8 of 120 cases break", sized("b", 120, ""), sized("h", 120, F(8)), nil, gate.Options{}, "fail assertions:a"},
		{"no change of cases that all score 2/3 passes", thirds("b", 88), thirds("h", 88), nil, gate.Options{}, "pass margin"},
		{"no change with one failing case passes", sized("b", 88, "F"), sized("h", 88, "F"), nil, gate.Options{}, "pass margin"},
		{"too few cases of 2/3", thirds("b", 87), thirds("h", 87), nil, gate.Options{}, "inconclusive margin"},
		{"too few broke", sized("b", 120, ""), sized("h", 120, F(3)), &proviso.GateRules{Margin: number(0.05)}, gate.Options{}, "pass margin"},
		{"a pass with a note", sized("b", 400, ""), sized("h", 400, F(7)), nil, gate.Options{}, "pass margin assertions:a margin"},
		{"too few cases", sized("b", 40, ""), sized("h", 40, ""), nil, gate.Options{}, "inconclusive min-cases"},
		{"a broken assertion fails in few cases", sized("b", 40, ""), sized("h", 40, F(8)), nil, gate.Options{}, "fail assertions:a"},
		{"fewer cases are enough if the rules say so", sized("b", 40, ""), sized("h", 40, ""), &proviso.GateRules{MinCases: &least, Margin: number(0.1)}, gate.Options{}, "pass margin"},
		{"no case is lost in the noise", sized("b", 60, ""), sized("h", 60, ""), nil, gate.Options{}, "inconclusive margin"},
		{"many undecided", sized("b", 120, ""), sized("h", 120, strings.Repeat("E", 7)+F(20)), nil, gate.Options{}, "inconclusive left-out"},
		{"must pass comes first", sized("b", 120, ""), sized("h", 120, strings.Repeat("E", 7)+"F"), &proviso.GateRules{MustPass: []string{"a", "b"}}, gate.Options{}, "fail must-pass:a"},
		{"must pass is undecided", sized("b", 120, ""), sized("h", 120, "E"), &proviso.GateRules{MustPass: []string{"a"}}, gate.Options{}, "inconclusive must-pass:a"},
		{"a pass rate that undecided cases may miss", sized("b", 120, F(7)), sized("h", 120, "EE"+F(5)), &proviso.GateRules{Assertions: map[string]proviso.AssertionRule{"a": {Min: number(0.95)}}}, gate.Options{}, "inconclusive assertion-min:a"},
		{"a pass rate that undecided cases cannot miss", sized("b", 120, ""), sized("h", 120, "EE"), &proviso.GateRules{Assertions: map[string]proviso.AssertionRule{"a": {Min: number(0.95)}}}, gate.Options{}, "pass margin"},
		{"all absolute rules that are missed", sized("b", 120, F(8)), sized("h", 120, F(8)), &proviso.GateRules{
			MustPass: []string{"a"}, MinScore: number(0.99), Assertions: map[string]proviso.AssertionRule{"a": {Min: number(0.95)}, "b": {Min: number(1)}},
			Cost: proviso.CostRule{Max: number(0.009)}, Latency: proviso.LatencyRule{P95: number(99)},
		}, gate.Options{}, "fail must-pass:a min-score assertion-min:a cost latency"},
		{"limits that are just met", sized("b", 100, F(5)), sized("h", 100, F(5)), &proviso.GateRules{
			MinScore: number(0.975), Assertions: map[string]proviso.AssertionRule{"a": {Min: number(0.95)}},
			Cost: proviso.CostRule{Max: number(0.01)}, Latency: proviso.LatencyRule{P95: number(100)},
		}, gate.Options{}, "pass margin"},
		{"an assertion has its own margin", sized("b", 400, ""), sized("h", 400, F(7)), &proviso.GateRules{Assertions: map[string]proviso.AssertionRule{"a": {Margin: number(0.01)}}}, gate.Options{}, "fail assertions:a"},
		{"an own margin that is wider", sized("b", 120, ""), sized("h", 120, F(8)), &proviso.GateRules{Margin: number(0.1), Assertions: map[string]proviso.AssertionRule{"a": {Margin: number(0.25)}}}, gate.Options{}, "pass margin assertions:a margin"},
		{"an unfit assertion is left out", sized("b", 120, ""), sized("h", 120, F(9)), &proviso.GateRules{Margin: number(0.1)}, gate.Options{Flakes: []gate.Flake{{Assertion: "a", Unfit: true}}}, "pass margin assertions:a margin"},
	} {
		comparison, err := gate.Compare(c.base, c.head, c.o)
		if err != nil {
			t.Fatal(err)
		}
		d, err := gate.Decide(comparison, c.rules, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := rulesOf(d); got != c.want {
			t.Errorf("%s: %s, want %s\n%+v", c.name, got, c.want, d.Reasons)
		}
		if (d.Needed != nil) && d.Outcome != gate.Inconclusive {
			t.Errorf("%s: more cases are needed after %s", c.name, d.Outcome)
		}
	}
}

func TestDecideOnSpending(t *testing.T) {
	t.Parallel()
	with := func(cost, ms func(i int) float64) *gate.Run {
		r := sized("r", 120, "")
		for i := range r.Rows {
			r.Rows[i].Cost, r.Rows[i].LatencyMS = cost(i), ms(i)
		}
		return r
	}
	flat := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	spread := func(v float64) func(int) float64 {
		return func(i int) float64 { return v * (0.2 + float64(i*37%120)/70) }
	}
	rules := &proviso.GateRules{Cost: proviso.CostRule{Margin: number(0.2)}, Latency: proviso.LatencyRule{Margin: number(0.2)}}
	for _, c := range []struct {
		name       string
		base, head *gate.Run
		want       string
	}{
		{"the same", with(spread(1), spread(100)), with(spread(1), spread(100)), "pass margin"},
		{"less than the margin", with(flat(1), flat(100)), with(flat(1.19), flat(119)), "pass margin"},
		{"more than the margin", with(flat(1), flat(100)), with(flat(1.21), flat(121)), "fail cost latency"},
		{"perhaps more", with(flat(1), spread(100)), with(flat(1), func(i int) float64 { return spread(125)(119 - i) }), "inconclusive latency"},
		{"unknown", with(flat(1), flat(100)), with(flat(0), flat(100)), "inconclusive cost"},
	} {
		d, err := gate.Decide(compare(t, c.base, c.head), rules, gate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rulesOf(d); got != c.want {
			t.Errorf("%s: %s, want %s\n%+v", c.name, got, c.want, d.Reasons)
		}
	}
}

func TestDecideAlone(t *testing.T) {
	t.Parallel()
	min90 := &proviso.GateRules{MinScore: number(0.9)}
	for _, c := range []struct {
		name  string
		run   *gate.Run
		rules *proviso.GateRules
		want  string
	}{
		{"above", sized("r", 20, "F"), min90, "pass min-score"},
		{"below", sized("r", 20, "FFFFF"), min90, "fail min-score"},
		{"undecided", sized("r", 20, "EE"), min90, "inconclusive left-out"},
		{"no rule", sized("r", 20, ""), nil, "inconclusive min-score"},
		{"margins need a baseline", sized("r", 20, ""), &proviso.GateRules{Cost: proviso.CostRule{Margin: number(0.1)}}, "inconclusive min-score"},
		{"no rows", &gate.Run{Name: "r"}, min90, "inconclusive min-score left-out"},
	} {
		d, err := gate.DecideAlone(c.run, c.rules)
		if err != nil {
			t.Fatal(err)
		}
		if got := rulesOf(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestMistakesInRules: all mistakes in the rules are reported at once, with the nearest
// names.
func TestMistakesInRules(t *testing.T) {
	t.Parallel()
	zero := 0
	rules := &proviso.GateRules{
		Margin: number(-1), Alpha: number(0.9), MinCases: &zero, MinScore: number(2), MustPass: []string{"bb"},
		Assertions: map[string]proviso.AssertionRule{"tone": {Min: number(0.5)}},
	}
	_, err := gate.Decide(compare(t, sized("b", 60, ""), sized("h", 60, "")), rules, gate.Options{})
	var mistakes proviso.Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != 6 || mistakes[4].Nearest != "b" {
		t.Errorf("%v", err)
	}
	if _, err := gate.NewPlan(rules, gate.Size{Cases: 10}); !errors.As(err, &mistakes) || len(mistakes) != 4 {
		t.Errorf("%v", err)
	}
}

// TestNeeded: with the needed number of cases, the same result decides.
func TestNeeded(t *testing.T) {
	t.Parallel()
	const n = 60
	c := compare(t, sized("b", n, "FF"), sized("h", n, "PPFF"))
	d, err := gate.Decide(c, nil, gate.Options{})
	if err != nil || d.Outcome != gate.Inconclusive || d.Needed == nil || d.Needed.Cases <= n || d.Needed.Cases > 400 || d.Needed.Repeats != 0 {
		t.Fatalf("%+v %v", d, err)
	}
	times := d.Needed.Cases/n + 1
	letters := strings.Repeat("F", 2*times)
	other := strings.Repeat("P", 2*times) + letters
	d, err = gate.Decide(compare(t, sized("b", n*times, letters), sized("h", n*times, other)), nil, gate.Options{})
	if err != nil || d.Outcome != gate.Pass {
		t.Errorf("%d times the cases: %+v %v", times, d, err)
	}
}

// TestNeededRepeats: repeats are suggested where they would decide: for cases that flip
// without a change.
func TestNeededRepeats(t *testing.T) {
	t.Parallel()
	letters := []string{"PP", "PF", "PP", "FP", "PP", "PP"}
	side := func(shift int) *gate.Run {
		lines := make([]string, 90)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d a=%s", i, letters[(i+shift)%len(letters)])
		}
		return runOf("r", lines...)
	}
	d, err := gate.Decide(compare(t, side(0), side(1)), nil, gate.Options{})
	if err != nil || d.Needed == nil || d.Needed.Repeats <= 2 || d.Needed.Repeats > 40 || d.Needed.Cases <= 90 {
		t.Errorf("%+v %+v %v", d, d.Needed, err)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size gate.Size
		want string // rules with a warning
	}{
		{gate.Size{Cases: 4}, "min-cases assertions"},
		{gate.Size{Cases: 30, Assertions: 20}, "min-cases"},
		{gate.Size{Cases: 60}, "margin"},
		{gate.Size{Cases: 100}, ""},
		{gate.Size{Cases: 100, Rate: number(0.9), Flips: number(0.18)}, "margin"},
		{gate.Size{Cases: 2000, Rate: number(0.9), Flips: number(0.18)}, ""},
		{gate.Size{Cases: 120, Rate: number(1), Flips: number(0)}, ""},
	} {
		p, err := gate.NewPlan(nil, c.size)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range p.Warnings {
			got = append(got, w.Rule)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.size, p.Warnings, c.want)
		}
	}
	// The gate keeps the promises of the plan.
	p, err := gate.NewPlan(nil, gate.Size{Cases: 200})
	if err != nil || p.PassCases != 88 || p.FailCases != 5 {
		t.Fatalf("%+v %v", p, err)
	}
	for n, want := range map[int]gate.Outcome{p.PassCases - 1: gate.Inconclusive, p.PassCases: gate.Pass} {
		if d, err := gate.Decide(compare(t, sized("b", n, ""), sized("h", n, "")), nil, gate.Options{}); err != nil || d.Outcome != want {
			t.Errorf("%d cases: %+v %v, want %s", n, d, err, want)
		}
	}
	one, _ := gate.NewPlan(nil, gate.Size{Cases: 100, Repeats: 1, Rate: number(0.9), Flips: number(0.18)})
	three, _ := gate.NewPlan(nil, gate.Size{Cases: 100, Repeats: 3, Rate: number(0.9), Flips: number(0.18)})
	if one.LikelyCases < 2*three.LikelyCases || one.LikelyCases > 4*three.LikelyCases {
		t.Errorf("%d cases with one repeat, %d with three", one.LikelyCases, three.LikelyCases)
	}
}

func TestFlakiness(t *testing.T) {
	t.Parallel()
	aa := compare(t, sized("b", 100, ""), sized("h", 100, strings.Repeat("F", 3)))
	list := gate.Flakiness(aa)
	got := fmt.Sprintf("%s %.2f %d %t; %s %.2f %d %t", list[0].Assertion, list[0].Rate.Value, list[0].Repeats, list[0].Unfit, list[1].Assertion, list[1].Rate.Value, list[1].Repeats, list[1].Unfit)
	if got != "a 0.03 3 false; b 0.00 0 false" {
		t.Error(got)
	}
	if f := gate.Flakiness(compare(t, sized("b", 100, ""), sized("h", 100, strings.Repeat("F", 21))))[0]; !f.Unfit || f.Rate.Low > 0.21 || f.Rate.High < 0.21 {
		t.Errorf("%+v", f)
	}
}

func TestCompareColumns(t *testing.T) {
	t.Parallel()
	r := &gate.Run{Name: "r", Columns: []gate.Column{{Prompt: "p", Provider: "x"}, {Prompt: "q", Provider: "x"}, {Prompt: "p", Provider: "y"}, {Prompt: "q", Provider: "y"}}}
	for id := range 3 {
		for column := range r.Columns {
			s := proviso.Pass
			if column == 3 && id == 1 {
				s = proviso.Fail
			}
			r.Rows = append(r.Rows, gate.Row{Index: len(r.Rows), Column: column, Case: gate.Case{ID: fmt.Sprint(id), Name: fmt.Sprint(id)}, Status: s, Verdicts: []gate.Verdict{{Assertion: "a", Status: s}}})
		}
	}
	for _, c := range []struct{ by, reference, want string }{
		{"provider", "", "y to x 6 pairs, broke [7] fixed 0"},
		{"provider", "y", "x to y 6 pairs, broke [] fixed 1"},
		{"prompt", "p", "q to p 6 pairs, broke [7] fixed 0"},
	} {
		list, err := gate.CompareColumns(r, c.by, c.reference, gate.Options{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		x := list[0]
		rows := []int{}
		for _, p := range x.Cases.Broke {
			rows = append(rows, p.Head...)
		}
		if got := fmt.Sprintf("%s to %s %d pairs, broke %v fixed %d", x.Head.Name, x.Base.Name, x.Pairs, rows, len(x.Cases.Fixed)); got != c.want {
			t.Errorf("by %s: %s, want %s", c.by, got, c.want)
		}
	}
	for by, want := range map[string]string{"providr": `did you mean "provider"`, "prompt": `no prompt "pp"`} {
		if _, err := gate.CompareColumns(r, by, "pp", gate.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("by %s: %v", by, err)
		}
	}
	if _, err := gate.CompareColumns(sized("r", 3, ""), "provider", "", gate.Options{}); !errors.Is(err, gate.ErrNothing) {
		t.Error(err)
	}
}

// TestDecideCorrected: a measured judge requires more for a pass.
func TestDecideCorrected(t *testing.T) {
	t.Parallel()
	base, head := sized("b", 100, "FFFFFFFFFF"), sized("h", 100, "FFFFFFFFFF")
	for _, r := range []*gate.Run{base, head} {
		for i := range r.Rows {
			r.Rows[i].Verdicts[0].Judge = "j"
		}
	}
	for judge, want := range map[stats.Confusion]gate.Outcome{
		{TP: 200, TN: 100}: gate.Pass, {TP: 140, FN: 60, TN: 70, FP: 30}: gate.Inconclusive, {TP: 100, FN: 100, TN: 50, FP: 50}: gate.Pass,
	} {
		c, err := gate.Compare(base, head, gate.Options{Judges: map[string]stats.Confusion{"a": judge}})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := gate.Decide(c, nil, gate.Options{}); err != nil || d.Outcome != want {
			t.Errorf("%+v: %+v %v, want %s", judge, d, err, want)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, x := range []struct {
		name              string
		cases, assertions int
	}{{"20000x5", 20000, 5}, {"300x20", 300, 20}} {
		base, head := wide(x.cases, x.assertions, 1), wide(x.cases, x.assertions, 2)
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := gate.Compare(base, head, gate.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := gate.Decide(c, nil, gate.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// wide returns a run with many verdicts, a tenth of them failed.
func wide(cases, assertions int, seed uint32) *gate.Run {
	r := &gate.Run{Name: "r", Columns: []gate.Column{{}}}
	for i := range cases {
		id := fmt.Sprint("case ", i)
		row := gate.Row{Index: i, Case: gate.Case{ID: id, Name: id, Vars: id}, Status: proviso.Pass, Cost: 0.01, Tokens: 100 + i%50, LatencyMS: float64(100 + i%977)}
		for a := range assertions {
			s := proviso.Pass
			if seed = seed*1664525 + 1013904223; seed>>16%10 == 0 {
				s, row.Status = proviso.Fail, proviso.Fail
			}
			row.Verdicts = append(row.Verdicts, gate.Verdict{Assertion: fmt.Sprint("assertion ", a), Status: s, Criterion: "4f1c"})
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// TestNamesInMessages: names from a suite may be long or hostile; messages quote and
// shorten them.
func TestNamesInMessages(t *testing.T) {
	t.Parallel()
	long := "is\n::error::\x1b[31m" + strings.Repeat("x", 5000)
	side := func(s proviso.Status, judge string) *gate.Run {
		r := sized("r", 60, "")
		for i := range r.Rows {
			r.Rows[i].Case.Name = long
			r.Rows[i].Verdicts = []gate.Verdict{{Assertion: long, Status: s, Judge: judge + long, Criterion: judge}}
		}
		return r
	}
	c := compare(t, side(proviso.Pass, "a"), side(proviso.Fail, "b"))
	d, err := gate.Decide(c, &proviso.GateRules{MustPass: []string{long}, Assertions: map[string]proviso.AssertionRule{long: {Min: number(0.5)}}}, gate.Options{})
	if err != nil || d.Outcome != gate.Fail {
		t.Fatalf("%+v %v", d, err)
	}
	texts := c.Warnings
	for _, r := range d.Reasons {
		texts = append(texts, r.Message)
	}
	_, err = gate.Decide(c, &proviso.GateRules{MustPass: []string{long + "y"}}, gate.Options{})
	texts = append(texts, err.Error())
	if len(texts) < 5 {
		t.Errorf("only %d messages", len(texts))
	}
	for _, s := range texts {
		if len(s) > 600 || strings.ContainsAny(s, "\n\x1b") {
			t.Errorf("%.200q", s)
		}
	}
}
