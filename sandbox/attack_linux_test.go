package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// attack is Python code that tries something and returns what it got. Names in capitals are
// replaced by what the test has planted.
type attack struct {
	name string
	text string
	want string // error codes or a result, separated by spaces
}

// attackPrelude precedes every attack. A call with "good" is harmless, so that the next call of
// the same source can be checked.
const attackPrelude = `import os, sys
if output == "good":
    return 42
def call(*args):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    r = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return "WORKED %d" % r
`

// attacks are ordered by target: files, secrets, the network, processes, the kernel, resources,
// the protocol.
func attacks() []attack {
	sys := func(format string, numbers ...any) string {
		return "return call(" + fmt.Sprintf(format, numbers...) + ")"
	}
	list := []attack{
		{"read", `return open("/etc/passwd").read()`, "refused"},
		{"read home", `return os.listdir(os.path.dirname("SECRET")) + os.listdir("/root")`, "refused"},
		{"list root", `return os.listdir("/")`, "refused"},
		{"list tmp", `return os.listdir("/tmp")`, "refused"},
		{"link", `return open("link").read()`, "refused FileNotFoundError"},
		{"dots", `return open("../" * 30 + "etc/passwd").read()`, "refused FileNotFoundError"},
		{"proc root", `return open("/proc/self/root/etc/passwd").read()`, "refused"},
		{"secret", `return open("SECRET").read()`, "refused"},
		{"write tmp", `open("/tmp/proviso-attack", "w").write("x")`, "refused"},
		{"write cwd", `open("data.txt", "w").write("x")`, "refused"},
		{"create", `open("new.txt", "w").write("x")`, "refused"},
		{"write shm", `open("/dev/shm/proviso-attack", "w").write("x")`, "refused"},
		{"truncate by reading", `os.close(os.open("data.txt", os.O_RDONLY | os.O_TRUNC)); return "WORKED"`, "refused"},
		{"truncate", `os.truncate("data.txt", 0); return "WORKED"`, "refused"},
		{"unlink", `os.unlink("data.txt"); return "WORKED"`, "refused"},
		{"rename", `os.rename("data.txt", "x"); return "WORKED"`, "refused"},
		{"hard link", `os.link("data.txt", "x"); return "WORKED"`, "refused"},
		{"symlink", `os.symlink("data.txt", "x"); return "WORKED"`, "refused"},
		{"mkdir", `os.mkdir("x"); return "WORKED"`, "refused"},
		{"rmdir", `os.rmdir("empty"); return "WORKED"`, "refused"},
		{"chmod", `os.chmod("data.txt", 0o777); return "WORKED"`, "refused"},
		{"chown", `os.chown("data.txt", 0, 0); return "WORKED"`, "refused"},
		{"utime", `os.utime("data.txt", (1, 1)); return "WORKED"`, "refused"},
		{"xattr", `os.setxattr("data.txt", "user.x", b"x"); return "WORKED"`, "refused"},
		{"mknod", `os.mkfifo("x"); return "WORKED"`, "refused"},
		{"memfd", `return call(MEMFD, b"x", 0)`, "refused"},

		{"environ", `return sorted(k for k in os.environ if k not in ("PATH", "LANG", "LC_CTYPE"))`, "[]"},
		{"parent environ", `return open("/proc/PARENT/environ").read()`, "refused"},
		{"own environ", `return open("/proc/self/environ").read()`, "refused"},
		{"siblings", `return [open("/proc/%s/environ" % p).read() for p in os.listdir("/proc") if p.isdigit()]`, "refused"},
		{"descriptors", "fds = []\nfor fd in range(4, 256):\n    try:\n        os.fstat(fd)\n        fds.append(fd)\n    except OSError:\n        pass\nreturn fds", "[]"},
		{"hunt", "import gc\nfor o in gc.get_objects():\n    r = repr(o) if isinstance(o, (dict, list, tuple)) else ''\n    i = r.find('sk-')\n    while i >= 0:\n        if r.startswith('planted', i + 3):\n            return 'WORKED'\n        i = r.find('sk-', i + 1)\nreturn 'nothing'", `"nothing"`},
		{"memory of others", "import ctypes\nclass V(ctypes.Structure):\n    _fields_ = [('p', ctypes.c_void_p), ('n', ctypes.c_size_t)]\nb = ctypes.create_string_buffer(8)\nl, r = V(ctypes.addressof(b), 8), V(ADDRESS, 8)\nreturn call(VMREAD, PARENT, ctypes.byref(l), 1, ctypes.byref(r), 1, 0)", "refused"},
		{"ptrace", sys("%d, 0x4206, PARENT, 0, 0", unix.SYS_PTRACE), "refused"},
		{"open by handle", sys("%d, -100, b'/etc', 0, 0, 0", unix.SYS_NAME_TO_HANDLE_AT), "refused"},

		{"tcp", "import socket\nsocket.create_connection(('127.0.0.1', TCPPORT)).send(b'x')\nreturn 'WORKED'", "refused"},
		{"udp", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDPPORT))\nreturn 'WORKED'", "refused"},
		{"dns", "import socket\nreturn socket.getaddrinfo('example.com', 80)", "refused"},
		{"unix", "import socket\nsocket.socket(socket.AF_UNIX).connect('UNIXPATH')\nreturn 'WORKED'", "refused"},
		{"unix datagram by a pair", "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', 'UNIXPATH')\nreturn 'WORKED'", "refused"},
		{"unix by a stream pair", "import socket\na, b = socket.socketpair()\na.sendto(b'x', 'UNIXPATH')\nreturn 'WORKED'", "refused"},
		{"abstract", "import socket\nsocket.socket(socket.AF_UNIX).bind('\\0proviso')\nreturn 'WORKED'", "refused"},
		{"listen", "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn 'WORKED'", "refused"},
		{"pass a descriptor", "import socket, array\ns = socket.socket(fileno=3)\ns.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])\nreturn 'WORKED'", "refused undecided"},

		{"fork", `os.fork(); return "WORKED"`, "refused"},
		{"forkpty", `os.forkpty(); return "WORKED"`, "refused OSError FileNotFoundError"},
		{"fork bomb", "n = 0\nfor _ in range(1000):\n    try:\n        os.fork()\n        n += 1\n    except OSError:\n        pass\nreturn n", "0"},
		{"raw clone", sys("%d, 17, 0, 0, 0, 0", unix.SYS_CLONE), "refused"},
		{"clone into a namespace", sys("%d, %d, 0, 0, 0, 0", unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_VM|unix.CLONE_NEWNET), "refused"},
		{"clone3", sys("%d, 0, 0", unix.SYS_CLONE3), "OSError"},
		{"spawn", `os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}); return "WORKED"`, "refused OSError"},
		{"shell", `r = os.system("true"); return "WORKED" if r == 0 else "no"`, `"no"`},
		{"exec", `os.execv("/bin/sh", ["sh", "-c", "true"])`, "refused"},
		{"exec python", `os.execv(sys.executable, [sys.executable, "-c", ""])`, "refused"},
		{"subprocess", "import subprocess\nsubprocess.run(['true'])\nreturn 'WORKED'", "refused"},
		{"multiprocessing", "import multiprocessing\nmultiprocessing.Process(target=print).start()\nreturn 'WORKED'", "refused OSError"},
		{"kill parent", `os.kill(PARENT, 0); return "WORKED"`, "refused"},
		{"kill zygote", `os.kill(os.getppid(), 9); return "WORKED"`, "refused"},
		{"kill all", `os.kill(-1, 9); return "WORKED"`, "refused"},
		{"signal by fcntl", "import fcntl\nfcntl.fcntl(0, fcntl.F_SETOWN, PARENT)\nreturn 'WORKED'", "refused"},
		{"setsid", `os.setsid(); return "WORKED"`, "refused"},
		{"setpgid", `os.setpgid(0, 0); return "WORKED"`, "refused"},

		{"x32", sys("0x%x", 0x40000000+39), "OSError undecided"},
		{"raise a limit", "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nreturn 'WORKED'", "ValueError refused"},
		{"another sandbox's limit", "import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))\nreturn 'WORKED'", "refused"},
		{"terminal", "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x')\nreturn 'WORKED'", "refused OSError"},

		{"forged id", "os.write(3, (9 + 4).to_bytes(4, 'big') + b'R' + b'12345678' + b'true')\nreturn 1", "undecided"},
		{"next id", "import _thread\n_thread.start_new_thread(lambda: [os.write(3, (13).to_bytes(4, 'big') + b'R' + bytes(8) + b'true') for _ in range(100)], ())\nreturn 1", "undecided 1"},
		{"reply twice", "f = sys._getframe()\nwhile 'self' not in f.f_locals or not hasattr(f.f_locals['self'], 'channel'): f = f.f_back\nw = f.f_locals['self']\nfor _ in range(3): w.channel.write(b'R', w.id, b'true')\nreturn False", "undecided true"},
		{"strange kind", "f = sys._getframe()\nwhile 'self' not in f.f_locals or not hasattr(f.f_locals['self'], 'channel'): f = f.f_back\nw = f.f_locals['self']\nw.channel.write(b'Z', w.id, b'true')\nreturn False", "undecided"},
		{"no JSON", "f = sys._getframe()\nwhile 'self' not in f.f_locals or not hasattr(f.f_locals['self'], 'channel'): f = f.f_back\nw = f.f_locals['self']\nw.channel.write(b'R', w.id, b'{')\nreturn False", "undecided"},
		{"forged question", "f = sys._getframe()\nwhile 'self' not in f.f_locals or not hasattr(f.f_locals['self'], 'channel'): f = f.f_back\nw = f.f_locals['self']\nw.channel.write(b'Q', w.id, b'{\"n\": 7}')\nreturn False", "undecided"},
		{"huge length", "os.write(3, b'\\xff' * 8)\nreturn 1", "undecided"},
		{"close the channel", "os.close(3)\nreturn 1", "undecided"},
		{"replace the channel", "os.dup2(0, 3)\nreturn 1", "undecided"},
		{"no reply", "os._exit(0)", "undecided"},
		{"exit", "sys.exit(0)", "SystemExit"},
		{"segfault", "import ctypes\nctypes.string_at(1)", "undecided"},
		{"abort", "os.abort()", "undecided"},
		{"hostile class", "class A:\n    @property\n    def __class__(self): raise ValueError('class')\n    def __bool__(self): raise ValueError('bool')\n    def __getattr__(self, n): raise ValueError('attr')\nreturn A()", "TypeError ValueError"},
		{"exit handlers", "import atexit\natexit.register(lambda: os.write(3, b'x' * 100))\nreturn 'ok'", `"ok"`},
		{"patched modules", "import re, json\nre.search = json.loads = lambda *a, **k: None\nsys.modules['re'] = None\nreturn 'ok'", `"ok"`},
		{"patched builtins", "import builtins\nbuiltins.len = builtins.type = builtins.str = builtins.isinstance = lambda *a: 0\nos.read = os.write = None\nreturn 'ok'", `"ok"`},
	}
	list = append(list, attack{"system calls", refusedCalls(), `"refused"`})
	for name, family := range map[string]int{"netlink": unix.AF_NETLINK, "vsock": unix.AF_VSOCK, "packet": unix.AF_PACKET, "alg": unix.AF_ALG, "inet6": unix.AF_INET6} {
		list = append(list, attack{name, sys("%d, %d, 3, 0", unix.SYS_SOCKET, family), "refused"})
	}
	return list
}

