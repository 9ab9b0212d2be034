package provider_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// classifying opens a classifier of Hugging Face in front of a fake server.
func classifying(t *testing.T, cfg string, f fakemodel.Options) (proviso.Classifier, *fakemodel.Server) {
	t.Helper()
	s := fakemodel.New(f)
	t.Cleanup(s.Close)
	o := config(t, strings.ReplaceAll(cfg, "SERVER", s.URL))
	n := &naps{}
	p, err := provider.Open(proviso.ProviderSpec{ID: "huggingface:text-classification:acme/tone", Config: o},
		provider.Options{Env: proviso.EnvMap{"HF_TOKEN": secret}, Sleep: n.sleep, Now: n.clock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return p.(proviso.Classifier), s
}

func TestClassify(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"POSITIVE": 0.9, "NEGATIVE": 0.1}
	flat := `[{"label":"POSITIVE","score":0.9},{"label":"NEGATIVE","score":0.1}]`
	for _, tc := range []struct {
		name, config, path, request string
		reply                       fakemodel.Reply
	}{
		{name: "by the base URL", config: `{"apiBaseUrl":"SERVER/hf-inference"}`, path: "/hf-inference/models/acme/tone",
			reply: fakemodel.Reply{Scores: want}, request: `{"inputs":"fine"}`},
		{name: "by the endpoint", config: `{"apiEndpoint":"SERVER/models/mine"}`, path: "/models/mine",
			reply: fakemodel.Reply{Scores: want}, request: `{"inputs":"fine"}`},
		{name: "settings", config: `{"apiBaseUrl":"SERVER","top_k":2,"passthrough":{"options":{"use_cache":false}}}`, path: "/models/acme/tone",
			reply: fakemodel.Reply{Scores: want}, request: `{"inputs":"fine","parameters":{"top_k":2},"options":{"use_cache":false}}`},
		{name: "one list", config: `{"apiBaseUrl":"SERVER"}`, path: "/models/acme/tone",
			reply: fakemodel.Reply{Raw: " " + flat + "\n"}, request: `{"inputs":"fine"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, s := classifying(t, tc.config, replies(tc.reply))
			got, err := c.Classify(t.Context(), "fine")
			if err != nil || !maps.Equal(got, want) {
				t.Fatalf("got %v, %v", got, err)
			}
			if r := s.Last(); r.Path != tc.path || value.Stringify(r.Body) != tc.request || r.Header.Get("Authorization") != "Bearer "+secret {
				t.Errorf("asked %s with %s", r.Path, value.Stringify(r.Body))
			}
		})
	}
}

func TestClassifyFaults(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"none":        `[[]]`,
		"an object":   `{}`,
		"no label":    `[{"score":1}]`,
		"no score":    `[{"label":"a"}]`,
		"other texts": `[[{"label":"a","score":1}],[{"label":"b","score":1}]]`,
		"text":        `positive`,
	} {
		c, _ := classifying(t, `{"apiBaseUrl":"SERVER"}`, replies(fakemodel.Reply{Raw: body}))
		if got, err := c.Classify(t.Context(), "x"); err == nil {
			t.Errorf("%s: got %v", name, got)
		} else {
			coded(t, err, proviso.Unavailable)
		}
	}
	c, s := classifying(t, `{"apiBaseUrl":"SERVER"}`, replies(fakemodel.Broken(503), fakemodel.Reply{Scores: map[string]float64{"a": 1}}))
	if got, err := c.Classify(t.Context(), "x"); err != nil || got["a"] != 1 || s.Count() != 2 {
		t.Errorf("while the model loads: %v, %v after %d requests", got, err, s.Count())
	}
	for _, id := range []string{"hf:text-classification:", "hf:text-classification:../admin", "hf:text-classification:a?b"} {
		if _, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Env: proviso.EnvMap{"HF_TOKEN": secret}}); err == nil {
			t.Errorf("%s can be opened", id)
		}
	}
}

func TestModerate(t *testing.T) {
	t.Parallel()
	p := serve(t, "openai:moderation", nil, provider.Options{}, replies(
		fakemodel.Reply{Scores: map[string]float64{"violence": 0.9, "hate": 0.2, "harassment": 0.6}},
		fakemodel.Reply{Scores: map[string]float64{"violence": 0.1}},
		fakemodel.Reply{Raw: `{"results":[]}`},
		fakemodel.Reply{Raw: `{"results":[{"flagged":true}]}`},
	))
	m := p.Provider.(proviso.Moderator)
	flags, err := m.Moderate(t.Context(), "prompt", "I will hurt you")
	if err != nil || len(flags) != 2 || flags[0] != (proviso.Flag{Code: "harassment", Description: "harassment", Confidence: 0.6}) || flags[1].Code != "violence" {
		t.Fatalf("got %v, %v", flags, err)
	}
	if r := p.server.Last(); r.Path != "/v1/moderations" || value.Stringify(r.Body) != `{"model":"omni-moderation-latest","input":"I will hurt you"}` {
		t.Errorf("asked %s with %s", r.Path, value.Stringify(r.Body))
	}
	if flags, err := m.Moderate(t.Context(), "", "hello"); err != nil || len(flags) != 0 {
		t.Errorf("got %v, %v", flags, err)
	}
	for range 2 {
		if flags, err := m.Moderate(t.Context(), "", "hello"); err == nil {
			t.Errorf("a malformed answer gives %v", flags)
		} else {
			coded(t, err, proviso.Unavailable)
		}
	}
	if _, err := p.ask(t, "hi"); codeOf(err) != proviso.Invalid {
		t.Errorf("a moderator answers: %v", err)
	}
}

// TestAbilitiesBehindCacheAndBudget makes the same request twice, and then
// exceeds the budget.
func TestAbilitiesBehindCacheAndBudget(t *testing.T) {
	t.Parallel()
	wrap := func(p proviso.Provider) (proviso.Provider, *provider.Budget) {
		b := provider.NewBudget(1)
		return provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(b.Provider(p), ""), b
	}
	spend := func(b *provider.Budget) { answer(t, b.Provider(priced(1)), proviso.Ask{}) }

	c, s := classifying(t, `{"apiBaseUrl":"SERVER"}`, replies(fakemodel.Reply{Scores: map[string]float64{"a": 0.7, "b": 0.3}}))
	p, b := wrap(c.(proviso.Provider))
	for range 2 {
		if got, err := p.(proviso.Classifier).Classify(t.Context(), "x"); err != nil || got["a"] != 0.7 || got["b"] != 0.3 {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if s.Count() != 1 {
		t.Errorf("%d requests", s.Count())
	}
	spend(b)
	if _, err := p.(proviso.Classifier).Classify(t.Context(), "new"); codeOf(err) != proviso.Limit {
		t.Errorf("beyond the budget: %v", err)
	}

	f := serve(t, "openai:moderation:text-moderation-007", nil, provider.Options{}, replies(fakemodel.Reply{Scores: map[string]float64{"hate": 0.9}}))
	p, b = wrap(f.Provider)
	for range 2 {
		if got, err := p.(proviso.Moderator).Moderate(t.Context(), "p", "x"); err != nil || len(got) != 1 || got[0].Confidence != 0.9 || got[0].Code != "hate" {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if f.server.Count() != 1 {
		t.Errorf("%d requests", f.server.Count())
	}
	spend(b)
	if _, err := p.(proviso.Moderator).Moderate(t.Context(), "p", "new"); codeOf(err) != proviso.Limit {
		t.Errorf("beyond the budget: %v", err)
	}
}
