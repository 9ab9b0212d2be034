package sandbox_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// TestCutOff: a file that the sandbox blocks does not lead to a verdict. The
// message names the grant that helps, and that grant works.
func TestCutOff(t *testing.T) {
	t.Parallel()
	needNode(t)
	project := t.TempDir()
	write(t, project, "app/core.py", "x = 1")
	write(t, project, "one.py", "x = 1")
	write(t, project, "src/lib.js", "exports.two = 2")
	write(t, project, "data/a.json", "1")
	write(t, project, ".secret/key", "1")
	write(t, project, "evals/beside.js", "exports.three = 3")
	const cut = "the sandbox blocks it; to allow it, use --grant read:"
	const climb = "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n"
	opened := map[string]*sandbox.Sandbox{} // by what it grants
	for _, tc := range []struct{ file, text, message, grant string }{
		{"a.py", climb + "from app.core import x\ndef get_assert(o, c): return x == 1", "No module named 'app' (" + cut + "..)", ".."},
		{"a.py", climb + "def get_assert(o, c):\n  import app.core\n  return True", "line 4: No module named 'app' (" + cut + "..", ".."},
		{"a.py", "from app.core import x\ndef get_assert(o, c): return x == 1", "No module named 'app' (" + cut + "..)", ".."},
		{"a.py", "import one\ndef get_assert(o, c): return one.x == 1", "No module named 'one' (" + cut + "..)", ".."},
		{"a.js", "// the library\nconst { two } = require('../src/lib');\nmodule.exports = () => two === 2", "Cannot find module '../src/lib' (" + cut + "../src)", "../src"},
		{"a.mjs", "import lib from '../src/lib.js';\nexport default () => lib.two === 2", cut + "../src)", "../src"},
		{"a.py", "def get_assert(o, c): return len(open('../data/a.json').read()) > 0", cut + "../data/a.json)", "../data/a.json"},
		{"a.js", "module.exports = () => require('fs').readFileSync('../data/a.json').length > 0", cut + "../data/a.json)", "../data/a.json"},
		{"a.py", "def get_assert(o, c): return open('../.secret/key')", "", ""},
		{"a.py", "def get_assert(o, c): return open('../data/none')", "", ""},
		{"a.py", "import nothing_of_the_kind\ndef get_assert(o, c): return True", "(packages are not granted)", ""},
		{"a.py", "import subprocess\ndef get_assert(o, c): return subprocess.run(['true'])", "sandboxed code cannot start programs", ""},
		{"a.js", "module.exports = () => require('child_process').execSync('true')", "sandboxed code cannot start programs", ""},
		{"a.py", "import socket\ndef get_assert(o, c): return socket.create_connection(('127.0.0.1', 9))", "--grant network", ""},
	} {
		call := func(grant string) (any, error) {
			if opened[grant] == nil {
				o := sandbox.Options{Dir: project + "/evals", Workers: 1}
				if grant != "" {
					o.Grants.Read = []string{grant}
				}
				opened[grant] = openFor(t, o)
			}
			src := proviso.Source{Language: "javascript", Name: tc.file, File: tc.file, Text: tc.text, Form: proviso.Module, Purpose: proviso.Deciding}
			if strings.HasSuffix(tc.file, ".py") {
				src.Language, src.Entry = "python", "get_assert"
			}
			f, err := opened[grant].Compile(t.Context(), src)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return f.Call(t.Context(), "x", value.NewObject(0))
		}
		_, err := call("")
		var e *proviso.Error
		isError := errors.As(err, &e)
		if err == nil || isError != (tc.message != "") || !strings.Contains(err.Error(), tc.message) || tc.grant == "" && strings.Contains(err.Error(), "--grant read") {
			t.Errorf("%s\n gives %v\n want %s", tc.text, err, tc.message)
		}
		if tc.grant == "" {
			continue
		}
		if v, err := call(tc.grant); v != true {
			t.Errorf("%s\n with read:%s gives %v %v", tc.text, tc.grant, v, err)
		}
	}
}
