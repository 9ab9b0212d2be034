package check

import "testing"

// TestLower compares lower-casing with toLowerCase of Node 20, for texts where
// mapping single characters is not enough.
func TestLower(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"İI":                  "i̇i",
		"ΟΔΟΣ ΣΑΣ Σ":          "οδος σας σ",
		"aΣ😀":                 "aς😀",
		"aΣ.b":                "aσ.b",
		"a\u0387Σ":            "a\u0387ς", // the Greek semicolon is skipped on the way to a letter
		"aΣ\u0387b":           "aσ\u0387b",
		"a\u00adΣ":            "a\u00adς",
		"\xed\xa0\x80Σ":       "\xed\xa0\x80σ", // a lone surrogate
		"A\xed\xb0\x80Ä":      "a\xed\xb0\x80ä",
		"ÄÖÜ GRÖSSE straße ǅ": "äöü grösse straße ǆ",
	} {
		if got := lower(in); got != want {
			t.Errorf("%+q: got %+q, want %+q", in, got, want)
		}
	}
}
