package monitor

import (
	_ "embed"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

var simulateAll = flag.Bool("simulate", false, "write docs/monitor-simulations.md, in some minutes")

// maxOver is the maximum ratio between the realised and the designed number of
// evaluations to a false alarm, if the in-control rates are known.
const maxOver = 1.5

// holds reports a number of evaluations to a false alarm that deviates from the design by
// more than its standard error explains.
func holds(t *testing.T, what string, mean, se, design float64) {
	t.Helper()
	if mean+3*se < design || mean-3*se > maxOver*design {
		t.Errorf("%s: a false alarm after %.0f ± %.0f evaluations; the design is %.0f", what, mean, se, design)
	}
}

// TestFalseAlarms is the simulation of docs/monitor-simulations.md with few paths.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	if os.Getenv("PROVISO_TEST_SLOW") == "" {
		t.Skip("it takes seconds; make test-slow runs it")
	}
	for _, p := range []float64{.02, .05, .2} {
		w := steady(p, 3000)
		mean, se := w.falseAlarms(300, 1)
		holds(t, fmt.Sprint("rate ", p), mean, se, 3000)
		got, _ := w.delay(200, 2, 3)
		if want := map[float64]float64{.02: 120, .05: 60, .2: 16}[p]; got > 1.35*want {
			t.Errorf("rate %v: 3 times as many failures are seen after %.0f evaluations, not %.0f", p, got, want)
		}
	}
	clusters := clustered(3, .5, true)
	mean, se := clusters.falseAlarms(40, 3)
	holds(t, "conversations", mean, se, 15_000)
	if all, _ := clustered(3, .5, false).falseAlarms(40, 3); all > 3000 {
		t.Errorf("all evaluations of a conversation: %v; this simulation would not notice the mistake", all)
	}
	seasons := seasonal(.6, 500, hourly(.6))
	mean, se = seasons.falseAlarms(40, 4)
	holds(t, "seasons", mean, se, 15_000)
	mix := unequal()
	mean, se = mix.world(true).falseAlarms(40, 5)
	holds(t, "unequal sampling", mean, se, 15_000)
	mix.shifted = [3]float64{.6, .25, .15}
	if shifted := mix.world(true).always(30, 6, 2); shifted < 10_000 {
		t.Errorf("a shift of the mix is an alarm of quality after %v", shifted)
	}
}

//go:embed testdata/simulations.md
var simulationsHead string

// page collects the tables.
type page struct {
	strings.Builder
	t *testing.T
}

func (p *page) table(title string, columns ...string) {
	fmt.Fprintf(p, "\n## %s\n\n| %s |\n|%s\n", title, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func (p *page) row(cells ...any) {
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			fmt.Fprintf(p, "| %s ", number(c))
		default:
			fmt.Fprintf(p, "| %v ", c)
		}
	}
	p.WriteString("|\n")
}

