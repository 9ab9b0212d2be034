package sandbox_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// TestWarnOfLacks: code that misses a variable or a program does not always fail where it misses it, so
// a warning says before the first call what the sandbox withholds.
func TestWarnOfLacks(t *testing.T) {
	t.Parallel()
	needNode(t)
	dir := t.TempDir()
	for _, tc := range []struct {
		language, text string
		purpose        proviso.Purpose
		grants         []string
		want           string // "" means no warning
	}{
		{"python", "import os\ndef get_assert(o, c): return os.environ.get('SHOP_KEY') is None", proviso.Deciding, nil, "check reads SHOP_KEY from the environment, which is not granted; to allow it, use --grant env:SHOP_KEY"},
		{"python", "import os\ndef get_assert(o, c): return [os.getenv(\"SHOP_KEY\"), os.environ['SHOP_URL'], os.environ[ 'SHOP_KEY' ]]", proviso.Acting, nil, "SHOP_KEY, SHOP_URL from the environment, which is not granted; to allow it, use --grant env:SHOP_KEY --grant env:SHOP_URL"},
		{"python", "import os\ndef get_assert(o, c): return os.environ['SHOP_KEY'] == 'secret'", proviso.Acting, []string{"SHOP_KEY"}, ""},
		{"python", "import os\ndef get_assert(o, c): return os.environ.get('NOT_SET')", proviso.Acting, nil, ""},
		{"python", "import os\ndef get_assert(o, c): return os.environ.get('SHOP_KEY')", proviso.Synthesised, nil, ""},
		{"python", "import subprocess\ndef get_assert(o, c): return True", proviso.Deciding, nil, "check uses subprocess, but sandboxed code cannot start programs"},
		{"python", "import os\ndef get_assert(o, c): return os.system('true') == 0", proviso.Deciding, nil, "check uses os.system"},
		{"python", "def get_assert(o, c): return 'subprocess' in o", proviso.Deciding, nil, ""},
		{"javascript", "module.exports = () => process.env.SHOP_KEY === undefined", proviso.Acting, nil, "check reads SHOP_KEY from the environment"},
		{"javascript", "const { spawnSync } = require('node:child_process');\nmodule.exports = () => spawnSync('true').stdout === null", proviso.Acting, nil, "check uses child_process, but"},
	} {
		var w warnings
		s := openFor(t, sandbox.Options{Dir: dir, Env: environment("SHOP_KEY", "secret", "SHOP_URL", "x"), Grants: sandbox.Grants{Env: tc.grants}, Warn: w.add})
		for range 2 {
			src := proviso.Source{Language: tc.language, Name: "check", File: "check.js", Text: tc.text, Form: proviso.Module, Purpose: tc.purpose}
			if tc.language == "python" {
				src.File, src.Entry = "check.py", "get_assert"
			}
			if _, err := s.Compile(t.Context(), src); err != nil {
				t.Errorf("%s: %v", tc.text, err)
			}
		}
		if got := strings.Join(w.lines, "\n"); got != tc.want && (tc.want == "" || !strings.Contains(got, tc.want)) || strings.Count(got, "\n") > 0 {
			t.Errorf("%s\n warns %q\n want %q", tc.text, got, tc.want)
		}
	}
}

// TestLackInExceptions: an exception that may come from what the sandbox withholds says so. It
// stays an exception, because the judged output can be part of its message.
func TestLackInExceptions(t *testing.T) {
	t.Parallel()
	needNode(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Env: environment("SHOP_KEY", "secret")})
	for text, want := range map[string]string{
		"return process.env.SHOP_KEY.length > 0":                                                           "--grant env:SHOP_KEY",
		"if (process.env.SHOP_KEY !== output) throw new Error('too short')":                                "",
		"return process.mainModule.require('child_process').spawnSync('true').stdout.toString() === 'yes'": "--sandbox off",
	} {
		f, err := s.Compile(t.Context(), inline(proviso.Body, text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Call(t.Context(), "x", value.Undefined{})
		if want == "" {
			if _, thrown := err.(*proviso.ScriptError); !thrown {
				t.Errorf("%s\n gives %v, want an exception", text, err)
			}
			continue
		}
		if _, thrown := err.(*proviso.ScriptError); !thrown || !strings.Contains(err.Error(), "TypeError: Cannot read properties of") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n gives %v\n want %s", text, err, want)
		}
	}
}

// TestMissingVariable: an exception that names the variable decides nothing. What the output says
// does not matter.
func TestMissingVariable(t *testing.T) {
	t.Parallel()
	need(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Env: environment("SHOP_KEY", "secret")})
	const code = "import os\nif output != '':\n    raise ValueError('no yes in ' + output)\nreturn os.environ['SHOP_KEY'] == ''"
	src := inline(proviso.Body, code)
	src.Language = "python"
	f, err := s.Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(t.Context(), "", value.Undefined{}); codeOf(err) != proviso.Refused || !strings.Contains(err.Error(), "--grant env:SHOP_KEY") {
		t.Errorf("a missing variable gives %v", err)
	}
	for _, output := range []string{"no", "None of these", "SHOP_KEY", "KeyError: 'SHOP_KEY'"} {
		_, err := f.Call(t.Context(), output, value.Undefined{})
		if _, thrown := err.(*proviso.ScriptError); !thrown {
			t.Errorf("%q gives %v, want an exception", output, err)
		}
	}
}
