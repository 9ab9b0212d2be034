package judge_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/proviso-eval/proviso/judge"
)

// TestQuotesAsModelsWriteThem finds the passage that a quote refers to, in the words of
// the output.
func TestQuotesAsModelsWriteThem(t *testing.T) {
	t.Parallel()
	const markdown = "# Opening hours\n\n- **Monday** to _Friday_: `9:00` to 17:00\n- See [our page](https://example.com/a) for more.\n\n> We are closed on Sundays.\n\n| day | open |\n|---|---|\n| Saturday | 10:00 |\n"
	for _, c := range []struct{ output, quote, want string }{
		// Normalization form C.
		{"Cafe\u0301 Mu\u0308ller", "Café Müller", "Cafe\u0301 Mu\u0308ller"},
		{"Café Müller", "Cafe\u0301", "Café"},
		{"각 방", "\u1100\u1161\u11a8 방", "각 방"},
		// Case.
		{"WE OPEN AT NINE", "We open at nine", "WE OPEN AT NINE"},
		{"ΟΔΟΣ", "οδος", "ΟΔΟΣ"},
		{"Straße", "STRASSE", "Straße"},
		{"ÄPFEL", "äpfel", "ÄPFEL"},
		// Markdown.
		{markdown, "Monday to Friday: 9:00 to 17:00", "Monday** to _Friday_: `9:00` to 17:00"},
		{markdown, "**Monday** to Friday", "Monday** to _Friday"},
		{markdown, "See our page for more.", "See [our page](https://example.com/a) for more."},
		{markdown, "Opening hours Monday", "Opening hours\n\n- **Monday"},
		{markdown, "> we are closed on SUNDAYS", "We are closed on Sundays"},
		{markdown, "Saturday 10:00", "Saturday | 10:00"},
		{"snake_case and 2 * 3", "snake_case and 2 * 3", "snake_case and 2 * 3"},
		{"See [1] (later) now", "see 1 (later) NOW", "See [1] (later) now"},
		{"It is -5 degrees", "-5 DEGREES", "-5 degrees"},
		{"C# and C++", "c# AND c++", "C# and C++"},
		// Parts around an ellipsis.
		{"We open at nine on Mondays, and at ten on Tuesdays.", "We open at nine … at ten on Tuesdays", "We open at nine|at ten on Tuesdays"},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "We open at nine [...] on Tuesdays.", "We open at nine|on Tuesdays."},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "WE OPEN... AT TEN...", "We open|at ten"},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "at ten on Tuesdays … We open at nine", ""},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "We open at nine … at noon", ""},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "a…n", ""},
		{"We open at nine on Mondays, and at ten on Tuesdays.", "…", ""},
		{"Wait … what?", "Wait … what?", "Wait … what?"},
		{"早上九点开门,下午五点关门。", "早上九点…五点关门", "早上九点|五点关门"},
		// Text that does not occur is not found.
		{markdown, "Monday to Saturday", ""},
		{"", "x", ""},
	} {
		kept, note := judge.Quotes(c.output, c.quote)
		if got := strings.Join(kept, "|"); got != c.want || (note == "") != (c.want != "") {
			t.Errorf("%q: %q, %q; want %q", c.quote, got, note, c.want)
		}
	}
}

// TestQuotesAreQuick: finding quotes in the largest output takes linear time.
func TestQuotesAreQuick(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a ", "](", "e\u0301", "**", "… ", "\u1100\u1161", "[](", "# "} {
		output := strings.Repeat(unit, judge.MaxText/len(unit))
		begin := time.Now()
		judge.Quotes(output, strings.Repeat("a…", 1000), "nowhere", strings.Repeat("](", 5000), unit+unit+"x")
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
	}
}

func FuzzQuotes(f *testing.F) {
	for _, seed := range [][2]string{
		{"**Ça** va — [he](x) said", "Ca\u0327 va"}, {"a…b", "a…b"}, {"Straße\xff", "STRASSE"}, {"](](", "x](y)"}, {"İ\u0130ß", "i"},
	} {
		f.Add(seed[0], seed[1], uint(0), uint(3))
	}
	f.Fuzz(func(t *testing.T, output, quote string, from, size uint) {
		output = strings.ToValidUTF8(output, "\ufffd") // as a session has it
		kept, _ := judge.Quotes(output, quote)         // panics if a quote is not at its position
		for _, k := range kept {
			if !utf8.ValidString(k) || k == "" {
				t.Errorf("kept %q of %q for %q", k, output, quote)
			}
		}
		if len(output) == 0 {
			return
		}
		// Text from the output is found, also in other forms.
		from %= uint(len(output))
		part := strings.ToValidUTF8(output[from:min(uint(len(output)), from+size%200+1)], "")
		if strings.ContainsAny(part, "[]()…") || strings.Contains(part, "...") {
			return
		}
		if kept, note := judge.Quotes(output, part); note != "" || strings.TrimSpace(part) != "" && len(part) > 8 && len(kept) == 0 && strings.Trim(part, " \t\r\n()[].-–—\"'") != "" && !strings.EqualFold(part, "none") && !blank(part) {
			t.Errorf("%q of %q is not found: %q, %q", part, output, kept, note)
		}
		if whole := norm.NFD.String(output); whole != output && norm.NFC.String(whole) == output && len(output) < 1000 && !blank(output) {
			if _, note := judge.Quotes(output, whole); note != "" {
				t.Errorf("%q is not found in other normal form: %q", output, note)
			}
		}
	})
}

// blank reports whether a text has nothing but blanks and punctuation.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > ' ' && !strings.ContainsRune("()[].-–—\"'/", r) })
}
