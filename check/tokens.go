package check

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/tokens"
	"github.com/proviso-eval/proviso/value"
)

// newTokenCount is `token-count`: the number of tokens of the output, in OpenAI's
// o200k_base or the encoding in the config.
func newTokenCount(_ *Compiler, s *Spec) (Check, error) {
	a, err := s.amountOf()
	if err != nil {
		return nil, err
	}
	encoding, err := s.encoding()
	if err != nil {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		n, err := countTokens(ctx, encoding, sub.Text, tokenChunk)
		if err != nil {
			return Finding{}, err
		}
		return a.decide(n, "token", s.Not), nil
	}), nil
}

const (
	// tokenChunk is the number of bytes counted between two checks of the context.
	tokenChunk = 4 << 10
	// maxTokenRun limits a text without boundaries, such as a long row of dashes: its
	// time is quadratic, and stays under a tenth of a second.
	maxTokenRun = 4 << 10
)

// countTokens counts in chunks of at least the given size. They end where no token
// can cross the boundary.
func countTokens(ctx context.Context, encoding *tokens.Encoding, text string, chunk int) (int, error) {
	sum := 0
	for text != "" {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		end, ok := tokenBoundary(text, chunk)
		if !ok {
			return 0, proviso.Errorf(proviso.Limit, "counting tokens: more than %d KiB without a word that ends", maxTokenRun>>10)
		}
		sum, text = sum+encoding.Count(text[:end]), text[end:]
	}
	return sum, nil
}

// tokenBoundary returns the first position at or after from where the patterns of the
// encodings always split: before a space after anything but white space, and where
// letters or digits end, except before apostrophes and marks, which may continue a
// word.
func tokenBoundary(text string, from int) (at int, ok bool) {
	if len(text) <= from {
		return len(text), true
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	last := utf8.RuneError
	for i, r := range text[from:] {
		letter, digit := unicode.IsLetter(r), unicode.IsNumber(r)
		switch {
		case i == 0:
		case r == ' ' && !unicode.IsSpace(last),
			unicode.IsLetter(last) && !letter && r != '\'' && !unicode.IsMark(r),
			unicode.IsNumber(last) && !digit && !unicode.IsMark(r):
			return from + i, true
		case i > maxTokenRun:
			return 0, false
		}
		last = r
	}
	return len(text), true
}

func (s *Spec) encoding() (*tokens.Encoding, error) {
	name, _ := s.Config.Get("encoding")
	switch name {
	case nil, "o200k_base":
		return tokens.O200k(), nil
	case "cl100k_base":
		return tokens.Cl100k(), nil
	}
	return nil, &proviso.Error{
		Code:    proviso.Invalid,
		Message: "unknown encoding " + value.Stringify(name),
		Valid:   []string{"o200k_base", "cl100k_base"},
	}
}
