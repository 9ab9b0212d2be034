//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the peak resident set of a finished process, in MiB.
func peak(s *os.ProcessState) float64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, KiB elsewhere
		return float64(usage.Maxrss) / (1 << 20)
	}
	return float64(usage.Maxrss) / (1 << 10)
}
