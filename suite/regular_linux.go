package suite

import (
	"os"
	"slices"
	"syscall"
)

// nonblocking keeps opening a pipe from waiting for a writer.
const nonblocking = syscall.O_NONBLOCK

// kernelSystems are the file systems whose files the kernel generates while they are
// read, by their magic numbers (statfs(2)): proc, sysfs, debugfs, tracefs, cgroup,
// cgroup2, pstore, bpf, securityfs, efivarfs.
var kernelSystems = [...]int64{0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270, 0x6165676c, 0xcafe4a11, 0x73636673, 0xde5e81e4}

// ofKernel reports whether a file is on one of those file systems: it looks like a
// regular file, but reading it may block forever or have side effects.
func ofKernel(f *os.File) bool {
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &s) == nil && slices.Contains(kernelSystems[:], int64(s.Type)) //nolint:unconvert // 32 bits elsewhere
}
