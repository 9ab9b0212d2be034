package runfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

const shortHeader = `{"proviso":"run","format":1,"id":"i","version":"v","suite":"s","hash":"h","started":"2026-01-05T09:15:00Z"}` + "\n"

// FuzzEnds: reading the ends of a file gives the same result as reading all of it.
func FuzzEnds(f *testing.F) {
	row, trailer := `{"index":0,"a":1}`+"\n", `{"trailer":{"passed":1}}`+"\n"
	for _, text := range []string{
		"", "\n", shortHeader, shortHeader + row, shortHeader + row + trailer, shortHeader + trailer, shortHeader + row + trailer + row, shortHeader + trailer + trailer,
		shortHeader + row + strings.TrimSuffix(trailer, "\n"), shortHeader + "{\"trailer\":}\n", shortHeader + "{\"trailer\":\n", shortHeader + row + "x\n", row + trailer,
		shortHeader + strings.Repeat("y", 9000) + "\n" + trailer, shortHeader + `{"trailer":{"a":"` + strings.Repeat("z", 20_000) + `"}}` + "\n",
		strings.Replace(shortHeader, `"suite":"s"`, `"suite":"`+strings.Repeat("l", 40_000)+`"`, 1) + row + trailer,
		strings.Repeat("no run ", 5000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), runfile.FileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		header, trailer, err := runfile.Ends(path)
		r, failed := runfile.Open(path)
		if (err == nil) != (failed == nil) {
			t.Fatalf("ends: %v; all: %v", err, failed)
		}
		if err != nil {
			return
		}
		defer r.Close()
		_, cut := r.Damage()
		if want := r.Trailer(); !cut && !bytes.Equal(trailer, want) || cut && trailer != nil {
			t.Errorf("trailer %q, want %q", trailer, want)
		}
		if want := r.Header(); string(header.Line()) != string(want.Line()) {
			t.Errorf("header %s, want %s", header.Line(), want.Line())
		}
	})
}

// TestEndsLarge: a header of more than 16 MiB is an error; rows of any size are fine.
func TestEndsLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), runfile.FileName)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(shortHeader, `"suite":"s"`, `"suite":"`+strings.Repeat("l", 17<<20)+`"`, 1))
	if _, _, err := runfile.Ends(path); err == nil || !strings.Contains(err.Error(), "the header takes more than") {
		t.Errorf("a header of 17 MiB: %v", err)
	}
	write(shortHeader + `{"index":0,"a":"` + strings.Repeat("l", 17<<20) + "\"}\n")
	if _, trailer, err := runfile.Ends(path); err != nil || trailer != nil {
		t.Errorf("a row of 17 MiB: %q, %v", trailer, err)
	}
	if _, _, err := runfile.Ends(t.TempDir()); err == nil {
		t.Error("an empty folder is a run")
	}
}

// TestLineRoundTrip: a header that was read is written unchanged.
func TestLineRoundTrip(t *testing.T) {
	t.Parallel()
	h := runfile.Header{ID: "i", Suite: "s", Meta: value.ObjectOf("revision", value.ObjectOf("commit", "c", "dirty", true))}
	got, err := runfile.ParseHeader(bytes.TrimSuffix(h.Line(), []byte{'\n'}))
	if err != nil || string(got.Line()) != string(h.Line()) {
		t.Errorf("%v: %s", err, got.Line())
	}
}
