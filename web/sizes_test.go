package web_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// Budgets of the built front end, in bytes after gzip.
const (
	maxFirst = 60 << 10 // script and style of the app's first page
	maxChunk = 24 << 10 // a part that is loaded later
	maxPanel = 15 << 10 // <proviso-panel>, all in: pages of others load it
)

// TestSizesOfBundles holds the size of each built file to testdata/sizes.txt, so that a
// change of it is seen in the change that causes it, and all of them to the budgets.
func TestSizesOfBundles(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("dist/*")
	if err != nil || len(names) == 0 {
		t.Fatal("no built files: ", err)
	}
	var lines []string
	first := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		lines = append(lines, fmt.Sprintf("%s %d\n", withoutHash(base), len(data)))
		switch n := packed(t, data); {
		case base == "app.js" || base == "app.css":
			first += n
		case strings.HasPrefix(base, "app-") && n > maxChunk:
			t.Errorf("%s has %d bytes after gzip, more than %d", base, n, maxChunk)
		case base == "panel.js" && n > maxPanel:
			t.Errorf("%s has %d bytes after gzip, more than %d", base, n, maxPanel)
		}
	}
	if first > maxFirst {
		t.Errorf("app.js and app.css have %d bytes after gzip, more than %d", first, maxFirst)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	const golden = "testdata/sizes.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not up to date; `go test ./web -update` writes it. It has:\n%sand the built files have:\n%s", golden, want, got)
	}
}

// withoutHash removes what changes with every change of a file: app-run-5NQXDOMY.js.
func withoutHash(name string) string {
	stem, ext, _ := strings.Cut(name, ".")
	if i := strings.LastIndexByte(stem, '-'); i > 0 {
		stem = stem[:i]
	}
	return stem + "." + ext
}

func packed(t *testing.T, data []byte) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
