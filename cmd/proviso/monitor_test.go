package main

import "testing"

func TestDocsOfMonitor(t *testing.T) {
	for _, cmd := range newMonitor(newApp(stdio{})).Commands() {
		wantBlock(t, "docs/monitor.md", "flags of "+cmd.Name(), flagTable(cmd))
	}
}
