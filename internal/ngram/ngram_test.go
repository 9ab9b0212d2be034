package ngram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/ngram"
)

func TestTreebank(t *testing.T) {
	t.Parallel()
	// Results of js-rouge 3.2.3 for these texts.
	for text, want := range map[string]string{
		"":                                 "",
		"the cat  sat":                     "the|cat|sat",
		`He said "hi there" loudly`:        "He|said|``|hi|there|''|loudly",
		"He said ''hi there'' loudly":      "He|said|``|hi|there|''|loudly",
		"''x'' y":                          "''|x|''|y",
		"z ''x \"y'' w":                    "z|''|x|``|y|''|w",
		`"a "b" c"`:                        "``|a|''|b|''|c|''",
		`x,"y"`:                            "x|,|``|y|''",
		`zz,"`:                             "zz|,|''",
		`"x (" y`:                          "``|x|(|''|y",
		"end. (ok.) x.y. done.":            "end.|(|ok.|)|x.y.|done|.",
		"U.S.":                             "U.S.",
		"xU.S.":                            "xU.S|.",
		"1.2.":                             "1.2|.",
		"a.) ":                             "a|.|)",
		"b--Z.\t]]":                        "b|--|Z|.|]|]",
		"... .... ..":                      "...|...|.|..",
		"x:y x:1 x:٣ a,b a,1":              "x|:|y|x:1|x:٣|a|,|b|a,1",
		"a::1 a:½":                         "a|:|:1|a|:|½",
		"a;b@c#d":                          "a|;|b|@|c|#|d",
		"it's I'm he'd DON'T shouldn't've": "it|'s|I|'m|he|'d|DO|N'T|shouldn't|'ve",
		"rock 'n' roll":                    "rock|'n|'|roll",
		"cannot CANNOT gimme gonna":        "can|not|CAN|NOT|gim|me|gon|na",
		"wanna. wanna-":                    "wanna.|wanna-",
		"wanna.":                           "wan|na|.",
		"'tis 'twas d'ye more'n-x":         "'t|is|'t|was|d|'ye|more|'n|-x",
		"'twas'tis cannot'tis":             "'t|was|'tis|can|not|'t|is",
		"écannot ²cannot":                  "écannot|²|can|not",
		"a\u0085b\u00a0c":                  "a|b|c",
		"東京は、":                             "東京は、",
	} {
		if got := strings.Join(ngram.Treebank(text), "|"); got != want {
			t.Errorf("Treebank(%q) = %s, want %s", text, got, want)
		}
	}
}

func FuzzTreebank(f *testing.F) {
	for _, s := range []string{"", "a.", `"`, "''", "wanna'tis", "\xff\u0085'", "a \"b''c``"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range ngram.Treebank(text) {
			if w == "" || strings.Contains(w, " ") {
				t.Errorf("Treebank(%q) has the token %q", text, w)
			}
		}
		if words := ngram.Fields(text); len(words) == 0 || len(words) > 1 && slices.Contains(words, "") {
			t.Errorf("Fields(%q) = %q", text, words)
		}
	})
}

