package check

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/meteor"
	"github.com/proviso-eval/proviso/internal/ngram"
	"github.com/proviso-eval/proviso/value"
)

// newROUGE is `rouge-n`: the F1 of shared words, its score always in the reason.
func newROUGE(c *Compiler, s *Spec) (Check, error) {
	want, ok := s.Value.(string)
	if !ok {
		return nil, s.badValue("a text")
	}
	ref, threshold := c.reference(want), s.threshold()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		tokens := ref.tokens()
		score := sub.overlap(tokens, sub.words().tokens(&c.words), ref.order(tokens)).ROUGE1()
		f := Finding{Pass: score >= threshold, Score: score, Always: true}
		f.Reason = s.scoreReason("ROUGE-N", score, 2, f.Pass, "greater than or equal to")
		return f, nil
	}), nil
}

// newROUGEL is `rouge-l`: the F1 of the longest common subsequence of words, the
// best of all references.
func newROUGEL(c *Compiler, s *Spec) (Check, error) {
	refs, err := c.references(s)
	if err != nil {
		return nil, err
	}
	threshold := s.threshold()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		best := 0.0
		for _, ref := range refs {
			score, err := ref.tokens().ROUGEL(sub.words().tokens(&c.words))
			if err != nil {
				return Finding{}, proviso.Errorf(proviso.Limit, "%w", err)
			}
			best = max(best, score)
		}
		return s.scored("ROUGE-L", best, 2, threshold), nil
	}), nil
}

// newBLEU is `bleu`, over words as written.
func newBLEU(c *Compiler, s *Spec) (Check, error) {
	refs, err := c.sequenceReferences(s)
	if err != nil {
		return nil, err
	}
	threshold := s.threshold()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		if value.TrimSpace(sub.Text) == "" {
			return s.scored("BLEU", 0, 4, threshold), nil
		}
		overlaps := make([]ngram.Overlap, len(refs))
		for i, ref := range refs {
			overlaps[i] = sub.overlap(ref.words(), sub.words().separated(false), ngram.MaxOrder)
		}
		return s.scored("BLEU", ngram.BLEU(overlaps), 4, threshold), nil
	}), nil
}

// newGLEU is `gleu`, over words without the full stops at their ends; the best of all
// references counts. A text without words scores 0.
func newGLEU(c *Compiler, s *Spec) (Check, error) {
	refs, err := c.sequenceReferences(s)
	if err != nil {
		return nil, err
	}
	threshold := s.threshold()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		best := 0.0
		if hasWord(sub.words().separated(true)) {
			for _, ref := range refs {
				if ref := ref.trimmed(); hasWord(ref.Words()) {
					best = max(best, sub.overlap(ref, sub.words().separated(true), ngram.MaxOrder).GLEU())
				}
			}
		}
		f := Finding{Pass: best >= threshold, Score: best}
		if f.Pass == s.Not {
			f.Reason = s.scoreReason("GLEU", best, 4, f.Pass, "greater than or equal to")
		}
		return f, nil
	}), nil
}

// hasWord reports whether any word is not empty.
func hasWord(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w != "" })
}

var errEmptyOutput = &proviso.Error{Code: proviso.Undecided, Message: "an empty output has no words to compare"}

// newMETEOR is `meteor`; the best of all references counts. The parameters alpha,
// beta and gamma are keys of the assertion.
func newMETEOR(c *Compiler, s *Spec) (Check, error) {
	texts, err := s.references()
	if err != nil {
		return nil, err
	}
	params, err := s.meteorParams()
	if err != nil {
		return nil, err
	}
	refs := make([]func() *meteor.Reference, len(texts)) // made at their first use: few cases are decided at a time
	for i, text := range texts {
		refs[i] = sync.OnceValue(func() *meteor.Reference { return meteor.NewReference(meteorWords(lower(text))) })
	}
	threshold := s.threshold()
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		if sub.Text == "" {
			return Finding{}, errEmptyOutput
		}
		best, candidate := 0.0, sub.meteorCandidate()
		for _, ref := range refs {
			score, err := ref().Score(ctx, candidate, params)
			if err != nil {
				return Finding{}, proviso.Errorf(proviso.Undecided, "meteor: %w", err)
			}
			best = max(best, score)
		}
		f := Finding{Pass: best >= threshold, Score: best, Always: true, Reason: "METEOR assertion passed"}
		if f.Pass == s.Not {
			f.Reason = "METEOR score " + fixed(best, 4) + " did not meet threshold " + thresholdText(s)
		}
		return f, nil
	}), nil
}

func (s *Spec) meteorParams() (meteor.Params, error) {
	p := meteor.DefaultParams
	for _, field := range []struct {
		name string
		to   *float64
	}{{"alpha", &p.Alpha}, {"beta", &p.Beta}, {"gamma", &p.Gamma}} {
		v := s.Raw.At(field.name)
		if v == nil {
			continue
		}
		f, ok := v.(float64)
		if !ok || math.IsNaN(f) {
			return p, proviso.Errorf(proviso.Invalid, "%s of %q must be a number, found %s", field.name, s.Type, value.Stringify(v))
		}
		*field.to = f
	}
	return p, nil
}

type meteorKey string

func (s *Subject) meteorCandidate() *meteor.Candidate {
	text := s.folded(true)
	return memo(s, meteorKey(text), func() *meteor.Candidate { return meteor.NewCandidate(meteorWords(text)) })
}

// meteorWords splits text like JavaScript's text.split(/\s+/), so that surrounding
// white space makes empty words, and drops the full stops at word ends.
func meteorWords(text string) []string {
	words := ngram.Fields(text)
	trimmed := strings.TrimLeftFunc(text, value.IsSpace)
	if len(trimmed) < len(text) {
		words = append([]string{""}, words...)
	}
	if trimmed != "" && len(strings.TrimRightFunc(trimmed, value.IsSpace)) < len(trimmed) {
		words = append(words, "")
	}
	return ngram.TrimPeriods(words)
}

// scored returns the finding for a metric; the reason is only for failures.
func (s *Spec) scored(name string, score float64, digits int, threshold float64) Finding {
	f := Finding{Pass: score >= threshold, Score: score}
	if f.Pass == s.Not {
		f.Reason = s.scoreReason(name, score, digits, f.Pass, "greater than")
	}
	return f
}

func (s *Spec) scoreReason(name string, score float64, digits int, reached bool, above string) string {
	relation := "less than"
	if reached {
		relation = above
	}
	return name + " score " + fixed(score, digits) + " is " + relation + " threshold " + thresholdText(s)
}

// fixed is [toFixed], but faster for a number that is not a tie.
func fixed(f float64, digits int) string {
	if doubled := 2 * f * math.Pow10(digits); f < 0 || f > 1e6 || doubled == math.Trunc(doubled) {
		return toFixed(f, digits)
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

// references returns the value as the texts to compare with.
func (s *Spec) references() ([]string, error) {
	switch v := s.Value.(type) {
	case string:
		return []string{v}, nil
	case []any:
		texts := make([]string, len(v))
		for i, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, s.badValue("a text or a list of texts")
			}
			texts[i] = text
		}
		if len(texts) > 0 {
			return texts, nil
		}
		return nil, proviso.Errorf(proviso.Invalid, "the list of reference texts of %q is empty", s.Type)
	}
	return nil, s.badValue("a text or a list of texts")
}
