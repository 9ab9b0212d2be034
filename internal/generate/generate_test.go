package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsLicense(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENCE.md": true, "license.txt": true, "LICENSE-3RD-PARTY.md": true, "LICENSE.libyaml": true,
		"COPYING": true, "NOTICE": true, "NOTICE.txt": true, "COPYRIGHT": true,
		"license.go": false, "licenses": false, "README.md": false, "noticeable": false, "LICENSE_test.go": false,
	} {
		if got := isLicense(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestModuleNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "LICENSE", "\ufeffMay be used.  \r\n\r\nReally.\f\r\n")
	write(t, dir, "NOTICE", "By someone.")
	write(t, dir, "linked/inner/LICENSE.md", "Another.")
	write(t, dir, "other/LICENSE", "Not linked in.")
	write(t, dir, "linked/inner/code.go", "package inner")
	m := module{Path: "example.com/m", Version: "v1.2.3", Dir: dir}
	got, err := m.notices([]string{filepath.Join(dir, "linked", "inner")})
	if err != nil {
		t.Fatal(err)
	}
	want := []notice{
		{[]string{"example.com/m v1.2.3"}, "May be used.\n\nReally."},
		{[]string{"example.com/m v1.2.3 (NOTICE)"}, "By someone."},
		{[]string{"example.com/m v1.2.3 (linked/inner/LICENSE.md)"}, "Another."},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(notice{})); d != "" {
		t.Error(d)
	}
	m.Dir = filepath.Join(dir, "linked")
	if _, err := m.notices(nil); err == nil || !strings.Contains(err.Error(), "has no licence file") {
		t.Errorf("a module without a licence: %v", err)
	}
}

func TestRenderJoinsEqualTexts(t *testing.T) {
	t.Parallel()
	text := string(render([]notice{{[]string{"b v2"}, "same"}, {[]string{"c v3"}, "other"}, {[]string{"a v1"}, "same"}}))
	if strings.Count(text, "same") != 1 || !strings.Contains(text, "\na v1\nb v2\n---") || strings.Index(text, "other") < strings.Index(text, "same") {
		t.Errorf("got\n%s", text)
	}
}

func TestCheckSums(t *testing.T) {
	t.Parallel()
	const sum = "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0" // of "aaa"
	for _, tt := range []struct{ name, sums, content, want string }{
		{"same", sum + "  made.js\n", "aaa", ""},
		{"changed", sum + "  made.js\n", "aab", "made.js is not what it was"},
		{"gone", sum + "  gone.js\n", "aaa", "gone.js"},
		{"outside", sum + "  ../made.js\n", "aaa", "expected a checksum and a file"},
		{"empty", "", "aaa", "holds no checksum"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, sumsFile, tt.sums)
			write(t, root, "made.js", tt.content)
			err := checkSums(root)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if err := writePictures(root, true); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "gate.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		data, err := p.draw(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 12<<10 {
			t.Errorf("%s has %d bytes, want at most 12 KiB", p.file, len(data))
		}
		if !strings.Contains(string(page), "]("+filepath.Base(p.file)+")") {
			t.Errorf("docs/gate.md does not show %s", p.file)
		}
	}
}
