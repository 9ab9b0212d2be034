//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// A rule of a filter matches a system call by its number and, if it has tests,
// by its arguments: all tests must hold.
type rule struct {
	call  uint32
	tests []test
}

// test compares an argument, under a mask.
type test struct {
	arg   int
	mask  uint32 // 0 means all bits
	value uint32
	not   bool // the test holds if they differ
	high  bool // compare the upper half of the argument
}

func eq(arg int, value uint32) test { return test{arg: arg, value: value} }
func ne(arg int, value uint32) test { return test{arg: arg, value: value, not: true} }

func bits(arg int, mask, value uint32) test { return test{arg: arg, mask: mask, value: value} }

// null returns tests that hold if a pointer is nil.
func null(arg int) []test { return []test{eq(arg, 0), {arg: arg, high: true}} }

// Offsets in struct seccomp_data.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// assemble builds a BPF program: a system call that matches a rule gets the action, any other
// the default. Foreign architectures and x32 numbers are killed. clone3, whose flags a filter
// cannot see, fails as not implemented, so that the C library uses clone.
func assemble(rules []rule, action, otherwise uint32) []unix.SockFilter {
	const (
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jeq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		and  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
	)
	p := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: jeq, K: auditArch, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: dataCall},
	}
	if foreignBit != 0 {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: foreignBit, Jf: 1},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS})
	}
	p = append(p, unix.SockFilter{Code: jeq, K: unix.SYS_CLONE3, Jf: 1},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	for _, r := range rules {
		if len(r.tests) == 0 {
			p = append(p, unix.SockFilter{Code: jeq, K: r.call, Jf: 1}, unix.SockFilter{Code: ret, K: action})
			continue
		}
		var body []unix.SockFilter
		for _, t := range r.tests {
			offset := uint32(dataArgs + 8*t.arg)
			if t.high {
				offset += 4
			}
			body = append(body, unix.SockFilter{Code: load, K: offset})
			if t.mask != 0 {
				body = append(body, unix.SockFilter{Code: and, K: t.mask})
			}
			body = append(body, unix.SockFilter{Code: jeq, K: t.value})
		}
		body = append(body, unix.SockFilter{Code: ret, K: action})
		n, at := len(body), 0
		for i := range body { // a failed test jumps past the rule
			if body[i].Code != jeq {
				continue
			}
			if away := uint8(n - i - 1); r.tests[at].not {
				body[i].Jt = away
			} else {
				body[i].Jf = away
			}
			at++
		}
		p = append(p, unix.SockFilter{Code: jeq, K: r.call, Jf: uint8(n)})
		p = append(append(p, body...), unix.SockFilter{Code: load, K: dataCall})
	}
	return append(p, unix.SockFilter{Code: ret, K: otherwise})
}

// filterBytes converts a program to the form that the kernel expects.
func filterBytes(program []unix.SockFilter) []byte {
	var b []byte
	for _, f := range program {
		b = binary.NativeEndian.AppendUint16(b, f.Code)
		b = append(b, f.Jt, f.Jf)
		b = binary.NativeEndian.AppendUint32(b, f.K)
	}
	return b
}

const (
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	allow  = unix.SECCOMP_RET_ALLOW
)

// harmless returns the system calls that all code may make, those of every assertion first.
func harmless() []uint32 {
	return []uint32{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_SETITIMER, unix.SYS_GETRUSAGE, unix.SYS_RT_SIGRETURN, unix.SYS_FUTEX,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_BRK, unix.SYS_MADVISE, unix.SYS_MPROTECT, unix.SYS_MREMAP,
		unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES, unix.SYS_GETITIMER,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_FSTAT, unix.SYS_STATX,
		unix.SYS_LSEEK, unix.SYS_GETDENTS64, unix.SYS_READLINKAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, statAt,
		unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_FSTATFS, unix.SYS_STATFS, unix.SYS_FADVISE64,
		unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_EVENTFD2, unix.SYS_UMASK,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND,
		unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETPRIORITY, unix.SYS_GETCPU, unix.SYS_MEMBARRIER,
		unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ,
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
		unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_CAPGET,
		unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRANDOM, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
		unix.SYS_RECVFROM, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_GETSOCKOPT,
	}
}

// hostFilter is the first filter: it allows what a host needs to start an interpreter and to
// fork. If the kernel lacks Landlock's truncation right, files can only be opened for reading.
func hostFilter(network, readOnly bool, extra []uint32) []unix.SockFilter {
	rules := commonRules(network, readOnly, extra)
	for _, call := range slices.Concat(hostOnly, forkCalls) {
		rules = append(rules, rule{call: call})
	}
	return assemble(rules, allow, refuse)
}

