package segment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/internal/segment"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		cut  func(string) []string
		text string
		want []string
	}{
		{"lines", segment.Lines, "a\r\n\n  \nb", []string{"a", "b"}},
		{"paragraphs", segment.Paragraphs, "a\nb\n\n\nc\n", []string{"a\nb", "c"}},
		{"items", segment.Items, "Intro:\n- one\n  more\n* two\n\n3. three\n(b) four\nEnd.", []string{"one\nmore", "two", "three", "four"}},
		{"no items", segment.Items, "1.5 is a number\n-dash\n2026 was long", nil},
		{"emphasis is no item", segment.Items, "**bold** text", nil},
		{"sentences", segment.Sentences, "Dr. no. Yes! 3.5 is ok? Fine", []string{"Dr. no.", "Yes!", "3.5 is ok?", "Fine"}},
		{"sentences of a list", segment.Sentences, "# Title\nOne. Two.\n- three\n- four", []string{"# Title", "One.", "Two.", "three", "four"}},
		{"titles", segment.Sentences, "Dear Ms. Moreau, thank you. Prof. Li and Dr. Roe of Foo Inc. Boston agree.", []string{"Dear Ms. Moreau, thank you.", "Prof. Li and Dr. Roe of Foo Inc. Boston agree."}},
		{"initials", segment.Sentences, "The U.S. Navy is here. J. Smith lives in the U.S. He is well.", []string{"The U.S. Navy is here.", "J. Smith lives in the U.S.", "He is well."}},
		{"abbreviations", segment.Sentences, "Eat fruit, e.g. Apples, No. 5 of 1.5 kg. Wait 5 min. Then stop. Yes or no. You choose.", []string{"Eat fruit, e.g. Apples, No. 5 of 1.5 kg.", "Wait 5 min.", "Then stop.", "Yes or no.", "You choose."}},
		{"quotations and URLs", segment.Sentences, `She said "Hi!" and left. See https://a.example/?Q=1 now.`, []string{`She said "Hi!" and left.`, "See https://a.example/?Q=1 now."}},
		{"without blanks", segment.Sentences, "好的!我们走吧。谢谢。", []string{"好的!", "我们走吧。", "谢谢。"}},
		{"nothing", segment.Sentences, " \n...\n", nil},
	} {
		if diff := cmp.Diff(tc.want, tc.cut(tc.text)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	const text = "# A\none\n## B\ntwo\n## C\nthree\n# D\nfour\n"
	for _, tc := range []struct {
		from, to, want string
		ok             bool
	}{
		{"## b", "", "two\n", true},
		{"# A", "", "one\n## B\ntwo\n## C\nthree\n", true},
		{"## B", "# D", "two\n## C\nthree\n", true},
		{"", "## B", "# A\none\n", true},
		{"# D", "", "four\n", true},
		{"Z", "", "", false},
		{"# A", "Z", "", false},
		{"", "", text, true},
	} {
		got, ok := segment.Section(text, tc.from, tc.to)
		if got != tc.want || ok != tc.ok {
			t.Errorf("Section(%q, %q) = %q, %v; want %q, %v", tc.from, tc.to, got, ok, tc.want, tc.ok)
		}
	}
}

func FuzzParts(f *testing.F) {
	f.Add("- a\n\n1. b\n# c\nd. e")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range segment.Lines(text) {
			if strings.ContainsAny(l, "\n") {
				t.Fatalf("a line break in line %q", l)
			}
		}
		segment.Items(text)
		segment.Sentences(text)
		segment.Section(text, "a", "b")
	})
}
