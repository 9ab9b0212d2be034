package check

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/tokens"
)

// TestTokensInChunks: counting in chunks gives the same number as counting at once.
func TestTokensInChunks(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a", "B", "word", "Word's", "it'S", "'ll", "'", "1", "12345", "Ⅷ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "-", "--", "/", "!", "日本", "é", "e\u0301", "\u0301",
		"😀", "\u200d", "ǅ", "ʰ", "\xff", ".", ",", "\"", "_", "{", "}", "//\n", " \n ", "\u2028",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		for name, encoding := range map[string]*tokens.Encoding{"o200k": tokens.O200k(), "cl100k": tokens.Cl100k()} {
			want := encoding.Count(b.String())
			for _, chunk := range []int{1, 3, 10} {
				if got, err := countTokens(t.Context(), encoding, b.String(), chunk); err != nil || got != want {
					t.Fatalf("%s: %q has %d tokens, in chunks of %d bytes %d (%v)", name, b.String(), want, chunk, got, err)
				}
			}
		}
	}
}

// TestTokenLimit: a text without boundaries is not counted beyond the limit.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("-", 1<<20), "a" + strings.Repeat("\n \n", 1<<20)} {
		_, err := countTokens(t.Context(), tokens.O200k(), text, tokenChunk)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit || !strings.Contains(err.Error(), "more than 4 KiB without a word that ends") {
			t.Errorf("%v", err)
		}
	}
	if n, err := countTokens(t.Context(), tokens.O200k(), strings.Repeat("-", maxTokenRun), tokenChunk); err != nil || n == 0 {
		t.Errorf("%d %v", n, err)
	}
}
