package attacks

import (
	"os"
	"syscall"
)

// peak is the most memory in bytes that a process has used.
func peak(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
