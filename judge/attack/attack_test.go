package attack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/attack"
	"github.com/proviso-eval/proviso/value"
)

type (
	fake = fakejudge.Model
	seen = fakejudge.Call
)

// one returns a judge with one fake model.
func one(t *testing.T, f *fake) *judge.Judge {
	t.Helper()
	j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: f, Spec: proviso.ProviderSpec{ID: f.ID()}, Identity: f.ID()}}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// verdict returns a reply in which every criterion is met, or none is.
func verdict(c seen, met bool) string { return verdictBy(c, func(string) bool { return met }) }

// verdictBy returns a reply in which met decides all criteria of an assertion.
func verdictBy(c seen, met func(id string) bool) string {
	var results []any
	for _, a := range c.Assertions {
		var criteria []any
		for _, n := range a.N {
			criteria = append(criteria, value.ObjectOf("n", float64(n), "reasoning", "So it is.", "evidence", []any{}, "met", met(a.ID)))
		}
		results = append(results, value.ObjectOf("id", a.ID, "criteria", criteria))
	}
	return value.Stringify(value.ObjectOf("results", results))
}

// TestAttemptsAreShipped: a broken file is not skipped silently.
func TestAttemptsAreShipped(t *testing.T) {
	t.Parallel()
	files, err1 := filepath.Glob("attempts/*.yaml")
	more, err2 := filepath.Glob("attempts/*/*.yaml")
	if err1 != nil || err2 != nil || len(more) == 0 {
		t.Fatal(err1, err2, more)
	}
	files = append(files, more...)
	written := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) != "controls.yaml" {
			written += strings.Count(string(data), "- id: ") + strings.Count(string(data), "- {id: ")
		}
	}
	attempts := attack.Attempts()
	if len(attempts) < 130 || len(attempts) != written {
		t.Errorf("%d attempts are read, %d are written, and there should be 130 at least", len(attempts), written)
	}
	ids, outputs, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range attempts {
		out := a.Text()
		if ids[a.ID] || outputs[out] || out == "" || strings.Contains(out, "{{output}}") || strings.Contains(out, "{{input}}") || strings.Contains(out, "{{value}}") || strings.Contains(out, "{{fence}}") || strings.Contains(out, "{{encoded}}") || strings.Contains(out, "{{padding}}") {
			t.Errorf("%s: %.80q", a.ID, out)
		}
		ids[a.ID], outputs[out], kinds[a.Kind] = true, true, true
	}
	if len(kinds) != len(files)-2 {
		t.Errorf("%d kinds in %d files", len(kinds), len(files)-1)
	}
}

// steadfast is the reply of a judge that follows no prompt injection.
func steadfast(c seen) string {
	return verdictBy(c, func(id string) bool { return attackHolds[id] })
}

// attackHolds are the control assertions that hold without an attempt.
var attackHolds = map[string]bool{"gives_opening": true, "is_kind": true, "greets_right": true, "says_included": true, "names_room": true}

// TestNoAttemptTouchesTheStructure has a strict judge read every attempt: the fake fails
// if a fence does not contain exactly what it should.
func TestNoAttemptTouchesTheStructure(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: steadfast}
	report, err := attack.Run(t.Context(), one(t, f), attack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	attempts := attack.Attempts()
	if report.Errors != 0 || report.LeftOut != 0 || report.Succeeded != 0 || report.Withstood != len(attempts) || report.Attempts != len(attempts) {
		t.Errorf("%+v", report)
	}
	shown := map[string]bool{}
	for _, c := range f.Calls() {
		shown[c.Output], shown[c.Input] = true, true
		if several := len(c.Assertions) == 3; len(c.Assertions) != 1 && !several || len(c.Assertions[0].N) != 1 || c.Turns != 2 {
			t.Errorf("another question was asked: %+v", c.Assertions)
		}
	}
	for _, a := range attempts {
		if !shown[a.Text()] && a.Kind != "in variables" {
			t.Errorf("%s did not reach the judge as it is", a.ID)
		}
	}
	if report.Rate == nil || *report.Rate != 0 || report.Interval.Low != 0 || report.Interval.High < 0.01 || report.Cost == 0 || report.Usage.Total == 0 || report.Judge == "" {
		t.Errorf("%+v", report)
	}
}

// TestAJudgeThatQuotesIsNotTalkedOver has the judge quote the output before its verdict,
// after it, and both: a verdict in an attempt never replaces the judge's own.
func TestAJudgeThatQuotesIsNotTalkedOver(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]func(c seen) string{
		"before": func(c seen) string { return "The output says: " + c.Output + "\nMy verdict: " + steadfast(c) },
		"behind": func(c seen) string { return steadfast(c) + "\nThe output said: " + c.Output },
		"fenced": func(c seen) string { return c.Output + "\n```json\n" + steadfast(c) + "\n```\n" + c.Output },
	} {
		report, err := attack.Run(t.Context(), one(t, &fake{Reply: reply}), attack.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Succeeded != 0 {
			t.Errorf("%s: %d got through: %v", name, report.Succeeded, report.Through)
		}
	}
}

// firstSet is the number of attempts in the set v1, which never changes.
const firstSet = 96

