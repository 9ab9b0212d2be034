package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// yes answers yes to every question whose text is in the output.
type yes struct{}

func (yes) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	if len(q.Criteria) != 1 || q.Input != "the prompt" {
		return proviso.Grade{}, fmt.Errorf("asked %+v", q)
	}
	return proviso.Grade{Pass: strings.Contains(q.Output, q.Criteria[0].Text)}, nil
}

func TestAskLLM(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{"kind words": true, "words": false} {
		if got, err := judge.AskLLM(context.Background(), yes{}, "the prompt", output, "kind"); got != want || err != nil {
			t.Errorf("%q: %v, %v", output, got, err)
		}
	}
	if _, err := judge.AskLLM(context.Background(), nil, "", "", "kind"); err == nil {
		t.Error("nobody answered")
	}
}
