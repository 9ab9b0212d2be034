//go:build unix

package provider

import (
	"os/exec"
	"syscall"
)

// killGroup makes the command the leader of a process group, and kills the whole group when the
// context ends.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
