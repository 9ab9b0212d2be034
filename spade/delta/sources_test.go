package delta_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/delta"
)

func TestReadFolder(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	dir := t.TempDir()
	for name, text := range map[string]string{
		outside: "secret", filepath.Join(dir, "v10.txt"): "Be kind.", filepath.Join(dir, "v2.txt"): "Be.", filepath.Join(dir, ".hidden"): "x",
		filepath.Join(dir, "v3.jsonl"): "{\"template\":\"a\",\"name\":\"first\"}\n{\"template\":\"b\",\"name\":\"second\"}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o700), os.Symlink(outside, filepath.Join(dir, "v1.txt"))); err != nil {
		t.Fatal(err)
	}
	list, notes, err := delta.ReadFolder(dir, nil)
	var names []string
	for _, v := range list {
		names = append(names, v.Name+"="+v.Text)
	}
	if want := []string{"v2.txt=Be.", "v3.jsonl: first=a", "v3.jsonl: second=b", "v10.txt=Be kind."}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if text := strings.Join(notes, "\n"); len(notes) != 2 || !strings.Contains(text, "leads out of the folder") || !strings.Contains(text, "sub is left out") {
		t.Errorf("%q", notes)
	}
	if err := os.WriteFile(filepath.Join(dir, "v4.jsonl"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mistakes proviso.Mistakes
	if _, notes, err := delta.ReadFolder(dir, nil); !errors.As(err, &mistakes) || len(notes) == 0 {
		t.Errorf("%v, %q", err, notes)
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(dir, "nowhere")} {
		if _, _, err := delta.ReadFolder(dir, nil); err == nil {
			t.Errorf("%s is read", dir)
		}
	}
}

func TestOfSuite(t *testing.T) {
	t.Parallel()
	list, notes := delta.OfSuite(&proviso.Suite{Prompts: []proviso.Prompt{
		{Label: "old", Raw: "Be."}, {Raw: `[{"role":"system","content":"Be kind."}]`}, {Label: "made", Script: &proviso.Generator{}},
	}})
	want := []delta.Version{{Name: "old", Text: "Be."}, {Name: "prompt 2", Text: "system:\nBe kind."}}
	if !reflect.DeepEqual(list, want) || len(notes) != 1 {
		t.Errorf("%+v, %q", list, notes)
	}
}
