package meteor

import (
	"bytes"
	"compress/gzip"
	"io"
	"sort"
	"strings"
	"testing"
)

func TestSynonyms(t *testing.T) {
	t.Parallel()
	text, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !sort.StringsAreSorted(lines) || len(lines) < 50000 {
		t.Fatalf("%d lines, sorted: %v", len(lines), sort.StringsAreSorted(lines))
	}
	for _, line := range lines {
		lemma, want, _ := strings.Cut(line, "\t")
		if got := synonyms(text, lemma); got != want {
			t.Fatalf("synonyms of %q are %q, want %q", lemma, got, want)
		}
	}
	for _, lemma := range []string{"", "zzzz", "a\tb", "automobil", "\xff"} {
		if got := synonyms(text, lemma); got != "" {
			t.Errorf("synonyms of %q are %q", lemma, got)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	for b.Loop() {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err == nil {
			_, err = io.Copy(io.Discard, z)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
