package regex_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/regex"
)

func asError(err error, to **proviso.Error) bool { return errors.As(err, to) }

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, flags, text string
		want                 bool
	}{
		{"bar", "", "foo bar", true},
		{"^bar$", "", "foo\nbar", false},
		{"a$", "", "a\n", false},
		{`\d`, "", "١", false},
		{`a\sb`, "", "a\u00a0b", true},
		{`.`, "", "\u2028", false},
		{`^.$`, "", "😀", false}, // two code units
		{`^.$`, "u", "😀", true},
		{`^..$`, "", "😀", true},
		{`^.{2}$`, "", "é", false},
		{"[\xed\xa0\xbc-\xed\xa0\xbe]", "", "🎉", true},
		{"🎉", "", "a🎉", true},
		{"^[🎉]$", "", "🎉", false},
		{`\ud83c\udf89`, "", "🎉", true},
		{`\ude00`, "", "😀", true},
		{`\ude00`, "u", "😀", false},
		{`\ud83d`, "u", "\xed\xa0\xbd", true}, // a lone surrogate
		{`^.$`, "", "\xed\xa0\xbd", true},
		{`[]`, "", "a", false},
		{`[^]`, "", "\n", true},
		{`a{`, "", "a{", true},
		{`a{,2}`, "", "a{,2}", true},
		{`\1`, "", "\x01", true},
		{`\1(a)`, "", "aa", true},
		{`\p{L}`, "", "é", false},
		{`\p{L}`, "", "p{L}", true},
		{`\p{L}`, "u", "é", true},
		{`^\p{Emoji_Presentation}$`, "u", "😀", true}, // known only to QuickJS
		{`\u{4}`, "", "uuuu", true},
		{`[\d-x]`, "", "-", true},
		{`^[\d-x-z]$`, "", "y", false},
		{`[a-\w]`, "", "-", true},
		{`[[:alpha:]]`, "", "a", false},
		{`[[:alpha:]]`, "", "a]", true},
		{`\Ab\z`, "", "Abz", true},
		{"k", "i", "K", true},
		{"k", "i", "\u212a", false}, // the Kelvin sign: no folding without u
		{"k", "iu", "\u212a", true},
		{"s", "i", "ſ", false},
		{"ß", "i", "ẞ", false},
		{"É", "i", "é", true},
		{"[^a]", "i", "A", false},
		{`\w`, "i", "ſ", false},
		{"a.c", "s", "a\nc", true},
		{"^b", "m", "a\nb", true},
		{"^b", "m", "a\u2028b", true},
		{"foo(?=bar)", "", "foobar", true},
		{`(?<!\$)\b\d+`, "", "€100", true},
		{`(a)\1`, "", "aa", true},
		{"a{0,100000}", "", "a", true},
		{"^(?:a{100}){100}$", "", strings.Repeat("a", 10000), true},
		{"^(a+)+$", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false}, // linear time
		{"a\x00b", "", "a\x00b", true},
		{"(?=a)a\x00b", "", "a\x00b", true},
		{"\uFFFD", "", "a\xff", true}, // a byte that is not UTF-8 reads as U+FFFD
		{"(?=\uFFFD)", "", "a\xff", true},
	}
	engine := regex.New(regex.Options{})
	for _, tt := range tests {
		re, err := engine.Compile(tt.pattern, tt.flags)
		if err != nil {
			t.Errorf("/%s/%s: %v", tt.pattern, tt.flags, err)
			continue
		}
		got, err := re.Match(t.Context(), tt.text)
		if err != nil || got != tt.want {
			t.Errorf("/%s/%s on %.40q: %v, %v; want %v", tt.pattern, tt.flags, tt.text, got, err, tt.want)
		}
	}
}

