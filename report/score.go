package report

import (
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// comparedScore formats the score of a row with its threshold; "" if there was none: the
// score of the assertion set, which is weighted if any weight is not 1, and that of the
// case.
func comparedScore(row *value.Object) string {
	text := ""
	if e := row.Object("evaluation"); e != nil {
		name, score := "", e.At("score")
		if w, ok := e.Get("weighted_score"); ok {
			name, score = "weighted ", w
		}
		text = name + scoreText(score) + " (threshold " + short(num(e, "threshold")) + ")"
	}
	threshold, ok := row.Object("testCase").At("threshold").(float64)
	if !ok {
		return text
	}
	if text != "" {
		text += ", score of the case "
	}
	return text + scoreText(rowScore(row)) + " (threshold " + short(threshold) + ")"
}

// rowScore returns the score of a row; nil if it has none.
func rowScore(row *value.Object) any {
	if row.At("score") == nil && !row.Has("scoreText") || proviso.StatusNamed(row.Text("verdict")) == proviso.Errored {
		return nil
	}
	return score(row)
}

// scoreText formats a score for people. A score that an error left open has a text of its
// own.
func scoreText(v any) string {
	if f, ok := v.(float64); ok {
		return short(f)
	}
	return "unknown"
}

// scoreNote returns the score that missed its threshold, unless the reason contains it. It
// leaves out scores that only repeat the verdict, and those of negated types, which are the
// complement of the compared score.
func scoreNote(c *value.Object, status proviso.Status) string {
	got, threshold := score(c), thresholdOf(c)
	if status != proviso.Fail || threshold == "" || strings.HasPrefix(c.Object("assertion").Text("type"), "not-") || math.IsNaN(got) || got == 0 || got == 1 ||
		strings.Contains(c.Text("reason"), "threshold "+threshold) {
		return ""
	}
	return " (score " + short(got) + ", threshold " + threshold + ")"
}

// thresholdOf returns the threshold of a component's assertion, from the suite or from its
// type; "" if there was none.
func thresholdOf(c *value.Object) string {
	f, ok := c.At("threshold").(float64)
	if !ok {
		return ""
	}
	return short(f)
}

// scoreOfRow formats the score of a row and what it was compared with. An undecided row has
// no score.
func scoreOfRow(row view) string {
	if compared := comparedScore(row.Object); compared != "" {
		return compared
	}
	if row.status == proviso.Errored || row.status == proviso.Skip {
		return "–"
	}
	return shortScore(row.Object)
}

// shortScore formats the score of a row or a component for people.
func shortScore(o *value.Object) string {
	if Unscored(o) {
		return "–"
	}
	return short(score(o))
}
