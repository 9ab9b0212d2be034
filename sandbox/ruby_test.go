package sandbox_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// needRuby skips a test on a machine that has no sandbox or no Ruby.
func needRuby(t testing.TB) {
	t.Helper()
	if !sandbox.KernelSupport().Sandbox() {
		t.Skip("this kernel has no Landlock or no seccomp")
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("there is no ruby")
	}
}

func ruby(form proviso.Form, text string) proviso.Source {
	src := proviso.Source{Language: "ruby", Name: "check.rb", Text: text, Form: form, Params: []string{"output", "context"}}
	if form == proviso.Module {
		src.Entry, src.Params = "get_assert", nil
	}
	return src
}

func TestRubyForms(t *testing.T) {
	t.Parallel()
	needRuby(t)
	dir := t.TempDir()
	write(t, dir, "lib/helper.rb", "module Helper\n  LIMIT = 3\n  def self.short(x) = x.length < LIMIT\nend")
	s := openFor(t, sandbox.Options{Dir: dir, Workers: 1})
	context := value.ObjectOf("vars", value.ObjectOf("name", "Bob", "n", 3.0))
	for _, tc := range []struct {
		form       proviso.Form
		text, want string
	}{
		{proviso.Expression, "output.length > 3 && output.include?('ell')", `true`},
		{proviso.Expression, "context['vars']['n'] * 2", `6`},
		{proviso.Expression, "output =~ /l+/", `2`},
		{proviso.Expression, "[nil, 1.5, :sym, {a: 1}, 'é']", `[null,1.5,"sym",{"a":1},"é"]`},
		{proviso.Body, "x = output.length\nreturn x > 3 if x > 100\nx", `5`},
		{proviso.Body, "{ 'pass' => output == 'hello', 'score' => 0.5, 'reason' => context['vars']['name'] }", `{"pass":true,"score":0.5,"reason":"Bob"}`},
		{proviso.Body, "# nothing", `null`},
		{proviso.Body, "puts 'out'\nwarn 'err'\nprint 1\nSTDOUT.puts 2\n1", `1`},
		{proviso.Body, "JSON.parse('{\"a\": [1]}')", `{"a":[1]}`},
		{proviso.Module, "require 'set'\n@seen = 0\nLIMIT = 4\nclass P < Struct.new(:x); end\ndef helper(o) = o.length > LIMIT\ndef get_assert(output, context)\n  @seen += 1\n  $count = ($count || 0)\n  [helper(output), @seen, P.new(2).x]\nend", `[true,1,2]`},
		{proviso.Module, "require_relative 'helper'\ndef get_assert(output, context) = Helper.short(output)", `false`},
		{proviso.Module, "def get_assert(output, context)\n  [File.read('lib/helper.rb').length, __method__.to_s, File.basename(__FILE__)]\nend", `[68,"get_assert","check.rb"]`},
	} {
		src := ruby(tc.form, tc.text)
		if tc.form == proviso.Module {
			src.File = "lib/check.rb"
		}
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Errorf("%s\n %v", tc.text, err)
			continue
		}
		for range 2 {
			if v, err := f.Call(t.Context(), "hello", context); value.Stringify(v) != tc.want || err != nil {
				t.Errorf("%s\n gives %s %v, want %s", tc.text, value.Stringify(v), err, tc.want)
			}
		}
		_ = f.Close()
	}
	named := ruby(proviso.Module, "module Checks\n  def self.polite(output, context) = output\nend")
	named.Entry = "Checks.polite"
	if v, err := once(t, s, named, "hello", nil); v != "hello" || err != nil {
		t.Errorf("a method of a module: %v %v", v, err)
	}
	if v, err := once(t, s, ruby(proviso.Expression, "0.0 / 0"), "", nil); value.ToString(v) != "NaN" || err != nil {
		t.Errorf("NaN: %v %v", v, err)
	}
}

