package sandbox_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// TestImportOutside holds that an import which only the sandbox stands in the way of
// names the grant that helps, and that the grant does.
func TestImportOutside(t *testing.T) {
	t.Parallel()
	needNode(t)
	root := t.TempDir()
	dir := filepath.Join(root, "evals")
	write(t, root, "app/core.py", "two = 2")
	write(t, root, "src/lib.js", "module.exports = { two: 2 }")
	write(t, dir, "here.js", "")
	python := func(text string) proviso.Source {
		return proviso.Source{
			Language: "python", Name: "check.py", File: "check.py",
			Text: "import sys\nsys.path.insert(0, '" + root + "')\n" + text, Form: proviso.Module, Entry: "get_assert",
		}
	}
	script := func(text string) proviso.Source {
		return nodeSource("check.js", text, "")
	}
	for _, tc := range []struct {
		src  proviso.Source
		hint string // the folder that is named, "" if none is
	}{
		{python("from app.core import two\ndef get_assert(output, context): return two"), ".."},
		{python("import nothing_like_this\ndef get_assert(output, context): return 2"), ""},
		{script("const { two } = require('../src/lib'); module.exports = () => two"), "../src"},
		{script("const { two } = require('./gone'); module.exports = () => two"), ""},
		{script("const { two } = require('../src/gone'); module.exports = () => two"), ""},
	} {
		s := openFor(t, sandbox.Options{Dir: dir})
		_, err := once(t, s, tc.src, "", proviso.ObjectOf())
		if err == nil {
			t.Errorf("%s\n runs without a grant", tc.src.Text)
			continue
		}
		want := "--grant read:" + tc.hint + " "
		if tc.hint == "" {
			if strings.Contains(err.Error(), "--grant read") {
				t.Errorf("%s\n gives %v", tc.src.Text, err)
			}
			continue
		}
		if codeOf(err) != proviso.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n gives %v, want %s", tc.src.Text, err, want)
			continue
		}
		s = openFor(t, sandbox.Options{Dir: dir, Grants: sandbox.Grants{Read: []string{tc.hint}}})
		if v, err := once(t, s, tc.src, "", proviso.ObjectOf()); v != 2.0 || err != nil {
			t.Errorf("%s\n with its grant gives %v %v", tc.src.Text, v, err)
		}
	}
}