// number formats a number with three digits.
func number(f float64) string {
	switch {
	case f >= 10_000:
		return fmt.Sprintf("%.1fk", f/1000)
	case f >= 100 || f == math.Trunc(f):
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// TestSimulations writes docs/monitor-simulations.md.
func TestSimulations(t *testing.T) {
	if !*simulateAll {
		t.Skip("run make simulate")
	}
	p := &page{t: t}
	p.WriteString(simulationsHead)
	p.independent()
	p.clusters()
	p.seasons()
	p.unequal()
	p.irregular()
	p.baselines()
	p.judges()
	p.places()
	p.ends()
	p.families()
	if err := os.WriteFile("../docs/monitor-simulations.md", []byte(p.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *page) independent() {
	p.table("Independent evaluations", "rate in control", "design", "to a false alarm", "÷ design", "1.5 times", "2 times", "3 times", "5 times")
	seed := uint64(100)
	for _, rate := range []float64{.01, .02, .05, .10, .20} {
		for _, arl := range []float64{3000, 15_000, 60_000, 300_000} {
			seed += 10
			w := steady(rate, arl)
			n := map[float64]int{3000: 4000, 15_000: 2000, 60_000: 1500, 300_000: 1000}[arl]
			mean, se := w.falseAlarms(n, seed)
			holds(p.t, fmt.Sprint(rate, " ", arl), mean, se, arl)
			cells := []any{rate, number(arl), fmt.Sprintf("%s ± %s", number(mean), number(se)), mean / arl}
			for i, times := range []float64{1.5, 2, 3, 5} {
				if times*rate >= 1 {
					cells = append(cells, "")
					continue
				}
				d, p90 := w.delay(600, seed+1+uint64(i), times)
				cells = append(cells, number(d)+" / "+number(p90))
			}
			p.row(cells...)
			p.t.Log(cells...)
		}
	}
}

func (p *page) clusters() {
	p.table("Conversations of several evaluations", "mean size", "correlation", "all enter", "one enters", "÷ design", "2 times: delay")
	seed := uint64(1000)
	for _, size := range []float64{3, 10} {
		for _, icc := range []float64{.05, .2, .5} {
			seed += 10
			one := clustered(size, icc, true)
			all, _ := clustered(size, icc, false).falseAlarms(400, seed)
			mean, se := one.falseAlarms(400, seed+1)
			holds(p.t, fmt.Sprint("clusters ", size, icc), mean, se, 15_000)
			d, _ := one.delay(300, seed+2, 2)
			p.row(size, icc, all, fmt.Sprintf("%s ± %s", number(mean), number(se)), mean/15_000, d)
		}
	}
}

func (p *page) seasons() {
	p.table("Hours of the day", "swing", "evaluations a day", "one rate for all hours", "rates by hour, known", "÷ design", "rates by hour, learned in 14 days", "2 times: delay, learned")
	seed := uint64(2000)
	for _, amplitude := range []float64{.4, .6} {
		for _, perDay := range []float64{100, 500, 2000} {
			seed += 10
			plain, _ := seasonal(amplitude, perDay, known(.05)).falseAlarms(400, seed)
			mean, se := seasonal(amplitude, perDay, hourly(amplitude)).falseAlarms(800, seed+1)
			holds(p.t, fmt.Sprint("season ", amplitude, perDay), mean, se, 15_000)
			w := seasonal(amplitude, perDay, known(.05))
			learned, _ := w.falseAlarmsLearned(300, seed+2, int(max(3000, 14*perDay+1)))
			w.model = learnedFrom(w, seed+3, int(max(3000, 14*perDay+1)))
			d, _ := w.delay(300, seed+4, 2)
			p.row(amplitude, perDay, plain, fmt.Sprintf("%s ± %s", number(mean), number(se)), mean/15_000, learned, d)
		}
	}
}

func (p *page) unequal() {
	p.table("Segments that are sampled unequally", "rates in control", "to a false alarm", "÷ design", "the mix shifts, quality stays", "all ×2", "only the large ×2", "only the small ×3")
	for i, by := range []bool{false, true} {
		seed := uint64(3000 + 10*i)
		m := unequal()
		w := m.world(by)
		mean, se := w.falseAlarms(600, seed)
		if by {
			holds(p.t, "unequal", mean, se, 15_000)
		}
		shift := m
		shift.shifted = [3]float64{.6, .25, .15}
		cells := []any{map[bool]string{false: "one for all", true: "by segment"}[by], fmt.Sprintf("%s ± %s", number(mean), number(se)), mean / 15_000, shift.world(by).always(400, seed+1, 2)}
		for j, times := range [][3]float64{{2, 2, 2}, {2, 1, 1}, {1, 1, 3}} {
			changed := m
			changed.times = times
			d, _ := changed.world(by).delay(300, seed+2+uint64(j), 2)
			cells = append(cells, d)
		}
		p.row(cells...)
	}
}

func (p *page) irregular() {
	p.table("Irregular traffic", "traffic", "days to a false alarm", "÷ design")
	for i, one := range []struct {
		name string
		w    world
	}{
		{"equal distances", irregular(500, func(*rand.Rand, time.Time) float64 { return 1. / 500 })},
		{"random (Poisson)", irregular(500, func(r *rand.Rand, _ time.Time) float64 { return r.ExpFloat64() / 500 })},
		{"bursts of 50 at once", irregular(500, func(r *rand.Rand, _ time.Time) float64 {
			if r.IntN(50) > 0 {
				return 0
			}
			return .1
		})},
		{"nothing at night", irregular(500, func(r *rand.Rand, at time.Time) float64 {
			if at.Hour() >= 16 {
				return float64(24-at.Hour()) / 24
			}
			return 1. / 750
		})},
		{"a tenth at weekends", irregular(500, func(r *rand.Rand, at time.Time) float64 {
			if w := at.Weekday(); w == time.Saturday || w == time.Sunday {
				return r.ExpFloat64() / 68
			}
			return r.ExpFloat64() / 680
		})},
	} {
		got := one.w.daysToFalseAlarm(1000, 4000+uint64(i))
		if got < .93*30 {
			p.t.Errorf("%s: %.1f days to a false alarm", one.name, got)
		}
		p.row(one.name, got, got/30)
	}
}

func (p *page) baselines() {
	p.table("Baselines that are learned", "rate", "evaluations of the baseline", "false alarm within the design", "2 times: median delay")
	seed := uint64(5000)
	for _, rate := range []float64{.02, .05, .10} {
		for _, n := range []int{200, 500, 1000, 3000} {
			seed += 10
			w := steady(rate, 15_000)
			_, within := w.falseAlarmsLearned(600, seed, n)
			delays := paths(200, func(i int) float64 {
				own := w
				own.model = learnedFrom(w, seed+uint64(i)*7919+1, n)
				d, _ := own.delay(1, seed+uint64(i), 2)
				return d
			})
			p.row(rate, n, within, median(delays))
			if within > .3 {
				p.t.Errorf("baseline of %d at %v: %v have a false alarm within the design", n, rate, within)
			}
		}
	}
}

func (p *page) judges() {
	p.table("A judge with errors", "true rate", "observed in control", "to a false alarm", "÷ design", "2 times", "3 times", "5 times")
	for i, rate := range []float64{.02, .05, .10} {
		seed := uint64(6000 + 10*i)
		seen := func(f float64) float64 { return .85*f + .05*(1-f) }
		w := steady(seen(rate), 15_000)
		mean, se := w.falseAlarms(600, seed)
		holds(p.t, fmt.Sprint("judge ", rate), mean, se, 15_000)
		cells := []any{rate, seen(rate), fmt.Sprintf("%s ± %s", number(mean), number(se)), mean / 15_000}
		for j, times := range []float64{2, 3, 5} {
			d, _ := w.delay(300, seed+1+uint64(j), seen(times*rate)/seen(rate))
			cells = append(cells, d)
		}
		p.row(cells...)
	}
}

func (p *page) places() {
	p.table("Where a change is placed", "rate", "change", "intervals that hold it", "median distance of the likeliest place", "median length of the interval")
	for i, rate := range []float64{.02, .05, .10} {
		for j, times := range []float64{2, 3, 5} {
			held, distance, length := steady(rate, 15_000).located(600, uint64(7000+100*i+10*j), times)
			p.row(rate, fmt.Sprint(times, " times"), held, distance, length)
			if held < .88 {
				p.t.Errorf("rate %v, %v times: %v of the intervals hold the change", rate, times, held)
			}
		}
	}
}

func (p *page) ends() {
	p.table("When an alarm ends", "rate", "change", "days from the end of a rise of a week to the end of its alarm", "alarms in 30 days of a rise that stays")
	for i, rate := range []float64{.02, .05, .10} {
		for j, times := range []float64{2, 3, 5} {
			days, alarms := steady(rate, 15_000).closing(60, uint64(8000+100*i+10*j), times)
			p.row(rate, fmt.Sprint(times, " times"), days, alarms)
		}
	}
}

func (p *page) families() {
	p.table("A month of a project", "charts", "evaluations a day, each", "false alarms in 30 days", "months with any")
	for i, charts := range []int{1, 20} {
		for j, perDay := range []float64{100, 500} {
			n := 400
			if charts > 1 {
				n = 150
			}
			sum, some := 0.0, 0.0
			for _, k := range paths(n, func(x int) int { return month(charts, perDay, uint64(9000+1000*i+100*j)+uint64(x)<<20) }) {
				sum += float64(k) / float64(n)
				if k > 0 {
					some += 1 / float64(n)
				}
			}
			p.row(charts, perDay, sum, some)
			if sum > 1 {
				p.t.Errorf("%d charts: %v false alarms in 30 days", charts, sum)
			}
		}
	}
}

func median(list []float64) float64 {
	sorted := append([]float64(nil), list...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[len(sorted)/2]
}