// TestSyntax has patterns that V8 (Node 20) refuses, with its error messages.
func TestSyntax(t *testing.T) {
	t.Parallel()
	tests := []struct{ pattern, flags, want string }{
		{"a++", "", "Nothing to repeat"},
		{"[a", "", "Unterminated character class"},
		{"(?i)a", "", "Invalid group"},
		{"(?i:a)", "", "Invalid group"},
		{"(?P<n>a)", "", "Invalid group"},
		{"(?>a)", "", "Invalid group"},
		{"(a)?(?(1)b|c)", "", "Invalid group"},
		{"a{2,1}", "", "numbers out of order in {} quantifier"},
		{"(?<a>x)|(?<a>y)", "", "Duplicate capture group name"},
		{"(?<1>x)", "", "Invalid capture group name"},
		{`\k<b>(?<a>x)`, "", "Invalid named capture referenced"},
		{`\k(?<a>x)`, "", "Invalid named reference"},
		{`[\k](?<a>x)`, "", "Invalid escape"},
		{"[b-a]", "", "Range out of order in character class"},
		{"[😀-😁]", "", "Range out of order in character class"},
		{"(?<=a)*", "", "Invalid quantifier"},
		{"^*", "", "Nothing to repeat"},
		{"{1}", "", "Nothing to repeat"},
		{`\`, "", `\ at end of pattern`},
		{"(a", "", "Unterminated group"},
		{"a)", "", "Unmatched ')'"},
		{strings.Repeat("(", 2000), "", "Regular expression too large"},
		{"{", "u", "Lone quantifier brackets"},
		{"a{1", "u", "Incomplete quantifier"},
		{`\-`, "u", "Invalid escape"},
		{`\1`, "u", "Invalid escape"},
		{`\00`, "u", "Invalid decimal escape"},
		{`[\1]`, "u", "Invalid class escape"},
		{`[\d-z]`, "u", "Invalid character class"},
		{`\u{110000}`, "u", "Invalid Unicode escape"},
		{`\p`, "u", "Invalid property name"},
	}
	engine := regex.New(regex.Options{})
	for _, tt := range tests {
		_, err := engine.Compile(tt.pattern, tt.flags)
		var known *proviso.Error
		want := "Invalid regular expression: /" + tt.pattern + "/" + tt.flags + ": " + tt.want
		if !asError(err, &known) || known.Code != proviso.Invalid || known.Message != want {
			t.Errorf("/%s/%s: %v, want %s", tt.pattern, tt.flags, err, want)
		}
	}
	for _, tt := range []struct{ pattern, flags string }{{`\p{Foo}`, "u"}, {"a", "x"}, {"a", "ii"}} {
		if _, err := engine.Compile(tt.pattern, tt.flags); err == nil {
			t.Errorf("/%s/%s is accepted", tt.pattern, tt.flags)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, text string
		want          []string
	}{
		{"<.+?>", "<a><b>", []string{"<a>", "<b>"}},
		{"a", "bbb", nil},
		{"é", "aébé", []string{"é", "é"}},
		{"a*", "baaac", []string{"", "aaa", "", ""}},
		{"(?:|a)+", "aa", []string{"aa", ""}}, // an empty iteration leads nowhere in JavaScript
		{"a(?=b)", "abaab", []string{"a", "a"}},
		{`\ud83d`, "x😀y", []string{"😀"}},
		{"🎉+", "🎉🎉", []string{"🎉", "🎉"}},
		{`\b\w`, "ab cd", []string{"a", "c"}},
	}
	engine := regex.New(regex.Options{})
	for _, tt := range tests {
		re, err := engine.Compile(tt.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := re.FindAllIndex(t.Context(), tt.text, -1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range all {
			got = append(got, tt.text[at[0]:at[1]])
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("/%s/ on %q (-want +got):\n%s", tt.pattern, tt.text, d)
		}
		if one, err := re.FindAllIndex(t.Context(), tt.text, 1); err != nil || !slices.Equal(one, all[:min(1, len(all))]) {
			t.Errorf("/%s/ on %q: %v with a limit of one, %v", tt.pattern, tt.text, one, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	engine := regex.New(regex.Options{Timeout: 100 * time.Millisecond})
	for _, pattern := range []string{`^(a+)+\1$`, `^(?=(a+)+$)`} {
		re, err := engine.Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ok, err := re.Match(t.Context(), strings.Repeat("a", 40)+"b")
		var known *proviso.Error
		if ok || !asError(err, &known) || known.Code != proviso.Timeout {
			t.Errorf("/%s/: %v, %v; want a timeout", pattern, ok, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("/%s/ took %v", pattern, d)
		}
	}
}

// TestLongText checks that many matches in a long text take no more than the timeout
// and the extra time for its length.
func TestLongText(t *testing.T) {
	t.Parallel()
	engine := regex.New(regex.Options{Timeout: 50 * time.Millisecond})
	text := strings.Repeat("x", 2<<20)
	for _, pattern := range []string{"x(?:.*y)?", "[^a](?:.*y)?", "x.*y|x|😀"} {
		re, err := engine.Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := re.Match(t.Context(), text); !ok || err != nil {
			t.Errorf("/%s/: %v, %v", pattern, ok, err)
		}
		start := time.Now()
		_, err = re.FindAllIndex(t.Context(), text, -1)
		var known *proviso.Error
		if !asError(err, &known) || known.Code != proviso.Timeout {
			t.Errorf("/%s/: %v; want a timeout", pattern, err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("/%s/ took %v", pattern, d)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	re, err := regex.New(regex.Options{}).Compile("(.)b.?", "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a😀", 1<<20)
	if ok, err := re.Match(ctx, text); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled match: %v, %v", ok, err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	engine := regex.New(regex.Options{Patterns: 2})
	first, _ := engine.Compile("a", "")
	again, _ := engine.Compile("a", "")
	if first != again {
		t.Error("a compiled pattern is not kept")
	}
	for _, p := range []string{"b", "c", "d"} {
		if _, err := engine.Compile(p, ""); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ = engine.Compile("a", ""); again == first {
		t.Error("the oldest pattern is kept for ever")
	}
}

func BenchmarkMatch(b *testing.B) {
	engine := regex.New(regex.Options{})
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20) + "2024-05-17"
	for _, bb := range []struct{ name, pattern, text string }{
		{"literal", "lazy cat", text},
		{"class", `\d{4}-\d{2}-\d{2}`, text},
		{"dot", `q.+fox.+z`, text},
		{"astral", `q.+fox.+z`, text + "😀"},
		{"lookahead", `\d{4}(?=-05)`, text},
	} {
		re, err := engine.Compile(bb.pattern, "")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := re.Match(b.Context(), bb.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
