package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_X86_64
	foreignBit = 0x40000000 // marks x32 numbers
	openCall   = unix.SYS_OPEN
	statAt     = unix.SYS_NEWFSTATAT
	fionbio    = 0x5421
	fioclex    = 0x5451
)

// legacyCalls are harmless system calls that newer architectures do not have.
var legacyCalls = []uint32{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS, unix.SYS_POLL, unix.SYS_SELECT,
	unix.SYS_PIPE, unix.SYS_DUP2, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_ALARM, unix.SYS_PAUSE,
	unix.SYS_TIME, unix.SYS_GETPGRP, unix.SYS_GETRLIMIT, unix.SYS_ARCH_PRCTL,
}

// forkCalls start processes, besides clone.
var forkCalls = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
