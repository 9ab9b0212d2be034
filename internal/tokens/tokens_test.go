package tokens_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/proviso-eval/proviso/internal/tokens"
)

var update = flag.Bool("update", false, "write the vocabularies anew")

// encodings are ours, another implementation whose vocabularies are Go literals,
// and the patterns of tiktoken.
var encodings = []struct {
	name    string
	own     *tokens.Encoding
	other   func() *codec.Codec
	pattern func() *regexp2.Regexp
}{
	{"o200k", tokens.O200k(), codec.NewO200kBase, pattern(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`)},
	{"cl100k", tokens.Cl100k(), codec.NewCl100kBase, pattern(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`)},
}

// pattern compiles a pattern at its first use. In brackets it is interpreted; for
// the bare pattern the other implementation registers generated code.
func pattern(text string) func() *regexp2.Regexp {
	return sync.OnceValue(func() *regexp2.Regexp { return regexp2.MustCompile("(?:"+text+")", regexp2.None) })
}

// TestVocabularies: the embedded tokens are those of the other implementation.
func TestVocabularies(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		var data []byte
		other := e.other()
		for id := uint(0); ; id++ {
			token, err := other.Decode([]uint{id})
			if err != nil {
				break
			}
			data = append(binary.AppendUvarint(data, uint64(len(token))), token...)
		}
		if *update {
			var b bytes.Buffer
			z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
			_, _ = z.Write(data)
			_ = z.Close()
			if err := os.WriteFile(e.name+".gz", b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Open(e.name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := got.ReadFrom(z); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%s.gz is not what its source gives: run go test ./internal/tokens -update (%v)", e.name, err)
		}
	}
}

// samePieces compares the pieces of a text with the matches of the pattern.
func samePieces(t testing.TB, text string) {
	t.Helper()
	for _, e := range encodings {
		var want []string
		m, err := e.pattern().FindStringMatch(text)
		for m != nil && err == nil {
			want = append(want, m.String())
			m, err = e.pattern().FindNextMatch(m)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := e.own.Pieces(text); !slices.Equal(got, want) {
			t.Errorf("%s: the pieces of %q are %q, want %q", e.name, text, got, want)
		}
	}
}

// TestEveryCharacter: each character is in the same class as in the patterns:
// before, between and after letters, capitals, digits, marks, white space and
// punctuation.
func TestEveryCharacter(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for r := range unicode.MaxRune + 1 {
		if r >= 0x3400 && r%53 != 0 || r >= 0xd800 && r < 0xe000 {
			continue // many of one class, and halves of pairs
		}
		c := string(r)
		b.WriteString("a" + c + "B " + c + c + "1'" + c + "\u0301" + c + "\n")
		if b.Len() > 1024 {
			samePieces(t, b.String())
			b.Reset()
		}
	}
	samePieces(t, b.String())
}

// parts are texts that the patterns treat specially.
var parts = []string{
	"a", "B", "word", "Word's", "it'S", "'ll", "'LL", "'re", "'", "1", "12345", "Ⅷ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "-", "--", "/", "!", "日本", "é", "e\u0301", "\u0301",
	"😀", "\u200d", "ǅ", "ʰ", ".", ",", "\"", "_", "{", "}", "//\n", " \n ", "\u2028", "ſ", "K", "<|endoftext|>", "ABCdef", "XMLHttp",
}

func TestPieces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		samePieces(t, b.String())
	}
}

// TestCounts compares the numbers of tokens with those of the other implementation,
// which splits white space around line ends differently from tiktoken's patterns.
func TestCounts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", strings.Repeat("-", 3000), strings.Repeat("ab", 1500), strings.Repeat("\u0301", 500), "\xff\xfea\xff"}
	for range 1000 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			if part := parts[r.IntN(len(parts))]; strings.TrimSpace(part) != "" && !strings.Contains(part, "\n") {
				b.WriteString(part + []string{"", "", " "}[r.IntN(3)])
			}
		}
		texts = append(texts, b.String())
	}
	for _, e := range encodings {
		other := e.other()
		for _, text := range texts {
			want, err := other.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.own.Count(text); got != want {
				t.Errorf("%s: %q has %d tokens, want %d", e.name, text, got, want)
			}
		}
		if n := e.own.Count("\n \n"); n != 1 {
			t.Errorf("%s: an empty line with a space has %d tokens", e.name, n)
		}
	}
}

func FuzzCount(f *testing.F) {
	for _, text := range []string{"Hello, it's 12345 o'clock.\n\n  Bye", "ΑΒΓ αβγ’s", "\xff\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 2000 && utf8.ValidString(text) {
			samePieces(t, text)
		}
		if n := tokens.O200k().Count(text); n > len(text)*3 || n == 0 && text != "" {
			t.Errorf("%q has %d tokens", text, n)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("The quick brown fox didn't jump over 12,345 lazy dogs.\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.O200k().Count(text)
	}
}

func BenchmarkOtherCount(b *testing.B) {
	text := strings.Repeat("The quick brown fox didn't jump over 12,345 lazy dogs.\n", 100)
	other := codec.NewO200kBase()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = other.Count(text)
	}
}
