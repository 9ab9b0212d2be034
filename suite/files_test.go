package suite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// folder makes a folder with files whose content is their name.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGlob(t *testing.T) {
	t.Parallel()
	dir := folder(t, "a.txt", "b.txt", "c.md", "d/a.txt", "d/e/a.txt", "d/e/.hidden.txt", "[x].txt", ".git/a.txt", "d/node_modules/a.txt")
	tests := map[string]string{
		"*.txt":                "b.txt a.txt [x].txt",
		"?.txt":                "b.txt a.txt",
		"[ab].txt":             "b.txt a.txt",
		"{a,c}.{txt,md}":       "a.txt c.md",
		"{c.md,d/{a,e/a}.txt}": "c.md d/a.txt d/e/a.txt",
		"**/*.txt":             "b.txt a.txt [x].txt d/a.txt d/e/a.txt",
		"d/**":                 "d/a.txt d/e/a.txt",
		"d/**/a.txt":           "d/a.txt d/e/a.txt",
		"*/a.txt":              "d/a.txt",
		"./d/*.txt":            "d/a.txt",
		"d/../*.md":            "c.md",
		"file://*.md":          "c.md",
		"[x].txt":              "[x].txt",
		"a.txt":                "a.txt",
		"nothing*":             "",
		"d/e/.h*":              "d/e/.hidden.txt",
		"{a,b":                 "",
	}
	files := suite.NewFiles(dir, suite.FilesOptions{})
	for pattern, want := range tests {
		got, err := files.Glob(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s matches %q, want %q", pattern, s, want)
		}
	}
	got, err := files.Glob(filepath.ToSlash(dir) + "/*.md")
	if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], "/c.md") {
		t.Errorf("absolute pattern: %v, %v", got, err)
	}
	if _, err := files.Glob("[a"); err == nil {
		t.Error("a malformed pattern has no error")
	}
}

