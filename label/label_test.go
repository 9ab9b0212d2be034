package label_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/value"
)

// verdict returns a component of a row as eval writes it.
func verdict(id, status, more string) string {
	return fmt.Sprintf(`{"status":%q,"score":1,"judge":"m","assertion":{"id":%q,"type":"judge"}%s}`, status, id, more)
}

func row(t *testing.T, index int, caseID string, components ...string) record.Row {
	t.Helper()
	r, err := record.Decode(index, fmt.Appendf(nil, `{"index":%d,"caseId":%q,"verdict":"pass","response":{"output":"x"},"gradingResult":{"componentResults":[%s]}}`,
		index, caseID, strings.Join(components, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOrder: the most informative items come first, with the reason.
func TestOrder(t *testing.T) {
	t.Parallel()
	q := label.NewOrder(label.Options{})
	pass := verdict("a", "pass", "")
	for i, components := range [][]string{
		{verdict("a", "fail", `,"criteria":[{"criterion":"x","status":"pass"},{"criterion":"y","status":"fail"}]`)},
		{verdict("a", "error", `,"criteria":[{"criterion":"x","status":"error","cannot_tell":true}]`)},
		{verdict("a", "pass", `,"criteria":[{"criterion":"x","status":"pass","votes":{"met":3,"unmet":2}}]`)},
		{verdict("a", "pass", `,"threshold":0.95`)},
		{verdict("a", "error", "")},
		{verdict("a", "skip", "")},
		{verdict("b", "pass", ""), verdict("b", "fail", "")}, // the same name twice
		{`{"status":"pass","assertion":{"type":"contains","value":"x"}}`},
		{pass}, {pass}, {pass}, {pass}, {pass},
	} {
		q.Add(row(t, i, fmt.Sprint("case ", i), components...))
	}
	items, err := q.Items()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range items[:6] {
		got = append(got, fmt.Sprintf("%d %s", x.Index, x.Why))
	}
	want := "1 the judge cannot tell; 2 the judge's votes are split, 3 to 2; 0 one of 2 criteria is not met; 3 the score 1 is near the threshold 0.95; 4 the judge did not decide"
	if text := strings.Join(got[:5], "; "); text != want || len(items) != 10 || items[0].Rank != 0 || items[9].Rank != 9 || items[0].Population != 10 || items[0].Stratum != label.Informative {
		t.Errorf("%d items: %s\nwant %s", len(items), text, want)
	}
}

// TestOrderOfRepeats: repeats that disagree come before others, and a rare verdict before
// a common one.
func TestOrderOfRepeats(t *testing.T) {
	t.Parallel()
	q := label.NewOrder(label.Options{Assertions: []string{"a", ""}})
	for i := range 20 {
		status := "pass"
		if i == 3 || i == 12 {
			status = "fail"
		}
		q.Add(row(t, i, fmt.Sprint("case ", max(10, i)), verdict("a", status, ""))) // the first eleven are repeats of one case
	}
	items, err := q.Items()
	if err != nil || len(items) != 40 {
		t.Fatal(len(items), err)
	}
	for i, x := range items[:13] {
		want := "the repeats of the case have different verdicts"
		switch i {
		case 11:
			want = "one of few that fail"
		case 12:
			want = "not labelled yet"
		}
		if x.Why != want {
			t.Errorf("%d: %+v, want %s", i, x, want)
		}
	}
	if _, err := label.NewOrder(label.Options{}).Items(); err == nil || !strings.Contains(err.Error(), "no verdict of a model") {
		t.Errorf("an empty run: %v", err)
	}
	q = label.NewOrder(label.Options{Assertions: []string{"aa"}})
	q.Add(row(t, 0, "case", verdict("a", "pass", "")))
	if _, err := q.Items(); err == nil || !strings.Contains(err.Error(), `"aa"`) {
		t.Errorf("an unknown assertion: %v", err)
	}
}

// TestDraw: the random items come first, are the same for the same seed, and differ for
// another seed.
func TestDraw(t *testing.T) {
	t.Parallel()
	draw := func(seed string, random float64, size int) (first string, items []label.Item) {
		q := label.NewOrder(label.Options{Seed: seed, Size: size})
		q.DrawAtRandom(random)
		for i := range 100 {
			q.Add(row(t, i, fmt.Sprint(i), verdict("a", "pass", ""), verdict("b", "fail", "")))
		}
		items, err := q.Items()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range items {
			if x.Stratum == label.Random {
				first += fmt.Sprint(x.Index, x.Assertion, " ")
			}
		}
		return first, items
	}
	one, items := draw("run", 10, 40)
	again, _ := draw("run", 0.25, 40)
	other, _ := draw("another", 10, 40)
	if one != again || one == other || len(items) != 40 || strings.Count(one, " ") != 10 || items[9].Stratum != label.Random || items[10].Stratum != label.Informative {
		t.Errorf("%s\n%s\n%s", one, again, other)
	}
	seen := map[string]bool{}
	for _, x := range items {
		if key := fmt.Sprint(x.Index, x.Assertion); seen[key] {
			t.Errorf("%s is there twice", key)
		} else {
			seen[key] = true
		}
	}
	if all, items := draw("run", 1000, 0); strings.Count(all, " ") != 200 || len(items) != 200 {
		t.Errorf("%d items", len(items))
	}
}

// TestWeights: labels from a queue estimate the rate of the run without bias, although
// the informative ones fail far more often.
func TestWeights(t *testing.T) {
	t.Parallel()
	const population, drawn, informative, runs = 300, 30, 40, 400
	passes := func(rank int) bool { return rank >= 60 || rank%3 == 0 } // two thirds of the first 60 fail
	truth, sum, plain := 0.0, 0.0, 0.0
	for rank := range population {
		if passes(rank) {
			truth += 1.0 / population
		}
	}
	random := newRandom()
	for range runs {
		var list []*label.Label
		taken := map[int]bool{}
		add := func(rank int, stratum string) {
			taken[rank] = true
			v := label.Fail
			if passes(rank) {
				v = label.Pass
			}
			list = append(list, &label.Label{Subject: label.Subject{Run: "r", Index: rank, Assertion: "a"}, Verdict: v, Queue: "q", Stratum: stratum, Rank: rank, Population: population})
		}
		for len(list) < drawn {
			if rank := random(population); !taken[rank] {
				add(rank, label.Random)
			}
		}
		for rank := 0; len(list) < drawn+informative; rank++ {
			if !taken[rank] {
				add(rank, label.Informative)
			}
		}
		good, all := 0.0, 0.0
		for i, w := range label.Weights(list) {
			all += w
			if list[i].Decides() && list[i].Verdict == label.Pass {
				good += w
				plain += 1.0 / runs / float64(len(list))
			}
		}
		if math.Abs(all-population) > 1e-6 {
			t.Fatalf("the labels stand for %v items", all)
		}
		sum += good / all / runs
	}
	if math.Abs(sum-truth) > 0.01 || math.Abs(plain-truth) < 0.1 {
		t.Errorf("estimated %.3f, without weights %.3f, the truth is %.3f", sum, plain, truth)
	}
}

// newRandom returns a deterministic source of numbers below n.
func newRandom() func(n int) int {
	state := uint64(1)
	return func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var g label.Log
	add := func(id, by string, v label.Verdict) {
		g.Add(&label.Label{ID: id, By: by, Verdict: v, Subject: label.Subject{Run: "r", Assertion: "a"}})
	}
	add("1", "ana", label.Pass)
	add("2", "ben", label.Fail)
	add("3", "ana", label.Fail)
	add("3", "ana", label.Pass) // a known id
	shown := func() (text string) {
		for _, l := range g.InForce() {
			text += l.By + " " + string(l.Verdict) + ", "
		}
		return text
	}
	if got := shown(); got != "ben fail, ana fail, " {
		t.Error(got)
	}
	g.Remove("3")
	g.Remove("none")
	if got := shown(); got != "ana pass, ben fail, " {
		t.Error(got)
	}
	if _, ok, split := label.Majority(g.InForce()); ok || !split {
		t.Error("one against one is a majority")
	}
}

// FuzzLine: a written label is read back unchanged, and no text causes a panic.
func FuzzLine(f *testing.F) {
	f.Add("run", 3, "cites", "note", 1, 4, "ana", "queue", "judge")
	f.Add("", -1, "\x00", "\xff", 0, 0, "", "\x1b", "\u202e")
	f.Fuzz(func(t *testing.T, run string, index int, assertion, note string, from, to int, by, queue, judge string) {
		l := label.Label{ID: "label_1", Subject: label.Subject{Run: run, Index: index, Assertion: assertion}, Verdict: label.Pass, Note: note, Evidence: []label.Span{{Start: from, End: to}},
			By: by, Queue: queue, Judge: judge, Judged: "fail", Stratum: label.Random, Rank: 7, Population: 9, Created: time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)}
		if l.Check() != nil || index > math.MaxInt32 || to > math.MaxInt32 {
			return
		}
		v, err := value.ParseJSON(string(label.AppendLine(nil, &l)))
		if err != nil {
			t.Fatal(err)
		}
		got, removed, err := label.ReadLine(v.(*value.Object))
		if err != nil || removed || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", l) {
			t.Errorf("%+v\n%+v %v", l, got, err)
		}
	})
}
