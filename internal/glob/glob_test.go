package glob_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/glob"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b", true}, {"?", "é", true}, {"?", "", false},
		{"openai:*", "openai:gpt", true}, {"openai:*", "azure:gpt", false}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXcYb", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"**a", "ba", true},
		{strings.Repeat("*a", 500), strings.Repeat("a", 5000) + "b", false}, // without exponential backtracking
	} {
		if got := glob.Match(c.pattern, c.text); got != c.want {
			t.Errorf("Match(%.20q, %.20q) = %v", c.pattern, c.text, got)
		}
	}
}