// singleFilter is the filter of a program that cannot add a second one, such as Node: it allows
// what hostFilter allows, without processes, programs and signals to others. The only execve
// that it allows is that of the program itself, identified by the current address of its path,
// which is unmapped after the execution. Native code that maps a path there can execute what
// Landlock allows, which is the interpreter again, in the same sandbox.
func singleFilter(c *confinement, path uint64) []unix.SockFilter {
	rules := commonRules(c.Network, landlockABI() < 3, c.Calls)
	rules = append(rules,
		rule{unix.SYS_EXECVE, []test{eq(0, uint32(path)), {arg: 0, value: uint32(path >> 32), high: true}}},
		rule{unix.SYS_CLONE, []test{bits(0, unix.CLONE_THREAD|newNamespaces, unix.CLONE_THREAD)}},
		rule{unix.SYS_TGKILL, []test{eq(0, uint32(unix.Getpid()))}}, // to itself, for abort and for interrupting threads
		rule{unix.SYS_PRCTL, []test{eq(0, unix.PR_SET_NAME)}},
	)
	if c.Network {
		rules = append(rules, rule{call: unix.SYS_RECVMSG})
	}
	return assemble(rules, allow, refuse)
}

// commonRules returns the rules of both filters.
func commonRules(network, readOnly bool, extra []uint32) []rule {
	var rules []rule
	for _, list := range [][]uint32{harmless(), legacyCalls, extra} {
		for _, call := range list {
			rules = append(rules, rule{call: call})
		}
	}
	for _, cmd := range []uint32{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETPIPE_SZ, unix.F_GETLK, unix.F_SETLK} {
		rules = append(rules, rule{unix.SYS_FCNTL, []test{eq(1, cmd)}}) // not F_SETOWN, which sends signals
	}
	for _, cmd := range []uint32{unix.TCGETS, unix.TIOCINQ, fionbio, fioclex, unix.TIOCGWINSZ} {
		rules = append(rules, rule{unix.SYS_IOCTL, []test{eq(1, cmd)}})
	}
	const opens = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC
	if readOnly {
		rules = append(rules, rule{unix.SYS_OPENAT, []test{bits(2, opens, 0)}})
		if openCall != 0 {
			rules = append(rules, rule{openCall, []test{bits(1, opens, 0)}})
		}
	} else {
		rules = append(rules, rule{call: unix.SYS_OPENAT})
		if openCall != 0 {
			rules = append(rules, rule{call: openCall})
		}
	}
	stream := []test{eq(0, unix.AF_UNIX), bits(1, ^uint32(unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC), unix.SOCK_STREAM)}
	rules = append(rules,
		rule{unix.SYS_PRLIMIT64, append([]test{eq(0, 0)}, null(2)...)}, // reading its own limits
		rule{unix.SYS_SOCKETPAIR, stream},                              // used by event loops to wake themselves
		rule{unix.SYS_SENDTO, null(4)},                                 // without an address, so only on a connected socket
	)
	if network {
		for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
			rules = append(rules, rule{unix.SYS_SOCKET, []test{eq(0, family)}})
		}
		for _, call := range []uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_RECVMMSG, unix.SYS_SETSOCKOPT} {
			rules = append(rules, rule{call: call})
		}
	}
	return rules
}

// hostOnly are system calls of a host that the second filter blocks for its
// workers.
var hostOnly = []uint32{
	unix.SYS_CLONE, unix.SYS_EXECVE, unix.SYS_WAIT4, unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_PRCTL, unix.SYS_SECCOMP, unix.SYS_RECVMSG,
}

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// workerFilter is the second filter, which a worker adds before it reads its
// source: no processes, no programs, no signals.
func workerFilter(network bool) []unix.SockFilter {
	rules := []rule{
		{call: unix.SYS_EXECVE}, {call: unix.SYS_EXECVEAT}, {call: unix.SYS_KILL}, {call: unix.SYS_TKILL}, {call: unix.SYS_TGKILL},
		{call: unix.SYS_SECCOMP},
		{unix.SYS_PRCTL, []test{ne(0, unix.PR_SET_NAME)}},
		{unix.SYS_CLONE, []test{bits(0, unix.CLONE_THREAD, 0)}},
		{unix.SYS_CLONE, []test{{arg: 0, mask: newNamespaces, not: true}}},
	}
	for _, call := range forkCalls {
		rules = append(rules, rule{call: call})
	}
	if !network {
		rules = append(rules, rule{call: unix.SYS_RECVMSG})
	}
	return assemble(rules, refuse, allow)
}
