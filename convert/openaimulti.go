package convert

import (
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/value"
)

// below returns the places below a part.
func below(g found, at string) func(string) proviso.Place {
	return func(p string) proviso.Place { return g.place(at + p) }
}

// multi makes a set of the graders that a formula combines. A suite has weighted
// means only; for any other formula, each grader becomes an assertion of its own.
func (c *openAISuite) multi(g found) *value.Object {
	inner := g.Object.Object("graders")
	formula, ok := g.At("calculate_output").(string)
	if inner.Len() == 0 || !ok {
		c.note(g.place(""), what(g), "graders is an object with graders and calculate_output is a formula, not "+kind.Shown(g.At("calculate_output")), "")
		return nil
	}
	keys := inner.Keys()
	weights := c.weights(formula, keys)
	set := value.ObjectOf("type", "assert-set")
	var members []any
	sum := 0.0
	for i, key := range keys {
		if inner.Object(key) == nil || inner.Object(key).Text("type") == "multi" {
			c.note(g.place("/graders/"+key), what(g), "a member must be a grader other than multi", "")
			return nil
		}
		c.scored = weights != nil
		a := c.grader(member(g, key))
		c.scored = false
		if a == nil {
			weights = nil
			continue
		}
		if weights != nil {
			a.Set("weight", weights[i])
			sum += weights[i]
		}
		members = append(members, a)
	}
	if len(members) == 0 {
		return nil
	}
	set.Set("assert", members)
	if weights == nil {
		c.note(g.place("/calculate_output"), what(g), "its formula is not converted, because it is not a weighted mean of supported graders; instead, every grader must pass", "write the formula as a python assertion, if it matters")
		return set
	}
	// Texts that are similar, labels and checks score 0 to 1, so the formula reaches sum.
	set.Set("threshold", c.limit(g, 0, sum)/sum)
	return set
}

// weights returns the weights of a formula that is a sum of weighted scores, nil
// for any other formula. It evaluates the formula: the values at 0 and at each
// score of 1 give the weights, and further points must agree with them.
func (c *openAISuite) weights(formula string, keys []string) []float64 {
	const longest = 10_000
	if len(formula) > longest || len(keys) > 100 {
		return nil
	}
	engine := mathjs.New(mathjs.Options{})
	defer func() { _ = engine.Close() }()
	at := func(score func(i int) float64) float64 {
		scope := value.NewObject(len(keys))
		for i, key := range keys {
			scope.Set(key, score(i))
		}
		v, err := engine.Eval(c.ctx, formula, scope)
		f, ok := v.(float64)
		if err != nil || !ok {
			return math.NaN()
		}
		return f
	}
	if at(func(int) float64 { return 0 }) != 0 {
		return nil
	}
	weights := make([]float64, len(keys))
	sum := 0.0
	for k := range keys {
		weights[k] = at(func(i int) float64 {
			if i == k {
				return 1
			}
			return 0
		})
		if !(weights[k] >= 0) {
			return nil
		}
		sum += weights[k]
	}
	for _, seed := range [...]float64{0.37, 0.83, 1} {
		want := 0.0
		score := func(i int) float64 { return math.Mod(seed*float64(i+1), 1.0001) }
		for i, w := range weights {
			want += w * score(i)
		}
		if !(math.Abs(at(score)-want) < 1e-9) {
			return nil
		}
	}
	if !(sum > 0) {
		return nil
	}
	return weights
}
