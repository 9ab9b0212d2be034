package show

import (
	"math"
	"testing"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/stats"
)

// TestNumbers: rounding never overstates a figure, such as 100 % for something that is
// not all.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		report.Percent(1): "100 %", report.Percent(0.999): "> 99 %", report.Percent(0.5): "50 %", report.Percent(0.001): "< 1 %", report.Percent(0): "0 %", report.Percent(math.NaN()): "–",
		signed(0.1234): "+12.3", signed(-0.0004): "0.0", signed(-0.001): "-0.1",
		pValue(0.00001): "< .001", pValue(0.0421): ".042", pValue(1): "1", pValue(math.NaN()): "–",
		milliseconds(0.0213): "0.021 ms", milliseconds(-812.4): "-812 ms", milliseconds(65_432): "65.4 s",
		usd.Text(-0.00031): "-$0.00031", usd.Text(1.5): "$1.5",
		points(stats.Estimate{Value: math.NaN()}):                                                        "–",
		points(stats.Estimate{Value: -0.1, Interval: stats.Interval{Low: math.NaN(), High: math.NaN()}}): "-10.0 pp",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	t.Parallel()
	suite := func(low, value, high float64) gate.Comparison {
		return gate.Comparison{Suite: gate.Effect{Pairs: 9, Difference: stats.Estimate{Value: value, Interval: stats.Interval{Low: low, High: high}}}}
	}
	worse, better, unclear, same := suite(-0.3, -0.2, -0.1), suite(0.1, 0.2, 0.3), suite(-0.1, 0, 0.1), suite(-0.1, 0, 0.1)
	unclear.Assertions = []gate.AssertionEffect{{PAdjusted: 0.04, Effect: worse.Suite}, {PAdjusted: 0.06, Effect: worse.Suite}, {PAdjusted: 0.01, Effect: better.Suite}, {PAdjusted: math.NaN(), Effect: worse.Suite}}
	unclear.Cases.Broke = make([]gate.CasePair, 1)
	for _, c := range []struct {
		c    *gate.Comparison
		d    *gate.Decision
		want string
	}{
		{&worse, nil, "✗ worse"}, {&better, nil, "✓ better"}, {&same, nil, "= no case changed"}, {nil, nil, "? nothing to compare"},
		{&unclear, nil, "? no clear difference in the score, 1 assertion worse, 1 assertion better"}, {&gate.Comparison{}, nil, "? nothing to compare"},
		{&worse, &gate.Decision{Outcome: gate.Pass}, "✓ pass"}, {nil, &gate.Decision{Outcome: gate.Fail}, "✗ fail"}, {&same, &gate.Decision{Outcome: gate.Inconclusive}, "? inconclusive"},
	} {
		if sign, text := headline(c.c, c.d); sign+" "+text != c.want {
			t.Errorf("%s %s, want %s", sign, text, c.want)
		}
	}
}

// TestShownAssertions: assertions of single cases do not displace changed ones from the
// table.
func TestShownAssertions(t *testing.T) {
	t.Parallel()
	c := &gate.Comparison{}
	for range 100 {
		c.Assertions = append(c.Assertions, gate.AssertionEffect{Assertion: "own", Effect: gate.Effect{Pairs: 1}})
	}
	c.Assertions = append(c.Assertions, gate.AssertionEffect{Assertion: "all", Effect: gate.Effect{Pairs: 100}}, gate.AssertionEffect{Assertion: "flipped", Effect: gate.Effect{Pairs: 1}, Fixed: 1})
	if list, more := shown(c, 40); len(list) != 2 || more != 100 || list[0].Assertion != "all" || list[1].Assertion != "flipped" {
		t.Errorf("%d, %d more", len(list), more)
	}
	c.Assertions = c.Assertions[:30]
	if list, more := shown(c, 40); len(list) != 30 || more != 0 {
		t.Errorf("%d, %d more", len(list), more)
	}
}
