package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/programtest"
)

// TestBrowser opens a run of the built binary and its report in Chromium, and compares
// their numbers with the other formats. `make browser` installs what it needs, and tries
// every page.
func TestBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes time")
	}
	if missing := missingForBrowser(); missing != "" {
		t.Skip("the pages are not tried in a browser: " + missing + " is missing; `make browser` installs it")
	}
	binary, err := programtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "test/run.mjs", "smoke", "numbers")
	cmd.Env = append(os.Environ(), "PROVISO="+binary)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// missingForBrowser names the first thing that is not installed.
func missingForBrowser() string {
	if _, err := exec.LookPath("node"); err != nil {
		return "Node"
	}
	if _, err := os.Stat(filepath.Join("node_modules", "playwright-core")); err != nil {
		return "web/node_modules"
	}
	if os.Getenv("CHROMIUM") != "" {
		return ""
	}
	for _, path := range []string{"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(path); err == nil {
			return ""
		}
	}
	return "Chromium, on " + runtime.GOOS + ","
}
