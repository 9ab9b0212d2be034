package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestDocsOfMutate compares the example of docs/mutate.md with the real output.
func TestDocsOfMutate(t *testing.T) {
	code, out := printed(t, "mutate", "-c", filepath.Join(repository, "examples", "mutate", "proviso.yaml"))
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	wantBlock(t, "docs/mutate.md", "printed", fenced("$ proviso mutate -c examples/mutate/proviso.yaml\n"+out))
}

// TestMutating runs the scripts in testdata/mutating against a server that stands for
// OpenAI, judges and breaks outputs: see mutateReply.
func TestMutating(t *testing.T) {
	t.Parallel()
	runWithModel(t, "mutating", mutateReply)
}

// mutateReply breaks the first instruction in a question with a rude sentence, and judges an output
// as friendly if it is not rude. The model prose writes prose.
func mutateReply(r fakemodel.Request) fakemodel.Reply {
	usage := proviso.Usage{Prompt: 100, Completion: 10, Total: 110}
	fence := judgeFence().FindStringSubmatch(r.Prompt)
	if fence == nil || r.Model == "prose" {
		return fakemodel.Reply{Text: "Once upon a time.", Usage: usage}
	}
	part := func(name string) string {
		_, rest, _ := strings.Cut(r.Prompt, "["+fence[1]+" begin "+name+"]\n")
		inner, _, _ := strings.Cut(rest, "\n["+fence[1]+" end "+name+"]")
		return inner
	}
	if part("instructions") != "" {
		return fakemodel.Reply{Text: fmt.Sprintf(`{"mutants": [{"n": 1, "output": %q}]}`, "Go away, it is silly. "+part("output")), Usage: usage}
	}
	return fakemodel.Reply{Text: fmt.Sprintf(`{"reason": "it is said so", "pass": %v, "score": 1}`, !strings.Contains(part("output"), "stupid")), Usage: usage}
}
