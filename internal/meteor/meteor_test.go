package meteor_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/meteor"
)

func score(t testing.TB, candidate, reference string, p meteor.Params) float64 {
	t.Helper()
	r := meteor.NewReference(strings.Fields(reference))
	got, err := r.Score(context.Background(), meteor.NewCandidate(strings.Fields(candidate)), p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candidate, reference string
		want                 float64
	}{
		{"a", "a", 0.5},
		{"the cat sat on the mat", "the cat sat on the mat", 1 - 0.5/216},
		{"cats dogs running", "cat dog run", 1 - 0.5/27},
		{"the doctor here", "the physician here", 1 - 0.5/27},
		{"the car", "the auto", 1 - 0.5/8},
		{"the car", "the automobile", 0.25}, // no synonym is equal to the stem "automobil"
		{"x", "y", 0},
		{"", "y", 0},
		// Matched from the end: the last "the" of the reference is matched.
		{"the", "the cat the", 0.5 * (1.0 / 3) / (0.9 + 0.1/3)},
	} {
		if got := score(t, c.candidate, c.reference, meteor.DefaultParams); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%q against %q scores %v, want %v", c.candidate, c.reference, got, c.want)
		}
	}
	if got := score(t, "on the mat sat the cat", "the cat sat on the mat", meteor.Params{Beta: 3, Gamma: 0.5}); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("got %v", got)
	}
}

func TestScoreEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := meteor.NewReference([]string{"a"})
	if _, err := r.Score(ctx, meteor.NewCandidate([]string{"b"}), meteor.DefaultParams); err == nil {
		t.Error("no error after the context was cancelled")
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"as": "as", "caresses": "caress", "ponies": "poni", "caress": "caress", "cats": "cat",
		"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "filing": "file",
		"happy": "happi", "sky": "sky", "relational": "relat", "rational": "ration", "digitizer": "digit",
		"vietnamization": "vietnam", "electriciti": "electr", "hopefulness": "hope", "adoption": "adopt",
		"probate": "probat", "rate": "rate", "controll": "control", "roll": "roll", "geology": "geologi",
		"flyover": "flyov", "myopic": "myop", "naïvely": "naïv", "ſs": "ſs", "it's": "it'",
	} {
		if got := meteor.Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzStem(f *testing.F) {
	for _, s := range []string{"running", "\xff\xffing", "yyed", "ss"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if got := meteor.Stem(word); len(got) > len(word)+1 {
			t.Errorf("Stem(%q) = %q", word, got)
		}
	})
}

func BenchmarkScore(b *testing.B) {
	reference := strings.Repeat("the quick brown foxes jumped over many lazy dogs near the river ", 16)
	candidate := strings.ReplaceAll(strings.ReplaceAll(reference, "many", "several"), "jumped", "leaped")
	words := strings.Fields(candidate)
	r := meteor.NewReference(strings.Fields(reference))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Score(b.Context(), meteor.NewCandidate(words), meteor.DefaultParams); err != nil {
			b.Fatal(err)
		}
	}
}
