package provider_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// TestPictures sends a variable that is a picture in the ways that promptfoo's
// prompts use: as OpenAI's part, as Claude's, as Google's, and as a line of
// text for Gemini.
func TestPictures(t *testing.T) {
	t.Parallel()
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
	const url = "data:image/png;base64," + data
	openai := `[{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"` + url + `"}}]}]`
	claude := `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + url + `"}},{"type":"text","text":"what?"}]}]`
	bare := strings.Replace(claude, `"media_type":"image/png",`, "", 1)
	gemini := `[{"role":"user","parts":[{"text":"what?"},{"inlineData":{"mimeType":"image/png","data":"` + url + `"}}]}]`
	for _, tc := range []struct{ name, id, prompt, want string }{
		{"OpenAI", "openai:gpt-4o", openai, `"messages":` + openai},
		{"OpenAI's form for Claude", "anthropic:claude-sonnet-4-5", openai, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`},
		{"Claude", "anthropic:claude-sonnet-4-5", claude, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`},
		{"Claude without a type", "anthropic:claude-sonnet-4-5", bare, `{"type":"image","source":{"type":"base64","data":"` + data + `","media_type":"image/png"}}`},
		{"OpenAI's form for Google", "google:gemini-2.5-flash", openai, `{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}`},
		{"Google", "google:gemini-2.5-flash", gemini, `{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}`},
		{"Google, in text", "google:gemini-2.5-flash", "what is\n " + url + " \nand why?",
			`"parts":[{"text":"what is"},{"inlineData":{"mimeType":"image/png","data":"` + data + `"}},{"text":"and why?"}]`},
		{"Google, base64 alone", "google:gemini-2.5-flash", "what is\n" + data, `"parts":[{"text":"what is"},{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}]`},
		{"Google, no variable", "google:gemini-2.5-flash", "what is\n" + url[:len(url)-4], `"parts":[{"text":"what is\n` + url[:len(url)-4] + `"}]`},
		{"Ollama", "ollama:chat:llava", openai, `"images":["` + data + `"]`},
	} {
		f := serve(t, tc.id, nil, provider.Options{}, fakemodel.Options{})
		vars := value.ObjectOf("picture", url, "raw", data, "name", "x")
		if _, err := f.Answer(t.Context(), proviso.Ask{Prompt: tc.prompt, Vars: vars}); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := value.Stringify(f.server.Last().Body); !strings.Contains(got, tc.want) {
			t.Errorf("%s: asked\n%s, want\n%s", tc.name, got, tc.want)
		}
	}
}

// TestPicturesAreInTheCacheKey: the same text is a different request to Gemini
// if a part of it is a picture.
func TestPicturesAreInTheCacheKey(t *testing.T) {
	t.Parallel()
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
	f := serve(t, "google:gemini-2.5-flash", nil, provider.Options{}, fakemodel.Options{})
	p := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(f.Provider, "one")
	for _, step := range []struct {
		vars   *value.Object
		cached bool
	}{
		{value.ObjectOf("x", "y"), false},
		{value.ObjectOf("picture", data), false},
		{value.ObjectOf("renamed", data), true},
		{value.ObjectOf("x", "z"), true},
	} {
		out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "what is\n" + data, Vars: step.vars})
		if err != nil || out.Cached != step.cached {
			t.Errorf("%s: cached %v, %v", value.Stringify(step.vars), out.Cached, err)
		}
	}
}
