//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confinement is the configuration of a process that becomes a host.
type confinement struct {
	Path    string   // the program
	Argv    []string // including its name
	Env     []string
	Read    []string // files and folders that may be read
	Exec    []string // files that may be executed
	Network bool
	Memory  uint64   // bytes of address space, or, if Data is set,
	Data    bool     // of private memory that can be written
	Files   uint64   // maximum number of open files
	Own     bool     // the process is in new namespaces
	Dies    bool     // the process is killed with its parent
	Filter  []byte   // first seccomp filter, unless Single is set
	Single  bool     // use only one filter, made here
	Calls   []uint32 // system calls that this filter allows in addition to the common ones
}

// nobody is the user id that replaces root.
const nobody = 65534

// confine reads a confinement from descriptor 3, applies it, and executes the
// program. It returns only with an error.
//
// The order matters: mounts need capabilities; resource limits and Landlock
// must come before the filter, which blocks their system calls; and nothing may
// be allocated once the limit of the address space applies, which is far below
// what the Go runtime has reserved.
func confine() error {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	c, err := readConfinement()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if c.Own {
		_ = newRoot(slices.Concat(c.Read, c.Exec, []string{"/dev/null"})) // an additional layer, where the kernel permits it
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	for capability := range uintptr(64) {
		if unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) == unix.EINVAL {
			break
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	becomeNobody(c)
	if err := limit(c); err != nil {
		return err
	}
	if err := landlock(c); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	if c.Dies { // set last, because a change of the user resets it
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
			return fmt.Errorf("parent death signal: %w", err)
		}
	}
	return become(c)
}

// readConfinement reads exactly one frame: the bytes after it are for the
// program.
func readConfinement() (*confinement, error) {
	control := os.NewFile(3, "control")
	var size [4]byte
	if _, err := io.ReadFull(control, size[:]); err != nil {
		return nil, err
	}
	n := int(size[0])<<24 | int(size[1])<<16 | int(size[2])<<8 | int(size[3])
	data := make([]byte, min(n, maxFrame))
	if _, err := io.ReadFull(control, data); err != nil {
		return nil, err
	}
	c := new(confinement)
	if err := json.Unmarshal(data[frameHeader:], c); err != nil {
		return nil, err
	}
	runtime.KeepAlive(control)
	_, err := unix.FcntlInt(3, unix.F_SETFD, 0)
	return c, err
}

// becomeNobody gives up root, unless the new user could not read what the program needs, such
// as an interpreter in root's home. Without capabilities and under Landlock, root has no more
// rights than another user.
func becomeNobody(c *confinement) {
	if unix.Geteuid() != 0 {
		return
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, nobody, 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSGID, nobody, 0, 0)
	readable := true
	for _, path := range slices.Concat(c.Read, c.Exec) {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			unix.Close(fd)
		}
		readable = readable && err != unix.EACCES
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, 0, 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSGID, 0, 0, 0)
	if !readable {
		return
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETRESGID, nobody, nobody, nobody)
	_, _, _ = unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
}

// limit sets all resource limits but that of memory, never above the limits of this process. In
// a user namespace the kernel counts only threads inside it, otherwise all threads of the user;
// then the limit leaves room for those.
func limit(c *confinement) error {
	threads := uint64(1024)
	if !c.Own {
		threads = threadsOf(unix.Geteuid()) + 4096
	}
	limits := []struct {
		name  string
		which int
		value uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"fsize", unix.RLIMIT_FSIZE, 0},
		{"nofile", unix.RLIMIT_NOFILE, c.Files},
		{"stack", unix.RLIMIT_STACK, 8 << 20},
		{"memlock", unix.RLIMIT_MEMLOCK, 0},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 0},
		{"nproc", unix.RLIMIT_NPROC, threads},
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(0, l.which, nil, &now); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
		value := min(l.value, now.Max)
		if err := unix.Prlimit(0, l.which, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// threadsOf returns the number of threads of a user that /proc shows.
func threadsOf(uid int) uint64 {
	entries, _ := os.ReadDir("/proc")
	var sum uint64
	for _, e := range entries {
		var owner unix.Stat_t
		if _, err := strconv.Atoi(e.Name()); err != nil || unix.Stat("/proc/"+e.Name(), &owner) != nil || int(owner.Uid) != uid {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, after, _ := strings.Cut(string(stat), ") ") // the name before may contain spaces
		if fields := strings.Fields(after); len(fields) > 17 {
			n, _ := strconv.ParseUint(fields[17], 10, 32)
			sum += n
		}
	}
	return sum
}

// become limits the memory, installs the filter and executes the program, using only system
// calls.
func become(c *confinement) error {
	resource := unix.RLIMIT_AS
	if c.Data {
		resource = unix.RLIMIT_DATA
	}
	var own unix.Rlimit
	if err := unix.Prlimit(0, resource, nil, &own); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	path, err := unix.BytePtrFromString(c.Path)
	if err != nil {
		return err
	}
	argv, err := pointers(c.Argv)
	if err != nil {
		return err
	}
	env, err := pointers(c.Env)
	if err != nil {
		return err
	}
	if err := unix.CloseRange(4, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil { // inherited by the parent itself
		return fmt.Errorf("close_range: %w", err)
	}
	other := path
	if c.Single {
		c.Filter = filterBytes(singleFilter(c, uint64(uintptr(unsafe.Pointer(path)))))
		if other, err = unix.BytePtrFromString("/nonexistent"); err != nil {
			return err
		}
	}
	most := min(c.Memory, own.Max)
	memory := unix.Rlimit{Cur: most, Max: most}
	program := unix.SockFprog{Len: uint16(len(c.Filter) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&c.Filter[0]))}
	message := []byte("the interpreter could not be executed\n")

	_, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(&memory)), 0, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	}
	if errno == 0 && other != path { // the self-test: the filter must block any other execve
		_, _, errno = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(other)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
		if errno == unix.EPERM {
			errno = 0
		}
	}
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	}
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, 2, uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)))
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	return errno
}

// pointers converts strings to the form that the kernel expects.
func pointers(list []string) ([]*byte, error) {
	all := make([]*byte, 0, len(list)+1)
	for _, s := range list {
		p, err := unix.BytePtrFromString(s)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return append(all, nil), nil
}
