package update

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Group is bad outputs that the selection does not catch and that share a feature that other
// outputs rarely have. The feature need not be what is wrong with them.
type Group struct {
	// Shared describes the feature: consecutive words, the value of a variable, or a version;
	// "" for the outputs that share none.
	Shared  string
	Members []Missed
	// Others counts the other new outputs, and With those of them that also have the feature.
	With, Others int
}

// Missed is a bad output that the selection does not catch.
type Missed struct {
	ID string
	By Source
	// Caught names unselected candidates that catch it.
	Caught []string
}

// Limits of the search for shared features.
const (
	maxWords    = 2000 // words that are read of an output
	maxInRow    = 3
	maxValue    = 60 // bytes of a variable's value
	leastShared = 2  // outputs in a group
	maxGroups   = 12
	leastRatio  = 3.0 // how many times as frequent the feature is in the group as elsewhere
	mostChance  = 0.05
	shortWord   = 3 // letters of a word that is too short to be a feature
)

// uncaught groups the bad outputs that the selection does not fail.
func (r *Report) uncaught(selected []string) {
	set := r.places(selected)
	all := r.places(r.Grid.Names)
	var missed []int
	for i := range r.Outputs {
		if cell, _ := r.verdict(r.Outputs[i].row, set); r.Outputs[i].Bad() && cell != matrix.Failed {
			missed = append(missed, i)
		}
	}
	features := make([]map[string]bool, len(r.Outputs))
	if len(missed) > 0 {
		for i := range r.Outputs {
			features[i] = featuresOf(&r.Outputs[i].Trial)
		}
	}
	var others []int
	for i := range r.Outputs {
		if !slices.Contains(missed, i) {
			others = append(others, i)
		}
	}
	with := map[string]int{}
	for _, i := range others {
		for f := range features[i] {
			with[f]++
		}
	}
	for len(missed) > 0 {
		best, has := "", 0
		if len(r.Uncaught) < maxGroups {
			best, has = common(features, missed, with, len(others))
		}
		g := Group{Shared: best, With: with[best], Others: len(others)}
		var left []int
		for _, i := range missed {
			if has > 0 && !features[i][best] {
				left = append(left, i)
				continue
			}
			out := &r.Outputs[i]
			_, caught := r.verdict(out.row, all)
			g.Members = append(g.Members, Missed{out.ID, out.By, caught})
		}
		r.Uncaught = append(r.Uncaught, g)
		missed = left
	}
}

// chance returns how likely it is that at least k of n outputs have a feature, if k of n and l
// of m have it and the two groups do not differ (Fisher's one-sided test).
func chance(k, n, l, m int) float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	sum := 0.0
	for i := k; i <= min(n, k+l); i++ {
		sum += math.Exp(choose(n, i) + choose(m, k+l-i) - choose(n+m, k+l))
	}
	return min(1, sum)
}

// common finds the feature that most outputs share and others rarely have, more often than by
// chance. The score is the number of outputs with the feature times the logarithm of how much
// more frequent it is among them. Ties go to the longer text.
func common(features []map[string]bool, among []int, with map[string]int, others int) (best string, has int) {
	count := map[string]int{}
	for _, i := range among {
		for f := range features[i] {
			count[f]++
		}
	}
	score := 0.0
	for f, n := range count {
		if n < leastShared {
			continue
		}
		ratio := (float64(n) + 0.5) / (float64(len(among)) + 1) / ((float64(with[f]) + 0.5) / (float64(others) + 1))
		if ratio < leastRatio || chance(n, len(among), with[f], others) > mostChance {
			continue
		}
		s := float64(n) * math.Log(ratio)
		if c := cmp.Or(cmp.Compare(s, score), cmp.Compare(len(f), len(best)), -cmp.Compare(f, best)); has == 0 || c > 0 {
			best, has, score = f, n, s
		}
	}
	return best, has
}

// featuresOf returns the features that an output may share with others.
func featuresOf(t *trial.Trial) map[string]bool {
	list := map[string]bool{}
	words := strings.FieldsFunc(strings.ToLower(t.Text()), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\'' })
	words = words[:min(len(words), maxWords)]
	for n := 1; n <= maxInRow; n++ {
		for i := 0; i+n <= len(words); i++ {
			if n == 1 && len([]rune(words[i])) <= shortWord {
				continue
			}
			list[`the words "`+strings.Join(words[i:i+n], " ")+`"`] = true
		}
	}
	if strings.TrimSpace(t.Text()) == "" {
		list["an empty output"] = true
	}
	for name, v := range t.Vars.All() {
		if text := value.ToString(v); text != "" && len(text) <= maxValue {
			list[fmt.Sprintf("the variable %s = %q", name, text)] = true
		}
	}
	for what, text := range map[string]string{"version": t.Version, "prompt": t.PromptLabel} {
		if text != "" && len(text) <= maxValue {
			list[fmt.Sprintf("the %s %q", what, text)] = true
		}
	}
	return list
}

// queue lists the outputs to label: first those whose thumb or run disagrees with the
// selection, then those that best separate candidates.
func (r *Report) queue(selected []string, most int) {
	set := r.places(selected)
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if len(r.Queue) == most {
			return
		}
		cell, failing := r.verdict(out.row, set)
		switch {
		case out.By == People || out.By == Nobody:
		case out.Good && cell == matrix.Failed:
			r.Queue = append(r.Queue, label.Queued{ID: out.ID, Why: "a user likes it, and " + failing[0] + " fails it"})
		case !out.Good && cell == matrix.Passed && out.By == Thumb:
			r.Queue = append(r.Queue, label.Queued{ID: out.ID, Why: "a user dislikes it, and nothing selected fails it"})
		case !out.Good && cell == matrix.Passed:
			r.Queue = append(r.Queue, label.Queued{ID: out.ID, Why: "it failed in its run, and nothing selected fails it"})
		}
	}
	var trials []trial.Trial
	for i := range r.Outputs {
		t := r.Outputs[i].Trial
		if t.Label = ""; r.Outputs[i].By == People || slices.ContainsFunc(r.Queue, func(q label.Queued) bool { return q.ID == t.ID }) {
			t.Label = word(r.Outputs[i].Good)
		}
		trials = append(trials, t)
	}
	r.Queue = append(r.Queue, label.Queue(trials, r.Grid, most-len(r.Queue))...)
}
