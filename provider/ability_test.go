package provider_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// able is a provider with all abilities that counts its calls.
type able struct {
	*fake
	asked atomic.Int32
}

func (a *able) Embed(_ context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	a.asked.Add(1)
	return [][]float64{{1, 2}}, proviso.Usage{Total: 5}, nil
}

func (a *able) Classify(context.Context, string) (map[string]float64, error) {
	a.asked.Add(1)
	return map[string]float64{"good": 0.75}, nil
}

func (a *able) Moderate(context.Context, string, string) ([]proviso.Flag, error) {
	a.asked.Add(1)
	return []proviso.Flag{{Code: "hate", Confidence: 0.5}}, nil
}

// use calls all abilities of p besides answering.
func use(t *testing.T, p proviso.Provider) string {
	t.Helper()
	text := ""
	if e, ok := proviso.As[proviso.Embedder](p); ok {
		v, _, err := e.Embed(t.Context(), []string{"a"})
		text += fmt.Sprintf("embeds %v, %v; ", v, err)
	}
	if c, ok := proviso.As[proviso.Classifier](p); ok {
		v, err := c.Classify(t.Context(), "a")
		text += fmt.Sprintf("classifies %v, %v; ", v, err)
	}
	if m, ok := proviso.As[proviso.Moderator](p); ok {
		v, err := m.Moderate(t.Context(), "p", "a")
		text += fmt.Sprintf("moderates %v, %v; ", v, err)
	}
	return text
}

// TestDecoratorsPassAbilitiesOn wraps a provider with all abilities, and one that can only answer,
// in each decorator and in all of them.
func TestDecoratorsPassAbilitiesOn(t *testing.T) {
	t.Parallel()
	const all = "embeds [[1 2]], <nil>; classifies map[good:0.75], <nil>; moderates [{hate  0.5}], <nil>; "
	cached := func(p proviso.Provider) proviso.Provider {
		return provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(p, "")
	}
	budgeted := func(p proviso.Provider) proviso.Provider { return provider.NewBudget(1).Provider(p) }
	for name, tc := range map[string]struct {
		wrap  func(proviso.Provider) proviso.Provider
		asked int32 // calls of two uses
	}{
		"nothing":                   {func(p proviso.Provider) proviso.Provider { return p }, 6},
		"cache":                     {cached, 3},
		"budget":                    {budgeted, 6},
		"cache and budget":          {func(p proviso.Provider) proviso.Provider { return cached(budgeted(p)) }, 3},
		"two budgets":               {func(p proviso.Provider) proviso.Provider { return budgeted(budgeted(p)) }, 6},
		"one that knows of nothing": {func(p proviso.Provider) proviso.Provider { return cached(plain{budgeted(p)}) }, 3},
	} {
		a := &able{fake: priced(0)}
		p := tc.wrap(a)
		if first, again := use(t, p), use(t, p); first != all || again != all {
			t.Errorf("%s: %s, then %s", name, first, again)
		}
		if n := a.asked.Load(); n != tc.asked {
			t.Errorf("%s: asked %d times, want %d", name, n, tc.asked)
		}
		if got := use(t, tc.wrap(priced(0))); got != "" {
			t.Errorf("%s: a provider that only answers %s", name, got)
		}
	}
}

// plain is a decorator that passes no abilities on.
type plain struct{ proviso.Provider }

func (p plain) Unwrap() proviso.Provider { return p.Provider }

// TestScriptAbilities lets a Python file embed and classify behind the cache,
// then while recording, then from the recording without an interpreter.
func TestScriptAbilities(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	i := &interpreter{result: func(_ context.Context, entry string, _ ...any) (any, error) {
		asked.Add(1)
		if entry == "call_embedding_api" {
			return value.ObjectOf("embedding", []any{1.0, 2.0}), nil
		}
		return value.ObjectOf("classification", value.ObjectOf("good", 0.75)), nil
	}}
	const want = "embeds [[1 2]], <nil>; classifies map[good:0.75], <nil>; "
	open := func(c *transport.Cassette) proviso.Provider {
		p, err := scripts(t, "python:p.py", `{}`, i, provider.Options{Cassette: c})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(open(nil), "")
	tape := blobs.Open(t.TempDir())
	for n, p := range []proviso.Provider{
		p, p, open(transport.Record(tape, transport.CassetteOptions{})), open(transport.Replay(tape, transport.CassetteOptions{})),
	} {
		if got := use(t, p); got != want {
			t.Errorf("%d: it %s", n, got)
		}
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("the file was asked %d times, want twice for the cache and twice for the recording", n)
	}
	other := open(transport.Replay(blobs.Open(t.TempDir()), transport.CassetteOptions{}))
	c, _ := proviso.As[proviso.Classifier](other)
	if _, err := c.Classify(t.Context(), "a"); codeOf(err) != proviso.NotFound {
		t.Errorf("what was not recorded: %v", err)
	}
}
