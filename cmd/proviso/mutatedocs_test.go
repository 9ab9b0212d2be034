package main

import (
	"path/filepath"
	"testing"
)

// TestDocsOfMutate compares the example of docs/mutate.md with the real output.
func TestDocsOfMutate(t *testing.T) {
	code, out := printed(t, "mutate", "-c", filepath.Join(repository, "examples", "mutate", "proviso.yaml"))
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	wantBlock(t, "docs/mutate.md", "printed", fenced("$ proviso mutate -c examples/mutate/proviso.yaml\n"+out))
}
