package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestGraded runs the scripts in testdata/graded, whose assertions are graded by a
// model, against a server that stands for all models: see gradedReply.
func TestGraded(t *testing.T) {
	t.Parallel()
	cmds := commandsOfScripts()
	cmds["asked"] = asked
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "graded"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := fakemodel.New(fakemodel.Options{Reply: gradedReply})
			e.Defer(server.Close)
			e.Values[serverKey{}] = server
			for name, v := range map[string]string{
				"MODEL": server.URL, "OPENAI_API_KEY": "sk-made-up-for-tests", "OPENAI_BASE_URL": server.URL + "/v1",
				"ANTHROPIC_API_KEY": "", "HF_TOKEN": "hf_made_up", "XDG_CACHE_HOME": filepath.Join(e.WorkDir, ".cache"),
			} {
				e.Setenv(name, v)
			}
			return setup(e)
		},
		Cmds: cmds,
	})
}

// gradedReply passes a criterion if the output contains it word for word, and selects the longest
// of several outputs as the best.
func gradedReply(r fakemodel.Request) fakemodel.Reply {
	towards := func(text string) []float64 {
		if strings.Contains(text, "Paris") {
			return []float64{1, 0}
		}
		return []float64{0, 1}
	}
	switch r.API {
	case fakemodel.Embeddings:
		return fakemodel.Reply{Vectors: towards}
	case fakemodel.Moderations:
		return fakemodel.Reply{Scores: map[string]float64{"violence": 0.9, "hate": 0.1}}
	case fakemodel.Classify:
		return fakemodel.Reply{Scores: map[string]float64{"neutral": 0.8, "angry": 0.2}}
	}
	fence := judgeFence().FindStringSubmatch(r.Prompt)
	if fence == nil {
		return fakemodel.Reply{Text: "My verdict is: " + fmt.Sprint(strings.Contains(r.Prompt, "Paris")) + `. {"pass": true, "score": 4}`}
	}
	part := func(name string) string {
		_, rest, _ := strings.Cut(r.Prompt, "["+fence[1]+" begin "+name+"]\n")
		inner, _, _ := strings.Cut(rest, "\n["+fence[1]+" end "+name+"]")
		return inner
	}
	wanted := part("rubric") + part("criterion") + part("expected")
	pass := strings.Contains(part("output"), wanted)
	category := map[bool]string{true: "B", false: "D"}[pass]
	switch {
	case wanted == "nonsense":
		return fakemodel.Reply{Text: "I would rather not say."}
	case part("output 2") != "":
		best := 1
		if len(part("output 2")) > len(part("output 1")) {
			best = 2
		}
		return fakemodel.Reply{Text: fmt.Sprintf(`{"reason": "longer", "best": %d}`, best)}
	}
	return fakemodel.Reply{Text: fmt.Sprintf(`{"reason": "looked for %s", "score": %v, "pass": %v, "category": "%s", "relevant": [1]}`,
		wanted, map[bool]float64{true: 1, false: 0}[pass], pass, category)}
}