// hogs take time and memory. They do not depend on the user who runs them.
func hogs() []attack {
	return []attack{
		{"4 GB", `return len(bytearray(4 << 30))`, "limit"},
		{"slow memory", "a = []\nwhile True: a.append(bytearray(1 << 20))", "limit timeout"},
		{"loop", "while True: pass", "timeout"},
		{"sleep", "import time\ntime.sleep(60)", "timeout"},
		{"caught", "while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timeout"},
		{"no timer", "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass", "timeout"},
		{"no handler", "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", "timeout"},
		{"handler", "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_DFL)\nwhile True: pass", "timeout undecided"},
		{"backtracking", "import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "timeout"},
		{"numbers", "return pow(7, 10 ** 9) % 10", "timeout limit"},
		{"recursion", "sys.setrecursionlimit(1 << 30)\ndef f(): return f()\nreturn f()", "undecided timeout limit RecursionError"},
		{"flood", "for _ in range(20000): print('x' * 1000)\nreturn 'done'", `"done"`},
		{"flood below", "for _ in range(2000):\n    try: os.write(1, b'x' * 1000)\n    except BlockingIOError: pass\nreturn 'done'", `"done"`},
		{"50 MB", "return 'x' * (50 << 20)", "limit timeout"},
		{"deep", "v = []\nfor _ in range(900): v = [v]\nreturn 'ok' if v else ''", `"ok"`},
		{"half a frame", "os.write(3, (100).to_bytes(4, 'big') + b'R')\nimport time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass", "timeout"},
		{"looping message", "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()", "timeout"},
		{"a thread that goes on", "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start()\nreturn 'started'", `"started"`},
		{"threads", "import threading, time\nts = []\ntry:\n    for _ in range(5000):\n        t = threading.Thread(target=time.sleep, args=(60,), daemon=True)\n        t.start()\n        ts.append(t)\nexcept RuntimeError:\n    pass\nreturn 'WORKED' if len(ts) == 5000 else 'few'", `"few" timeout limit`},
	}
}

// refusedCalls makes system calls that code does not need, one by one, and returns the names of
// those that are not refused.
func refusedCalls() string {
	var text strings.Builder
	text.WriteString("worked = []\n")
	for name, number := range map[string]int{
		"unshare": unix.SYS_UNSHARE, "setns": unix.SYS_SETNS, "mount": unix.SYS_MOUNT, "pivot_root": unix.SYS_PIVOT_ROOT, "chroot": unix.SYS_CHROOT,
		"io_uring": unix.SYS_IO_URING_SETUP, "bpf": unix.SYS_BPF, "perf": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
		"keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "seccomp": unix.SYS_SECCOMP, "landlock": unix.SYS_LANDLOCK_CREATE_RULESET,
		"init_module": unix.SYS_INIT_MODULE, "kexec": unix.SYS_KEXEC_LOAD, "reboot": unix.SYS_REBOOT, "swapon": unix.SYS_SWAPON, "acct": unix.SYS_ACCT,
		"open_tree": unix.SYS_OPEN_TREE, "fsopen": unix.SYS_FSOPEN, "pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
		"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "openat2": unix.SYS_OPENAT2, "execveat": unix.SYS_EXECVEAT, "shmget": unix.SYS_SHMGET,
		"mq_open": unix.SYS_MQ_OPEN, "inotify": unix.SYS_INOTIFY_INIT1, "fanotify": unix.SYS_FANOTIFY_INIT, "setuid": unix.SYS_SETUID,
		"capset": unix.SYS_CAPSET, "sethostname": unix.SYS_SETHOSTNAME, "settimeofday": unix.SYS_SETTIMEOFDAY, "syslog": unix.SYS_SYSLOG,
		"quotactl": unix.SYS_QUOTACTL, "personality": unix.SYS_PERSONALITY, "prctl": unix.SYS_PRCTL, "memfd_secret": 447, "process_madvise": unix.SYS_PROCESS_MADVISE,
		"vmsplice": unix.SYS_VMSPLICE, "setpriority": unix.SYS_SETPRIORITY, "sched_setaffinity": unix.SYS_SCHED_SETAFFINITY, "timer_create": unix.SYS_TIMER_CREATE,
		"mlock": unix.SYS_MLOCK, "kcmp": unix.SYS_KCMP, "listen call": unix.SYS_LISTEN,
	} {
		fmt.Fprintf(&text, "try: worked.append(%q + call(%d, 0, 0, 0, 0, 0, 0))\nexcept PermissionError: pass\nexcept Exception as e: worked.append(%q + repr(e))\n", name, number, name)
	}
	return text.String() + "return worked or 'refused'"
}

// planted is the target of attacks, and shows whether they reached it.
type planted struct {
	dir, secret string
	replace     *strings.Replacer
	reached     atomic.Int32 // connections and packets
}

func plant(t *testing.T) *planted {
	t.Helper()
	root := t.TempDir()
	for d := root; d != "/" && d != "/tmp"; d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755) // so that the sandbox and not the file mode blocks access
	}
	p := &planted{dir: filepath.Join(root, "suite"), secret: filepath.Join(root, "secrets", "key")}
	write(t, p.dir, "data.txt", "data")
	write(t, filepath.Dir(p.secret), "key", "planted secret")
	for _, err := range []error{os.Mkdir(filepath.Join(p.dir, "empty"), 0o777), os.Symlink(p.secret, filepath.Join(p.dir, "link")), os.Chmod(p.dir, 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(root, "s")
	datagrams, err := net.ListenPacket("unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []io.Closer{tcp, udp, datagrams} {
		t.Cleanup(func() { _ = c.Close() })
	}
	_ = os.Chmod(socket, 0o777)
	go func() {
		if _, err := tcp.Accept(); err == nil {
			p.reached.Add(1)
		}
	}()
	for _, c := range []net.PacketConn{udp, datagrams} {
		go func() {
			if n, _, _ := c.ReadFrom(make([]byte, 16)); n > 0 {
				p.reached.Add(1)
			}
		}()
	}
	address := new([8]byte)
	p.replace = strings.NewReplacer("SECRET", p.secret, "PARENT", fmt.Sprint(os.Getpid()), "ADDRESS", fmt.Sprintf("%p", address),
		"TCPPORT", fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port), "UDPPORT", fmt.Sprint(udp.LocalAddr().(*net.UDPAddr).Port), "UNIXPATH", socket,
		"MEMFD", fmt.Sprint(unix.SYS_MEMFD_CREATE), "VMREAD", fmt.Sprint(unix.SYS_PROCESS_VM_READV))
	return p
}

