package judge_test

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
	"github.com/proviso-eval/proviso/judge"
)

// verdict is a reply in which every criterion is met, or none.
func verdict(c seen, met bool) string {
	var results []any
	for _, a := range c.Assertions {
		var criteria []any
		for _, n := range a.N {
			criteria = append(criteria, proviso.ObjectOf("n", float64(n), "reasoning", "So it is.", "evidence", []any{}, "met", met))
		}
		results = append(results, proviso.ObjectOf("id", a.ID, "criteria", criteria))
	}
	return proviso.Stringify(proviso.ObjectOf("results", results))
}

// TestAttemptsAreShipped keeps a broken file from being left out in silence.
func TestAttemptsAreShipped(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("attacks/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
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
	attempts := judge.Attempts()
	if len(attempts) < 60 || len(attempts) != written {
		t.Errorf("%d attempts are read, %d are written, and there should be 60 at least", len(attempts), written)
	}
	ids, outputs, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range attempts {
		out := a.Output()
		if ids[a.ID] || outputs[out] || out == "" || strings.Contains(out, "{{output}}") || strings.Contains(out, "{{fence}}") || strings.Contains(out, "{{encoded}}") || strings.Contains(out, "{{padding}}") {
			t.Errorf("%s: %.80q", a.ID, out)
		}
		ids[a.ID], outputs[out], kinds[a.Kind] = true, true, true
	}
	if len(kinds) != len(files)-1 {
		t.Errorf("%d kinds in %d files", len(kinds), len(files)-1)
	}
}

// TestNoAttemptTouchesTheStructure lets a strict judge read every attempt: the
// fake fails where a fence does not hold exactly what it should.
func TestNoAttemptTouchesTheStructure(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(c seen) string { return verdict(c, false) }}
	report, err := one(t, f).Attack(t.Context(), judge.AttackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	attempts := judge.Attempts()
	if report.Errors != 0 || report.LeftOut != 0 || report.Succeeded != 0 || report.Withstood != len(attempts) || report.Attempts != len(attempts) {
		t.Errorf("%+v", report)
	}
	outputs := map[string]bool{}
	for _, c := range f.asked() {
		outputs[c.Output] = true
		if len(c.Assertions) != 1 || len(c.Assertions[0].N) != 1 || c.Turns != 2 {
			t.Errorf("another question was asked: %+v", c.Assertions)
		}
	}
	for _, a := range attempts {
		if !outputs[a.Output()] {
			t.Errorf("%s did not reach the judge as it is", a.ID)
		}
	}
	if report.Rate == nil || *report.Rate != 0 || report.Interval.Low != 0 || report.Interval.High < 0.01 || report.Cost == 0 || report.Usage.Total == 0 || report.Judge == "" {
		t.Errorf("%+v", report)
	}
}

// TestAJudgeThatQuotesIsNotTalkedOver lets the judge quote the output in front of
// its verdict, behind it, and both: a verdict that an attempt brings along never
// counts in the place of the judge's own.
func TestAJudgeThatQuotesIsNotTalkedOver(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]func(c seen) string{
		"before": func(c seen) string { return "The output says: " + c.Output + "\nMy verdict: " + verdict(c, false) },
		"behind": func(c seen) string { return verdict(c, false) + "\nThe output said: " + c.Output },
		"fenced": func(c seen) string { return c.Output + "\n```json\n" + verdict(c, false) + "\n```\n" + c.Output },
	} {
		report, err := one(t, &fake{reply: reply}).Attack(t.Context(), judge.AttackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Succeeded != 0 {
			t.Errorf("%s: %d got through: %v", name, report.Succeeded, report.Through)
		}
	}
}

// TestAttackCounts has a judge that falls for one kind, fails on another, and
// withstands the rest.
func TestAttackCounts(t *testing.T) {
	t.Parallel()
	attempts := judge.Attempts()
	kindOf := map[string]string{}
	for _, a := range attempts {
		kindOf[a.Output()] = a.Kind
	}
	f := &fake{
		reply: func(c seen) string { return verdict(c, kindOf[c.Output] == "role play") },
		fail: func(c seen) error {
			if kindOf[c.Output] == "long padding" {
				return errors.New("too long for me")
			}
			return nil
		},
	}
	report, err := one(t, f).Attack(t.Context(), judge.AttackOptions{})
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

// TestAttackNeedsControls leaves out what is no test of a judge.
func TestAttackNeedsControls(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fake{
		"passes everything": {reply: func(c seen) string { return verdict(c, true) }},
		"is down":           {fail: func(seen) error { return errors.New("no connection") }},
	} {
		report, err := one(t, f).Attack(t.Context(), judge.AttackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Attempts != 0 || report.LeftOut != len(judge.Attempts()) || len(report.Controls) != 4 || report.Rate != nil || f.count() > 8 {
			t.Errorf("%s: %+v, %d calls", name, report, f.count())
		}
	}
}

func TestAttackKinds(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(c seen) string { return verdict(c, false) }}
	ticks := []int{}
	report, err := one(t, f).Attack(t.Context(), judge.AttackOptions{Kinds: []string{"master keys"}, Concurrency: 1, Tick: func(done, total int) {
		ticks = append(ticks, done, total)
	}})
	if err != nil || len(report.Kinds) != 1 || report.Attempts != 12 || f.count() != 16 {
		t.Errorf("%+v, %v, %d calls", report, err, f.count())
	}
	if n := len(ticks); n != 32 || ticks[n-2] != 16 || ticks[n-1] != 16 {
		t.Errorf("ticks %v", ticks)
	}
	_, err = one(t, f).Attack(t.Context(), judge.AttackOptions{Kinds: []string{"master key"}})
	var e *proviso.Error
	if !errors.As(err, &e) || !slices.Contains(e.Valid, "master keys") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one(t, f).Attack(ctx, judge.AttackOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
