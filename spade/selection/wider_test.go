package selection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/selection"
)

// TestWiderCoversTheTruth: over many samples of labels, the interval contains the true rate
// about as often as its confidence says.
func TestWiderCoversTheTruth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(19, 8))
	const samples, outputs = 200, 300
	covered, narrower := 0, 0
	for range samples {
		var b strings.Builder
		b.WriteString("id,label,a\n")
		good, failed := 0, 0
		for i := range outputs {
			isGood := r.Float64() < 0.7
			passes := r.Float64() < map[bool]float64{true: 0.9, false: 0.25}[isGood]
			label := ""
			if i < 60 { // a random sample
				label = map[bool]string{true: "good", false: "bad"}[isGood]
			}
			if isGood {
				good++
				if !passes {
					failed++
				}
			}
			fmt.Fprintf(&b, "%d,%s,%d\n", i, label, map[bool]int{true: 1}[passes])
		}
		s, err := selection.Select(context.Background(), read(t, b.String()), nil, selection.Options{Method: "all", Tau: 1})
		if err != nil {
			t.Fatal(err)
		}
		w, ok := s.Wider(0.95)
		if !ok || w.Outputs != outputs || w.Unlabeled != outputs-60 {
			t.Fatalf("%+v, %v", w, ok)
		}
		if truth := float64(failed) / float64(good); w.FFR.Low <= truth && truth <= w.FFR.High {
			covered++
		}
		if w.FFR.Low > 0 || w.FFR.High < 0.5 {
			narrower++
		}
	}
	if covered < samples*90/100 || narrower < samples/2 {
		t.Errorf("%d of %d intervals have the true rate, %d say something", covered, samples, narrower)
	}
}

func TestWiderNeedsUnlabelled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		small:                                                  true, // h has no label
		strings.Replace(small, "h,,", "h,1,", 1):               false,
		"id,label,a\n1,1,1\n2,1,1\n3,,1\n":                     false,
		"id,label,a\n1,1,1\n2,0,0\n3,,\n":                      false, // undecided
		"id,label,a\n1,1,1\n2,0,0\n3,,1\n4,,0\n":               true,
		strings.ReplaceAll(small, "short,polite", "short,x.y"): true,
	} {
		s, err := selection.Select(context.Background(), read(t, text), nil, selection.Options{Method: "all", Tau: 1})
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := s.Wider(0.95); ok != want {
			t.Errorf("%q: %+v, %v", text, w, ok)
		}
	}
}
