package suite_test

import (
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// FuzzCases reads any text as cases in JSON Lines. Nothing panics, and every result
// is a case with an id or a mistake with a place.
func FuzzCases(f *testing.F) {
	f.Add(`{"vars":{"q":["a","b"],"d":"file://x"},"assert":[{"type":"contains","value":1,"scope":{"each":"line"}}]}`)
	f.Add(`{"id":1,"repeat":{"n":2,"pass":1},"options":{"repeat":2,"transfrom":1},"providers":["x"],"threshold":"1"}`)
	f.Add(`{"q":1,"__expected":"contains: a","__config:__expected:threshold":"x"}` + "\n[]\n{\n{}")
	f.Add(`{"vars":"*.jsonl","assert":{"type":1}}` + "\n" + `{"assert":[{"check":{"check":{"criteria":[1,{}]}}},"a",null,{"contains":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "tests.jsonl"), []byte(text))
		writeFile(t, filepath.Join(dir, "proviso.yaml"), []byte("{prompts: [hi], providers: [echo], tests: tests.jsonl}"))
		s, mistakes := suite.Read(t.Context(), nil, suite.Options{Facts: facts, Dir: dir, Files: suite.FilesOptions{Confine: true}})
		if s == nil {
			t.Fatal(mistakes)
		}
		// This is how a suite is checked: broken cases are included.
		broken, good := 0, 0
		for c, err := range s.CaseSource.(proviso.CaseChecker).WithBroken().Cases() {
			if c == nil && err == nil || c != nil && (c.ID == "" || c.Index < 0) {
				t.Fatalf("got %v and %v", c, err)
			}
			if c != nil && !c.Broken {
				good++
			}
			if broken++; broken > 1000 {
				break
			}
		}
		n := 0
		defer func() {
			if broken <= 1000 && n <= 1000 && n != good {
				t.Errorf("%d cases without a mistake, %d beside those with one", n, good)
			}
		}()
		for c, err := range s.Cases() {
			if (c == nil) == (err == nil) {
				t.Fatalf("got %v and %v", c, err)
			}
			if err != nil {
				if m := suite.CaseMistake(s, err); m.Message == "" || m.Place.File == "" {
					t.Errorf("a mistake without message or place: %+v from %v", m, err)
				}
				continue
			}
			if c.ID == "" || c.Vars == nil || c.Index != n || c.Repeats < 1 {
				t.Errorf("got %+v", c)
			}
			_ = value.Stringify(c.Raw)
			if n++; n > 1000 {
				return
			}
		}
	})
}
