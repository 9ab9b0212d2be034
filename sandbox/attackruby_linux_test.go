package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// TestRubyAttacks makes the attacks of Python in Ruby, from one source.
func TestRubyAttacks(t *testing.T) {
	t.Parallel()
	needRuby(t)
	inEachMode(t, func(t *testing.T, namespaces bool) {
		p := plant(t)
		s := attacked(t, p, namespaces)
		var text strings.Builder
		text.WriteString("def get_assert(name, context)\ncase name\nwhen 'good' then [42, 'a-b'.split('-').length]\n")
		for _, a := range rubyAttacks() {
			text.WriteString("when '" + a.name + "'\n" + p.replace.Replace(a.text) + "\n")
		}
		text.WriteString("end\nend\n")
		src := ruby(proviso.Module, text.String())
		src.Timeout = time.Second
		f, err := s.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rubyAttacks() {
			v, err := f.Call(t.Context(), a.name, nil)
			got := codeOf(err)
			if err == nil {
				got = value.Stringify(v)
			}
			if !slices.Contains(strings.Fields(a.want), got) {
				t.Errorf("%s gives %.200s (%v), want %s", a.name, got, err, a.want)
			}
			if v, err = f.Call(t.Context(), "good", nil); value.Stringify(v) != "[42,2]" || err != nil {
				t.Errorf("after %s the next call gives %v %v", a.name, v, err)
			}
		}
		p.unchanged(t)
	})
}

func rubyAttacks() []attack {
	return []attack{
		{"read", `File.read('/etc/passwd')`, "refused"},
		{"secret", `File.read('SECRET')`, "refused"},
		{"list", `Dir.children('/') + Dir.children('/tmp')`, "refused"},
		{"link", `File.read('link')`, "refused Errno::ENOENT"},
		{"write", `File.write('/tmp/proviso-attack', 'x')`, "refused"},
		{"write cwd", `File.write('data.txt', 'x')`, "refused"},
		{"unlink", `File.unlink('data.txt')`, "refused"},
		{"mkdir", `Dir.mkdir('x')`, "refused"},
		{"chmod", `File.chmod(0777, 'data.txt')`, "refused"},
		{"environ", `ENV.keys - %w[PATH LANG]`, "[]"},
		{"parent environ", `File.read('/proc/PARENT/environ')`, "refused"},
		{"tcp", "require 'socket'\nTCPSocket.new('127.0.0.1', TCPPORT)", "refused"},
		{"udp", "require 'socket'\nUDPSocket.new.send('x', 0, '127.0.0.1', UDPPORT)", "refused"},
		{"unix", "require 'socket'\nUNIXSocket.new('UNIXPATH')", "refused"},
		{"dns", "require 'socket'\nAddrinfo.getaddrinfo('example.com', 80)", "refused"},
		{"listen", "require 'socket'\nTCPServer.new('127.0.0.1', 0)", "refused"},
		{"fork", "fork { exit!(0) }\n'WORKED'", "refused"},
		{"shell", "`true`", "refused"},
		{"system", "system('true').inspect", `"nil" refused`},
		{"spawn", "spawn('true')\n'WORKED'", "refused"},
		{"exec", "exec('/bin/sh', '-c', 'true')", "refused"},
		{"kill parent", "Process.kill(0, PARENT)\n'WORKED'", "refused"},
		{"kill all", "Process.kill(9, -1)\n'WORKED'", "refused"},
		{"setsid", "Process.setsid\n'WORKED'", "refused"},
		{"limit", "Process.setrlimit(:DATA, Process::RLIM_INFINITY)\n'WORKED'", "refused"},
		{"call", "syscall(MEMFD, 'x', 0)\n'WORKED'", "refused"},
		{"native", "require 'fiddle'\nFiddle::Function.new(Fiddle.dlopen(nil)['fork'], [], Fiddle::TYPE_INT).call", "-1 unavailable"},
		{"segfault", "require 'fiddle'\nFiddle::Pointer.new(1)[0]", "undecided unavailable"},
		{"threads", "200.times { Thread.new { sleep } }\n'few'", `"few" ThreadError limit`},
		{"memory", "a = []\nloop { a << 'x' * (1 << 20) }", "limit timeout"},
		{"exit", "exit!(0)", "undecided"},
		{"forged", "IO.for_fd(3, 'w', autoclose: false).syswrite([13].pack('N') + 'R12345678true')\n1", "undecided"},
		{"patched", "String.define_method(:+) { |o| 'x' }\nJSON.define_singleton_method(:generate) { |*| 'x' }\n'ok'", "undecided"},
		{"at exit", "at_exit { IO.for_fd(3, 'w', autoclose: false).syswrite('x') }\n'ok'", `"ok"`},
		{"flood", "20000.times { puts 'x' * 1000 }\n'done'", `"done"`},
	}
}