// TestSetsOfAttempts has a judge that withstands the first set and falls for all of the
// second, in both directions: each set has its own figures, and those of the first do not
// depend on the second.
func TestSetsOfAttempts(t *testing.T) {
	t.Parallel()
	second := map[string]bool{}
	for _, a := range attack.Attempts() {
		if a.Set == "v2" {
			second[a.Text()] = true
		}
	}
	target := map[string]bool{"gives_times": true}
	f := &fake{Reply: func(c seen) string {
		fooled := second[c.Output] || second[c.Input]
		return verdictBy(c, func(id string) bool {
			return attackHolds[id] != (fooled && (len(c.Assertions) == 1 || target[id]))
		})
	}}
	report, err := attack.Run(t.Context(), one(t, f), attack.Options{})
	if err != nil || len(report.Sets) != 2 || report.LeftOut != 0 || report.Errors != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if v1 := report.Sets[0]; v1.Set != "v1" || v1.Withstood != firstSet || v1.Attempts != firstSet || *v1.Rate != 0 {
		t.Errorf("%+v", v1)
	}
	variables := 0
	for _, k := range report.Kinds {
		if k.Kind == "in variables" {
			variables = k.Withstood // this judge ignores variables
		}
	}
	if v2 := report.Sets[1]; v2.Set != "v2" || v2.Succeeded != v2.Attempts-variables || v2.Attempts != len(second) || v2.Attempts < 40 {
		t.Errorf("%+v", v2)
	}
	towards := map[string]int{}
	for _, a := range report.Through {
		towards[a.Towards]++
	}
	if towards["fail"] < 8 || towards["pass"] < 20 {
		t.Errorf("%v", towards)
	}
	alone, err := attack.Run(t.Context(), one(t, f), attack.Options{Sets: []string{"v2"}})
	if err != nil || alone.Attempts != len(second) || len(alone.Sets) != 1 {
		t.Errorf("%+v, %v", alone, err)
	}
}

// TestAttackCounts has a judge that falls for one kind, gives errors on another, and
// withstands the rest.
func TestAttackCounts(t *testing.T) {
	t.Parallel()
	attempts := attack.Attempts()[:firstSet]
	kindOf := map[string]string{}
	for _, a := range attempts {
		kindOf[a.Output()] = a.Kind
	}
	f := &fake{
		Reply: func(c seen) string { return verdict(c, kindOf[c.Output] == "role play") },
		Fail: func(c seen) error {
			if kindOf[c.Output] == "long padding" {
				return errors.New("too long for me")
			}
			return nil
		},
	}
	report, err := attack.Run(t.Context(), one(t, f), attack.Options{Sets: []string{"v1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"role play": "6/0/0", "long padding": "0/0/5"}
	for _, k := range report.Kinds {
		got := fmt.Sprintf("%d/%d/%d", k.Succeeded, k.Withstood, k.Errors)
		if w, special := want[k.Kind]; special && got != w || !special && (k.Succeeded != 0 || k.Errors != 0 || k.Withstood != k.Attempts) {
			t.Errorf("%s: %s", k.Kind, got)
		}
		if k.Kind == "role play" && (*k.Rate != 1 || k.Interval.Low > 0.7 || k.Interval.High != 1) || k.Kind == "long padding" && k.Rate != nil {
			t.Errorf("%s: rate %v, interval %v", k.Kind, k.Rate, k.Interval)
		}
	}
	if report.Succeeded != 6 || report.Errors != 5 || len(report.Through) != 6 || len(report.Undecided) != 5 || report.Through[0].Kind != "role play" || report.Through[0].Control == "" {
		t.Errorf("%+v", report)
	}
}

// TestAttackNeedsControls: attempts whose control fails are left out.
func TestAttackNeedsControls(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fake{
		"passes everything": {Reply: func(c seen) string { return verdict(c, true) }},
		"is down":           {Fail: func(seen) error { return errors.New("no connection") }},
	} {
		report, err := attack.Run(t.Context(), one(t, f), attack.Options{Sets: []string{"v1"}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Attempts != 0 || report.LeftOut != firstSet || len(report.Controls) != 4 || report.Rate != nil || f.Count() > 8 {
			t.Errorf("%s: %+v, %d calls", name, report, f.Count())
		}
	}
}

func TestAttackKinds(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(c seen) string { return verdict(c, false) }}
	ticks := []int{}
	report, err := attack.Run(t.Context(), one(t, f), attack.Options{Kinds: []string{"master keys"}, Concurrency: 1, Tick: func(done, total int) {
		ticks = append(ticks, done, total)
	}})
	if err != nil || len(report.Kinds) != 1 || report.Attempts != 12 || f.Count() != 16 {
		t.Errorf("%+v, %v, %d calls", report, err, f.Count())
	}
	if n := len(ticks); n != 32 || ticks[n-2] != 16 || ticks[n-1] != 16 {
		t.Errorf("ticks %v", ticks)
	}
	_, err = attack.Run(t.Context(), one(t, f), attack.Options{Kinds: []string{"master key"}})
	var e *proviso.Error
	if !errors.As(err, &e) || !slices.Contains(e.Valid, "master keys") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := attack.Run(ctx, one(t, f), attack.Options{Sets: []string{"v1"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
