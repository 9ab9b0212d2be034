package exported_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/internal/exported"
)

// TestScores: a score labels outputs only if 1 is good and 0 is bad; a score of stars, of a
// measurement or of something wrong labels nothing. The notes list the scores that are used.
func TestScores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		values       []any
		labels, note string
	}{
		{"user-feedback", "API", []any{1, 0, 1}, "1 0 1", `labels from the score "user-feedback": 2 good, 1 bad`},
		{"userFeedback", "API", []any{true, false, true}, "1 0 1", `labels from the score "userFeedback": 2 good, 1 bad`},
		{"user-rating", "API", []any{5, 1, 1}, "- - -", `the score "user-rating" has numbers other than 0 and 1, so it labels nothing`},
		{"user-rating", "API", []any{1, 1, 1}, "- - -", `the score "user-rating" is nowhere 0, and 1 may be the lowest of several steps, so it labels nothing`},
		{"user-rating", "API", []any{1, 0, 1}, "1 0 1", `labels from the score "user-rating": 2 good, 1 bad`},
		{"user_escalated", "API", []any{1, 0, 0}, "- - -", `the score "user_escalated" may be high for what is bad, so it labels nothing`},
		{"quality", "ANNOTATION", []any{0.5, 1, 0}, "- - -", `the score "quality" has numbers other than 0 and 1, so it labels nothing`},
		{"quality", "ANNOTATION", []any{"good", "bad", "other"}, "1 0 -", `labels from the score "quality": 1 good, 1 bad`},
		{"hallucination", "ANNOTATION", []any{1, 0, 0}, "- - -", `the score "hallucination" may be high for what is bad, so it labels nothing`},
		{"user_message_count", "API", []any{1, 1, 0}, "- - -", `the score "user_message_count" may be high for what is bad, so it labels nothing`},
		{"humanity", "API", []any{1, 0, 1}, "- - -", ""},
		{"correctness", "EVAL", []any{1, 0, 1}, "- - -", ""},
	} {
		var lines []string
		for i, v := range c.values {
			line, err := json.Marshal(map[string]any{"id": fmt.Sprint("t", i), "name": "support", "input": "Open?", "output": fmt.Sprint("At ", i), "timestamp": "2026-03-01T10:00:00Z",
				"observations": []any{}, "scores": []any{map[string]any{"name": c.name, "source": c.source, "value": v, "dataType": "NUMERIC"}}})
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		entries := entriesOf("scores.jsonl", []byte(strings.Join(lines, "\n")))
		kind := exported.Of(entries[0].Value)
		list, notes, mistakes := kind.Outputs(entries)
		if err := mistakes.Err(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var labels []string
		for _, o := range list {
			if o.Label == "" {
				o.Label = "-"
			}
			labels = append(labels, o.Label)
		}
		if got := strings.Join(labels, " "); got != c.labels || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s %v: labels %s, notes %q; want %s, %q", c.name, c.values, got, notes, c.labels, c.note)
		}
	}
}
