package spade_test

import (
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
)

// TestCoverCountsWhatRulesCheck: an instruction counts whether or not an assertion
// checks it.
func TestCoverCountsWhatRulesCheck(t *testing.T) {
	t.Parallel()
	const prompt = "Use at most 3 sentences.\nMention {question}.\n{question}"
	c := spadetest.Compiler(t)
	h, err := delta.HistoryOf([]delta.Version{{Text: prompt}})
	if err != nil {
		t.Fatal(err)
	}
	proposed, err := rules.Propose(t.Context(), h, rules.Options{Compiler: c})
	if err != nil || len(proposed.Candidates) != 2 {
		t.Fatalf("%+v, %v", proposed, err)
	}
	all := proposed.Candidates
	for n, want := range []int{0, 1, 2} {
		cover, err := coverage.Of(t.Context(), prompt, all[:n], c)
		if err != nil || cover.Total != 2 || cover.Covered != want {
			t.Errorf("%d assertions: %+v, %v", n, cover, err)
		}
	}
}

// TestSumAddsUp: every sentence has one kind, including every sentence without a check.
func TestSumAddsUp(t *testing.T) {
	t.Parallel()
	versions := []delta.Version{
		{Text: "Never shout at people.\nUse at most 3 sentences."},
		{Text: "# Rules\nYou are a baker.\nUse at most 3 sentences.\nMention {question}.\nBe friendly.\n{question}"},
	}
	c := spadetest.Compiler(t)
	h, err := delta.HistoryOf(versions)
	if err != nil {
		t.Fatal(err)
	}
	proposed, err := rules.Propose(t.Context(), h, rules.Options{Compiler: c})
	if err != nil || len(proposed.Candidates) != 2 {
		t.Fatalf("%+v, %v", proposed, err)
	}
	cover, err := coverage.Of(t.Context(), versions[1].Text, proposed.Candidates[:1], c)
	if err != nil {
		t.Fatal(err)
	}
	s := cover.Sum(proposed.Candidates, proposed.Unproposed)
	total := 0
	for _, n := range s.Of {
		total += n
	}
	if total != s.Sentences || total != len(cover.Lines) || s.Of[coverage.Covered] != cover.Covered || s.Of[coverage.Unselected] != 1 ||
		s.Of[coverage.Covered]+s.Of[coverage.Unselected]+s.Of[coverage.Unproposed] != cover.Total {
		t.Errorf("%+v of %d sentences, %d of %d covered", s.Of, s.Sentences, cover.Covered, cover.Total)
	}
	unchecked := s.Earlier
	for _, n := range s.Unchecked {
		unchecked += n
	}
	if unchecked != len(proposed.Unproposed) {
		t.Errorf("%+v and %d earlier, want %d", s.Unchecked, s.Earlier, len(proposed.Unproposed))
	}
}

// TestCoverKnowsEqualChecks: an assertion in other words covers the sentence whose check it
// equals or is stricter than.
func TestCoverKnowsEqualChecks(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for _, x := range []struct {
		sentence, assertion string
		covered             bool
	}{
		{`Never say "sorry".`, "{type: not-icontains, value: sorry}", true},
		{`Never say "sorry".`, "{type: not-icontains-any, value: [sorry, alas]}", true},
		{`Never say "sorry".`, "{type: icontains, value: sorry}", false},
		{`Never say "sorry".`, "{type: not-icontains, value: alas}", false},
		{"Do not use emojis.", "{type: chars, value: {class: emoji, max: 0}}", true},
		{"Do not use emojis.", "{type: not-chars, value: {class: emoji, min: 1}}", true},
		{"Do not use emojis.", "{type: chars, value: {class: emoji, max: 2}}", false},
		{"Use at most 80 words.", "{type: word-count, value: {max: 50}}", true},
		{"Use at most 80 words.", "{type: word-count, value: {max: 90}}", false},
	} {
		list, mistakes := candidate.Read("a.yaml", []byte("- {id: a, "+x.assertion[1:]+"\n"))
		if err := mistakes.Err(); err != nil {
			t.Fatal(err)
		}
		cover, err := coverage.Of(t.Context(), x.sentence, list, c)
		if err != nil || cover.Total != 1 || (cover.Covered == 1) != x.covered {
			t.Errorf("%s and %s: %d of %d, %v", x.sentence, x.assertion, cover.Covered, cover.Total, err)
		}
	}
}

// TestCoverCountsTerseInstructions: an instruction counts without a verb or a topic word, and
// thanks, permissions and facts do not count.
func TestCoverCountsTerseInstructions(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for want, sentences := range [][]string{
		{"Thank you!", "Thanks in advance.", "Emojis are welcome.", "Lists are fine.", "Good luck!", "Hello there.", "No problem.", "You are a helpful assistant.",
			"The customer is angry.", "No delivery on Sundays.", "Name: Anna.", "Today is Monday.", "Language:"},
		{`Answer with "yes" or "no".`, "No preamble.", "No lists.", "- No lists or tables.", "Code only.", "One sentence.", "**Stay on topic.**", "Language: English.", `Sign as "Anna".`,
			"Skip the introduction.", "Thank the customer.", "Be yourself.", "Two short paragraphs.", "Length: 3 lines."},
	} {
		for _, s := range sentences {
			if cover, err := coverage.Of(t.Context(), s, nil, c); err != nil || cover.Total != want {
				t.Errorf("%s: %d instructions, %v, want %d", s, cover.Total, err, want)
			}
		}
	}
}