func TestMemoryOfTokens(t *testing.T) {
	t.Parallel()
	var memory ngram.Memory
	for _, text := range []string{"the cat", "it's here.", "a b c d", "they cannot gimme", "wannabe canny", "Wanna", " ", ""} {
		fields := ngram.Fields(text)
		got, want := memory.Treebank(text, fields), ngram.Treebank(text)
		memory.Treebank("others write over the memory of their own", nil)
		if !slices.Equal(got, want) {
			t.Errorf("Treebank(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                            {""},
		" \n":                         {""},
		" a  b\u00a0c\u3000d\ufeff":   {"a", "b", "c", "d"},
		"a\u200bb\u0085c":             {"a\u200bb\u0085c"},
		"é\tè\u00e9 \x01\xff x\u2003": {"é", "è\u00e9", "\x01\xff", "x"},
	} {
		if got := ngram.Fields(text); !slices.Equal(got, want) {
			t.Errorf("Fields(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTrimPeriods(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b..", ".", "c.d"}
	if got := ngram.TrimPeriods(words); !slices.Equal(got, []string{"a", "b", "", "c.d"}) || words[1] != "b.." {
		t.Errorf("got %q of %q", got, words)
	}
}

func compare(candidate, reference string) ngram.Overlap {
	return new(ngram.Memory).NewReference(ngram.Fields(reference)).Compare(ngram.Fields(candidate), ngram.MaxOrder)
}

// naive counts sequences as joined texts.
func naive(candidate, reference []string, n int) int {
	count := map[string]int{}
	for i := 0; i+n <= len(reference); i++ {
		count[strings.Join(reference[i:i+n], "\x00")]++
	}
	matches := 0
	for i := 0; i+n <= len(candidate); i++ {
		if key := strings.Join(candidate[i:i+n], "\x00"); count[key] > 0 {
			count[key]--
			matches++
		}
	}
	return matches
}

func TestCompareIsExact(t *testing.T) {
	t.Parallel()
	var memory ngram.Memory
	for range 2000 {
		reference := randomWords(30)
		r := memory.NewReference(reference)
		for range 3 { // the first time, sequences are counted in shared memory
			candidate := randomWords(30)
			o := r.Compare(candidate, ngram.MaxOrder)
			for n := 1; n <= ngram.MaxOrder; n++ {
				if want := naive(candidate, reference, n); o.Matches[n-1] != want {
					t.Fatalf("%q and %q share %d sequences of %d words, want %d", candidate, reference, o.Matches[n-1], n, want)
				}
			}
		}
	}
}

func randomWords(n int) []string {
	words := make([]string, rand.IntN(n))
	for i := range words {
		words[i] = string(rune('a' + rand.IntN(4)))
	}
	return words
}

func TestScores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candidate, reference string
		rouge, bleu, gleu    float64
	}{
		{"the cat is sitting on the mat", "the cat sat on the mat", 10.0 / 13, 0, 9.0 / 22},
		{"a b c d", "a b c d e f", 0.8, math.Exp(-0.5), 10.0 / 18},
		{"a b", "a b", 1, 1, 1},
		{"x", "y", 0, 1e-7, 0},
	} {
		o := compare(c.candidate, c.reference)
		near(t, "ROUGE-1", o.ROUGE1(), c.rouge)
		near(t, "GLEU", o.GLEU(), c.gleu)
		if c.bleu > 0 {
			near(t, "BLEU", ngram.BLEU([]ngram.Overlap{o}), c.bleu)
		}
	}
	// The reference closest in length decides the penalty, the shorter of two.
	several := []ngram.Overlap{compare("a b c", "a b c d e"), compare("a b c", "a")}
	near(t, "BLEU", ngram.BLEU(several), 1)
	if got := ngram.BLEU(nil); got != 0 {
		t.Errorf("BLEU without references is %v", got)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestROUGEL(t *testing.T) {
	t.Parallel()
	for range 300 {
		candidate, reference := randomWords(200), randomWords(200)
		got, err := new(ngram.Memory).NewReference(reference).ROUGEL(candidate)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ROUGE-L", got, ngram.F1(plainLCS(candidate, reference), len(candidate), len(reference)))
	}
}

func plainLCS(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func ExampleReference_Compare() {
	r := new(ngram.Memory).NewReference(ngram.Treebank("the cat sat on the mat"))
	o := r.Compare(ngram.Treebank("the cat"), 1)
	fmt.Printf("%.2f\n", o.ROUGE1())
	// Output: 0.50
}

func BenchmarkRow(b *testing.B) {
	reference, candidate := "", ""
	for i := range 200 {
		w := fmt.Sprintf("word%d ", i*i%91)
		reference += w
		if i%12 == 0 {
			w = "other "
		}
		candidate += w
	}
	var memory ngram.Memory
	b.ReportAllocs()
	for b.Loop() { // as package check does for rouge-n, bleu and gleu
		r := memory.NewReference(ngram.Fields(reference))
		memory.Treebank(reference, r.Words())
		words := ngram.Fields(candidate)
		memory.Treebank(candidate, words)
		o := r.Compare(words, ngram.MaxOrder)
		o.ROUGE1()
		ngram.BLEU([]ngram.Overlap{o})
		o.GLEU()
	}
}

func BenchmarkTreebankProse(b *testing.B) {
	text := strings.Repeat(`"Well," she said, "it's 10:30; I can't wait (really)." `, 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ngram.Treebank(text)
	}
}