func TestRubyMistakes(t *testing.T) {
	t.Parallel()
	needRuby(t)
	s := openFor(t, sandbox.Options{Dir: t.TempDir(), Workers: 1})
	for _, tc := range []struct {
		form       proviso.Form
		text, code string
		line       int
		message    string
		syntax     bool
	}{
		{proviso.Expression, "output.length >", "SyntaxError", 0, "", true},
		{proviso.Module, "def get_assert(output, context)\n  x = = 1\nend", "SyntaxError", 2, "", true},
		{proviso.Body, "a = 1\na.nothing", "NoMethodError", 2, "nothing", false},
		{proviso.Module, "def f(x)\n  raise ArgumentError, 'bad ' + x\nend\ndef get_assert(o, c) = f(o)", "ArgumentError", 2, "bad hello", false},
		{proviso.Body, "exit 3", "SystemExit", 1, "", false},
		{proviso.Body, "e = Class.new(StandardError) { def message = raise('x') }\nraise e", "", 2, "cannot be shown", false},
		{proviso.Body, "a = []\na << a\na", "", 0, "", false}, // refused in one way or another
		{proviso.Module, "raise 'at load'\ndef get_assert(o, c) = 1", "RuntimeError", 1, "at load", false},
		{proviso.Body, "require 'nothing_like_this'", proviso.Unavailable, 0, "cannot load such file -- nothing_like_this (packages are not granted)", false},
		{proviso.Module, "def get_asert(o, c) = 1", proviso.NotFound, 0, "check.rb: there is no function get_assert", false},
		{proviso.Body, "loop {}", proviso.Timeout, 0, "ran longer than 300ms", false},
		{proviso.Body, "begin; loop {}; rescue Exception; retry; end", proviso.Timeout, 0, "", false},
		{proviso.Body, "('a' * 30 + 'b') =~ /^(a+)+\\1$/", proviso.Timeout, 0, "", false},
		{proviso.Body, "'x' * (2 << 20)", proviso.Limit, 0, "larger than 1 MB", false},
		{proviso.Body, "('x' * (4 << 30)).length", proviso.Limit, 0, "memory", false},
		{proviso.Body, "raise Errno::ENOMEM", proviso.Limit, 0, "memory", false},
		{proviso.Body, "begin\n  'x' * (4 << 30)\nrescue NoMemoryError\n  raise ArgumentError, 'worse'\nend", proviso.Limit, 0, "memory", false},
		{proviso.Body, "IO::Buffer.new(4 << 30).size", proviso.Limit, 0, "memory", false},
		{proviso.Body, "puts 'about to'\nexit!(7)", proviso.Undecided, 0, "ended with status 7; it printed: about to", false},
		{proviso.Body, "File.read('/etc/passwd')", proviso.Refused, 0, "line 1: blocked by the sandbox", false},
		{proviso.Body, "`true`", proviso.Refused, 0, "blocked by the sandbox", false},
		{proviso.Body, "require 'socket'\nTCPSocket.new('127.0.0.1', 9)", proviso.Refused, 0, "blocked by the sandbox", false},
	} {
		src := ruby(tc.form, tc.text)
		if tc.code == proviso.Timeout {
			src.Timeout = 300 * time.Millisecond
		}
		v, err := once(t, s, src, "hello", nil)
		if tc.code == "" {
			if err == nil {
				t.Errorf("%s\n gives %v", tc.text, v)
			}
			continue
		}
		var thrown *proviso.ScriptError
		if codeOf(err) != tc.code || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s\n gives %v %v (%s), want %s %s", tc.text, v, err, codeOf(err), tc.code, tc.message)
			continue
		}
		if tc.syntax && (!errors.As(err, &thrown) || !thrown.Syntax) || tc.line > 0 && (!errors.As(err, &thrown) || thrown.Line != tc.line) {
			t.Errorf("%s\n gives %+v, want line %d", tc.text, thrown, tc.line)
		}
	}
}