// unchanged reports what attacks did to the host.
func (p *planted) unchanged(t *testing.T) {
	t.Helper()
	if n := p.reached.Load(); n != 0 {
		t.Errorf("%d connections or packets arrived", n)
	}
	var names []string
	entries, err := os.ReadDir(p.dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != "data.txt empty link" {
		t.Errorf("the folder holds %s, %v", got, err)
	}
	data, err := os.ReadFile(filepath.Join(p.dir, "data.txt"))
	info, statErr := os.Stat(filepath.Join(p.dir, "data.txt"))
	if string(data) != "data" || err != nil || statErr != nil || info.Mode().Perm() != 0o644 || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("data.txt is %q, %v", data, info.Mode())
	}
	for _, path := range []string{"/tmp/proviso-attack", "/dev/shm/proviso-attack"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	need(t)
	inEachMode(t, attackAll)
}

// everyMode makes the attacks in every configuration of a sandbox, as `make test-slow` does.
// `make test` makes each attack once, in the most common configuration.
var everyMode = os.Getenv("PROVISO_TEST_SLOW") != ""

// inEachMode makes attacks in namespaces and, with [everyMode], without them.
func inEachMode(t *testing.T, attack func(t *testing.T, namespaces bool)) {
	for name, namespaces := range map[string]bool{"namespaces": true, "no namespaces": false} {
		if !namespaces && !everyMode {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attack(t, namespaces)
		})
	}
}

