package main

import (
	"bytes"
	"testing"
)

// TestDocsOfSpade requires the flags of all spade commands on their page.
func TestDocsOfSpade(t *testing.T) {
	root := newRootFor(newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}}), nil)
	cmd, _, err := root.Find([]string{"spade"})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range cmd.Commands() {
		wantBlock(t, "docs/spade.md", "flags of "+step.Name(), flagTable(step))
	}
}
