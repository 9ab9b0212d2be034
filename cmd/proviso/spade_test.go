package main

import (
	"bytes"
	"testing"
)

// TestDocsOfSpade wants the flags of the commands below spade on its page.
func TestDocsOfSpade(t *testing.T) {
	root := newRoot(newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}}))
	cmd, _, err := root.Find([]string{"spade"})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range cmd.Commands() {
		wantBlock(t, "docs/spade.md", "flags of "+step.Name(), flagTable(step))
	}
}