func attackAll(t *testing.T, namespaces bool) {
	p := plant(t)
	o := sandbox.Options{
		Dir: p.dir, Timeout: 3 * time.Second, Workers: 8, Ask: asker,
		Env: environment("OPENAI_API_KEY", "sk-"+"planted", "HOME", filepath.Dir(p.secret)),
	}
	o = sandbox.Grace(o, 300*time.Millisecond) // code that cannot be interrupted computes until then
	if !namespaces {
		o = sandbox.NoNamespaces(o)
	}
	s := open(t, o)
	probe := compile(t, s, proviso.Body, "import re, json\nreturn [len(output), bool(re.search('o', output)), json.loads('1')]")
	t.Run("each", func(t *testing.T) {
		list := attacks()
		if !testing.Short() {
			list = append(list, hogs()...)
		}
		for _, a := range list {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				try(t, s, p.replace.Replace(attackPrelude+a.text), a.want)
				if v, err := probe.Call(t.Context(), "hello"); value.Stringify(v) != "[5,true,1]" || err != nil {
					t.Errorf("afterwards another source gives %v %v", value.Stringify(v), err)
				}
			})
		}
	})
	p.unchanged(t)
	hosts := s.Hosts()
	_ = s.Close()
	for _, h := range hosts {
		noneLeft(t, h.Process.Pid)
	}
}

