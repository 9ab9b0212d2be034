package check

import (
	"context"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/proviso-eval/proviso"
)

// The encodings of `token-count`. Their tables take about 20 ms to build and
// megabytes to hold, so they are built when the first output is counted.
var (
	o200k  = sync.OnceValue(codec.NewO200kBase)
	cl100k = sync.OnceValue(codec.NewCl100kBase)
)

// newTokenCount is `token-count`: how many tokens a model reads the output as, in
// OpenAI's o200k_base or the encoding that the config names.
func newTokenCount(_ *Compiler, s *Spec) (Check, error) {
	a, err := s.amountOf()
	if err != nil {
		return nil, err
	}
	encoding, err := s.encoding()
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		n, err := encoding().Count(sub.Text)
		if err != nil {
			return Finding{}, proviso.Errorf(proviso.Undecided, "counting tokens: %w", err)
		}
		return a.decide(n, "token", s.Not), nil
	}), nil
}

func (s *Spec) encoding() (func() *codec.Codec, error) {
	name, _ := s.Config.Get("encoding")
	switch name {
	case nil, "o200k_base":
		return o200k, nil
	case "cl100k_base":
		return cl100k, nil
	}
	return nil, &proviso.Error{
		Code:    proviso.Invalid,
		Message: "unknown encoding " + proviso.Stringify(name),
		Valid:   []string{"o200k_base", "cl100k_base"},
	}
}