// TestGlobOrder compares with the order of promptfoo 0.123.1 (glob 13.0.7).
func TestGlobOrder(t *testing.T) {
	t.Parallel()
	var names []string
	for _, stem := range []string{"a/x/1", "a/x/2", "a/y/3", "a/4", "b/5", "b/6", "c/7", "c/d/8", "c/d/e/9", "top", "zed", "a/Z", "b/_u"} {
		names = append(names, stem+".txt", stem+".md")
	}
	files := suite.NewFiles(folder(t, names...), suite.FilesOptions{})
	for pattern, want := range map[string]string{
		"*.txt":               "zed.txt top.txt",
		"a/*":                 "a/Z.txt a/Z.md a/4.txt a/4.md",
		"a/**":                "a/Z.txt a/Z.md a/4.txt a/4.md a/y/3.txt a/y/3.md a/x/2.txt a/x/2.md a/x/1.txt a/x/1.md",
		"**/*.txt":            "zed.txt top.txt c/7.txt c/d/8.txt c/d/e/9.txt b/_u.txt b/6.txt b/5.txt a/Z.txt a/4.txt a/y/3.txt a/x/2.txt a/x/1.txt",
		"{a,b}/*.txt":         "a/Z.txt a/4.txt b/_u.txt b/6.txt b/5.txt",
		"{b,a}/*.txt":         "b/_u.txt b/6.txt b/5.txt a/Z.txt a/4.txt",
		"*/*.txt":             "c/7.txt b/_u.txt b/6.txt b/5.txt a/Z.txt a/4.txt",
		"a/*.{txt,md}":        "a/Z.txt a/Z.md a/4.txt a/4.md",
		"a/{x,y}/*.txt":       "a/x/2.txt a/x/1.txt a/y/3.txt",
		"a/**/[0-9].txt":      "a/4.txt a/y/3.txt a/x/2.txt a/x/1.txt",
		"a/*/*":               "a/y/3.txt a/y/3.md a/x/2.txt a/x/2.md a/x/1.txt a/x/1.md",
		"**/x/*.txt":          "a/x/2.txt a/x/1.txt",
		"{top,a/4,b/5}.txt":   "top.txt a/4.txt b/5.txt",
		"a/x/{1,2}.txt":       "a/x/1.txt a/x/2.txt",
		"a/../b/*.txt":        "b/_u.txt b/6.txt b/5.txt",
		"**/**/*.md":          "zed.md top.md c/7.md c/d/8.md c/d/e/9.md b/_u.md b/6.md b/5.md a/Z.md a/4.md a/y/3.md a/x/2.md a/x/1.md",
		"{c,a}/**/{d,x}/*.md": "c/d/8.md a/x/2.md a/x/1.md",
	} {
		got, err := files.Glob(pattern)
		if s := strings.Join(got, " "); err != nil || s != want {
			t.Errorf("%s\n gives %s %v\n want  %s", pattern, s, err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := folder(t, "tests.yaml", "sub/x.txt", "home/h.txt")
	files := suite.NewFiles(dir, suite.FilesOptions{Shown: "shown", Home: filepath.Join(dir, "home")})
	tests := []struct{ name, want string }{
		{"tests.yaml", "tests.yaml"},
		{"file://sub/x.txt", "sub/x.txt"},
		{"./sub/../sub/x.txt", "sub/x.txt"},
		{filepath.Join(dir, "tests.yaml"), "tests.yaml"},
		{"~/h.txt", "home/h.txt"},
		{"tets.yaml", "! the file shown/tets.yaml does not exist; near tests.yaml"},
		{"evals/tests.yaml", "! the file shown/evals/tests.yaml does not exist; near tests.yaml"},
		{"sub", "! shown/sub is a folder, not a file"},
		{"", "! shown is a folder, not a file"},
		{"a\x00b", "! shown/a\x00b cannot be opened: invalid argument"},
	}
	for _, tt := range tests {
		data, err := files.ReadFile(tt.name)
		got := string(data)
		var e *proviso.Error
		if errors.As(err, &e) {
			got = "! " + err.Error()
			if len(e.Valid) > 0 {
				got += "; near " + e.Valid[0]
			}
		} else if err != nil {
			t.Errorf("%s: %T", tt.name, err)
		}
		if got != tt.want {
			t.Errorf("%q is %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := files.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestConfine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	outside := folder(t, "secret.txt")
	dir := folder(t, "in.txt", "sub/in.txt", ".env", ".git/config", "sub/.hidden/x.txt")
	for link, target := range map[string]string{
		"dotless.txt": ".env", "git": ".git", "absolute.txt": filepath.Join(dir, "in.txt"),
		"out": outside, "out.txt": filepath.Join(outside, "secret.txt"), "within.txt": "in.txt", "sub/up.txt": "../in.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	files := suite.NewFiles(dir, suite.FilesOptions{Confine: true})
	for name, code := range map[string]string{
		"in.txt": "", "within.txt": "", "sub/up.txt": "", filepath.Join(dir, "in.txt"): "",
		"out.txt": proviso.Refused, "out/secret.txt": proviso.Refused, "../x": proviso.Refused,
		filepath.Join(outside, "secret.txt"): proviso.Refused, "sub/../../x": proviso.Refused, "/etc/passwd": proviso.Refused,
		"~/x": proviso.Refused, "none.txt": proviso.NotFound, "file://~": proviso.Refused,
		".env": proviso.Refused, ".git/config": proviso.Refused, "sub/.hidden/x.txt": proviso.Refused,
		"dotless.txt": proviso.Refused, "git/config": proviso.Refused, ".none": proviso.Refused,
	} {
		got := ""
		var e *proviso.Error
		if _, err := files.ReadFile(name); errors.As(err, &e) {
			got = e.Code
		} else if err != nil {
			got = err.Error()
		}
		if got != code {
			t.Errorf("%s: got %q, want %q", name, got, code)
		}
	}
	for pattern, want := range map[string]string{"*.txt": "within.txt out.txt in.txt dotless.txt absolute.txt", "sub/**": "sub/up.txt sub/in.txt"} {
		got, err := files.Glob(pattern)
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s matches %q, %v, want %q", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{
		"../*", "out/*", "/etc/*", "{a,../..}/*", "sub/*/../../../*", "{/etc,sub}/*", ".*", ".git/*", "git/*", "sub/.*/x.txt", "~/*",
	} {
		got, err := files.Glob(pattern)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Refused || len(got) > 0 {
			t.Errorf("%s matches %q, %v, want it refused", pattern, got, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct{ files, want string }{
		{"proviso.yaml", "proviso.yaml"},
		{"promptfooconfig.json promptfooconfig.yml", "promptfooconfig.yml"},
		{"promptfooconfig.yaml promptfooconfig.json", "promptfooconfig.yaml"},
		{"proviso.yaml promptfooconfig.json", proviso.Invalid},
		{"promptfooconfig.js", proviso.Unsupported},
		{"x.yaml", proviso.NotFound},
	}
	for _, tt := range tests {
		dir := folder(t, strings.Fields(tt.files)...)
		got, err := suite.Find(dir)
		var e *proviso.Error
		if errors.As(err, &e) {
			got = e.Code
		} else {
			got = filepath.Base(got)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.files, got, err, tt.want)
		}
	}
}

func TestKeyDocs(t *testing.T) {
	t.Parallel()
	last := suite.KeyDoc{}
	for _, k := range suite.KeyDocs() {
		if k.Doc == "" || k.Key == "" || (k.State == "" && k.Kind == 0) {
			t.Errorf("%+v says too little", k)
		}
		if k.Object == last.Object && k.Key <= last.Key {
			t.Errorf("%s: %s stands after %s", k.Object, k.Key, last.Key)
		}
		last = k
	}
}