// noneLeft waits until no process of a group is alive.
func noneLeft(t *testing.T, group int) {
	t.Helper()
	var left []string
	for range 500 {
		left = nil
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range stats {
			data, _ := os.ReadFile(name)
			fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // state, parent, group
			if len(fields) > 2 && fields[2] == fmt.Sprint(group) && fields[0] != "Z" && fields[0] != "X" {
				left = append(left, string(data))
			}
		}
		if left == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("processes are left: %q", left)
}

// try makes one attack, and then calls the same source harmlessly.
func try(t *testing.T, s *sandbox.Sandbox, text, want string) {
	src := source(proviso.Body, text)
	if strings.Contains(want, "timeout") {
		src.Timeout = 150 * time.Millisecond
	}
	f, err := s.Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := f.Call(t.Context(), "bad", nil)
	got := codeOf(err)
	if err == nil {
		got = value.Stringify(v)
	}
	if !slices.Contains(strings.Fields(want), got) {
		t.Errorf("gives %.200s (%v), want %s", got, err, want)
	}
	v, err = f.Call(t.Context(), "good", nil)
	for range 20 {
		if codeOf(err) != proviso.Timeout { // a busy machine
			break
		}
		v, err = f.Call(t.Context(), "good", nil)
	}
	if v != 42.0 || err != nil {
		t.Errorf("the next call gives %v %v", v, err)
	}
}

// TestAttacksAsNobody runs the attacks as an ordinary user.
func TestAttacksAsNobody(t *testing.T) {
	t.Parallel()
	need(t)
	if !everyMode {
		t.Skip("`make test-slow` runs this")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("/tmp", "proviso-nobody")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "sandbox.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.WriteFile(exe, data, 0o755), os.Chmod(dir, 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^(TestAttacks|TestForms|TestNodeAttacks|TestRubyAttacks)$", "-test.short", "-test.timeout=100s")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "PROVISO_TEST_SLOW=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
