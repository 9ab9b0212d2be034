package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0
	openCall   = 0 // there is only openat
	statAt     = unix.SYS_NEWFSTATAT
	fionbio    = 0x5421
	fioclex    = 0x5451
)

// legacyCalls are harmless system calls of older architectures.
var legacyCalls = []uint32{unix.SYS_GETRLIMIT}

// forkCalls start processes, besides clone.
var forkCalls []uint32
