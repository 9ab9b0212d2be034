package selection_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/solve"
)

// mostCaught tries every set of at most size candidates within tau and a budget. It returns
// the most bad outputs caught, the fewest candidates that catch that many, and the cost of the
// cheapest such set.
func mostCaught(m *matrix.Matrix, tau float64, size int, price map[string]float64, budget float64) (caught, fewest int, cheapest float64) {
	good, _ := m.Count()
	caught = -1
	for mask := range 1 << len(m.Names) {
		n, usd, bad, wrong := 0, 0.0, 0, 0
		for j, name := range m.Names {
			if mask&(1<<j) != 0 {
				n, usd = n+1, usd+price[name]
			}
		}
		for i, e := range m.Examples {
			for j := range m.Names {
				if mask&(1<<j) != 0 && m.Cells[j][i] == matrix.Failed {
					if e.Good {
						wrong++
					} else {
						bad++
					}
					break
				}
			}
		}
		if n > size || usd > budget+1e-9 || float64(wrong) > tau*float64(good)+1e-9 {
			continue
		}
		if bad > caught || bad == caught && (n < fewest || n == fewest && usd < cheapest-1e-9) {
			caught, fewest, cheapest = bad, n, usd
		}
	}
	return caught, fewest, cheapest
}

func TestTradesAreTheBest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 23))
		m, _, _ := randomProblem(r)
		price := map[string]float64{}
		for _, name := range m.Names {
			price[name] = float64(r.IntN(4)) / 1000
		}
		o := selection.Options{Method: "cov", Price: price}
		x := selection.Axes{Sizes: []int{1, 2, 3}, Budgets: []float64{0, 0.002, 0.004}, Taus: []float64{0, 0.5}}
		list, _, _, err := selection.Trades(context.Background(), m, nil, o, x, selection.PricesOf(nil, m.Names, price, nil, nil))
		if err != nil || len(list) != 12 {
			t.Fatalf("seed %d: %d trades, %v", seed, len(list), err)
		}
		for _, got := range list {
			size, budget := len(m.Names), 1.0
			if got.Axis == selection.BySize {
				size = int(got.At)
			} else {
				budget = got.At
			}
			caught, fewest, cheapest := mostCaught(m, got.Tau, size, price, budget)
			if got.Status != solve.Optimal || got.Covered != caught || len(got.Selected) != fewest || got.Running.USD > cheapest+1e-9 {
				t.Fatalf("seed %d, %s %v, tau %v: %v %d caught by %v for %v; want %d by %d for %v",
					seed, got.Axis, got.At, got.Tau, got.Status, got.Covered, got.Selected, got.Running.USD, caught, fewest, cheapest)
			}
		}
	}
}

func TestABudgetNeedsPrices(t *testing.T) {
	t.Parallel()
	budget, judged := 0.002, 0.001
	names := []string{"short", "polite"}
	list := []proviso.Candidate{
		{Name: "short", Assertion: &proviso.Assertion{Type: "sentence-count"}},
		{Name: "polite", Assertion: &proviso.Assertion{Type: "judge", Criteria: []proviso.Criterion{{}}}},
	}
	o := selection.Options{Method: "cov", Budget: &budget}
	err := o.TakePrices(selection.PricesOf(list, names, nil, nil, nil))
	if err == nil || !strings.Contains(err.Error(), "what 1 candidate costs (polite) per output is not known") {
		t.Errorf("%v", err)
	}
	if err := o.TakePrices(selection.PricesOf(list, names, nil, nil, &judged)); err != nil || o.Price["polite"] != judged || o.Price["short"] != 0 {
		t.Errorf("%v, %v", o.Price, err)
	}
	measured := matrix.Costs{"polite": {Asked: 4, USD: 0.002, Outputs: 4, Took: 8}}
	p := selection.PricesOf(list, names, nil, measured, &judged)
	if p.USD["polite"] != 0.0005 {
		t.Errorf("%v, want what was measured", p.USD)
	}
	if r := p.Of(names); r.Asking != 1 || r.USD != 0.0005 || r.Model != 2 || len(r.Untimed) != 1 {
		t.Errorf("%+v", r)
	}
	o.Ban = []string{"polite"}
	if err := o.TakePrices(selection.PricesOf(list, names, nil, nil, nil)); err != nil {
		t.Errorf("what is banned needs no price: %v", err)
	}
}
