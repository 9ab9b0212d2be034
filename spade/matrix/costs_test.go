package matrix_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/spade/matrix"
)

func TestCostsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	costs := matrix.Costs{
		"short":  {Definition: "aa", Outputs: 4, Took: 8 * time.Microsecond},
		"polite": {Definition: "bb", Outputs: 4, Took: 4 * time.Second, Asked: 4, Prompt: 900, Completion: 40, USD: 0.012},
	}
	data, err := costs.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got, mistakes := matrix.ReadCosts("costs.json", data)
	if mistakes.Err() != nil || len(got) != 2 || got["short"] != costs["short"] || got["polite"] != costs["polite"] {
		t.Errorf("%v, %v", got, mistakes)
	}
	if usd, ok := got["polite"].PerOutput(); !ok || usd != 0.003 {
		t.Errorf("%v per output", usd)
	}
	if _, ok := got["short"].PerOutput(); ok {
		t.Error("what asks no model has no measured price")
	}
	if each, ok := got["short"].Time(); !ok || each != 2*time.Microsecond {
		t.Errorf("%v", each)
	}
}

func TestCostsThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "costs.json",
		"[1":                                     "costs.json:1",
		"{}":                                     `a list of costs under "costs" is expected`,
		`{"costs":1}`:                            `a list of costs under "costs" is expected`,
		`{"costs":[1]}`:                          "an object is expected",
		`{"costs":[{"name":"a"},{"name":"a"}]}`:  `the cost of "a" is repeated`,
		`{"costs":[{"name":"a","outputs":1.5}]}`: "outputs is 1.5; a whole number",
		`{"costs":[{"name":"a","seconds":"long"}]}`: `seconds is "long"; a number from 0`,
		`{"costs":[{"name":"a","usd":1e300}]}`:      "usd is 1e+300",
	} {
		if _, mistakes := matrix.ReadCosts("costs.json", []byte(text)); mistakes.Err() == nil || !strings.Contains(mistakes.Error(), want) {
			t.Errorf("%s: %v, want %q", text, mistakes, want)
		}
	}
}

func FuzzReadCosts(f *testing.F) {
	f.Add(`{"costs":[{"name":"a","definition":"b","outputs":4,"seconds":0.5,"asked":4,"prompt_tokens":9,"completion_tokens":2,"usd":0.01}]}`)
	f.Add(`{"costs":[{"name":1,"usd":-1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		costs, mistakes := matrix.ReadCosts("costs.json", []byte(text))
		if (costs == nil) != (mistakes.Err() != nil) {
			t.Fatalf("%v with %v", costs, mistakes)
		}
		data, err := costs.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, mistakes := matrix.ReadCosts("costs.json", data)
		if costs == nil {
			return
		}
		if second, err := again.JSON(); mistakes.Err() != nil || err != nil || len(again) != len(costs) || !bytes.Contains(second, []byte(`"costs"`)) {
			t.Fatalf("%v, %v", mistakes, err)
		}
	})
}
