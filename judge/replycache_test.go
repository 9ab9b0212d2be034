package judge_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// TestRepliesWithoutVerdictAreNotKept: a judge that failed is called again the next time,
// although its answers are cached.
func TestRepliesWithoutVerdictAreNotKept(t *testing.T) {
	t.Parallel()
	const half = `{"results":[{"id":"a","criteria":[{"n":2,"met":true}]}]}`
	for name, c := range map[string]struct {
		reply    string
		refused  bool
		canaries bool
	}{
		"nonsense":     {reply: "I cannot say."},
		"half":         {reply: half},
		"contradicted": {reply: `{"results":[{"id":"a","pass":false,"criteria":[{"n":1,"met":true},{"n":2,"met":true}]}]}`},
		"refused":      {reply: half, refused: true},
		"no canary":    {reply: `{"results":[{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"met":true}]}]}`, canaries: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := blobs.Open(t.TempDir())
			run := func(f *fake) string {
				s := seat(f)
				s.Provider = provider.NewCache(store, provider.CacheOptions{}).Provider(f, "fake")
				j, err := judge.New(judge.Options{Judges: []judge.Seat{s}, Canaries: c.canaries})
				if err != nil {
					t.Fatal(err)
				}
				return statuses(evaluate(t, j, wants("a", "1", "2")))
			}
			bad := &fake{Reply: func(seen) string { return c.reply }, Edit: func(_ seen, o *proviso.Output) { o.Refused = c.refused }}
			if got := run(bad); got != "a=error" || bad.Count() == 0 {
				t.Fatalf("%s after %d calls", got, bad.Count())
			}
			good := &fake{}
			if got := run(good); got != "a=pass" || good.Count() != 1 {
				t.Errorf("%s after %d calls of a judge that works again", got, good.Count())
			}
			idle := &fake{}
			if got := run(idle); got != "a=pass" || idle.Count() != 0 {
				t.Errorf("%s after %d calls, want what is kept", got, idle.Count())
			}
		})
	}
}

// TestGradesWithoutVerdictAreNotKept is the same for types with their own prompts.
func TestGradesWithoutVerdictAreNotKept(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	for i, c := range []struct {
		replies []string
		want    proviso.Status
		calls   int
	}{
		{[]string{"Hm.", "Hm."}, proviso.Errored, 2},
		{[]string{passing}, proviso.Pass, 1},
		{nil, proviso.Pass, 0},
	} {
		model := &scripted{replies: c.replies}
		s := judge.Seat{Provider: provider.NewCache(store, provider.CacheOptions{}).Provider(model, "model"), Identity: "model"}
		j, err := judge.New(judge.Options{Judges: []judge.Seat{s}})
		if err != nil {
			t.Fatal(err)
		}
		row := &check.Row{Output: &proviso.Output{Value: "Paris."}, Prompt: "What?", HasPrompt: true}
		a := assertion.Of(value.ObjectOf("type", "llm-rubric", "value", "is right"), "")
		v := check.New(check.Options{Grader: j}).Decide(t.Context(), a, row)
		if v.Status != c.want || len(model.asks) != c.calls {
			t.Errorf("%d: %s (%s) after %d calls", i, v.Status, v.Reason, len(model.asks))
		}
	}
}
