package provider

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup starts a command and waits for it, as its [exec.Cmd.Run] does. The
// command is the leader of a process group, all of which is killed when its context
// ends. The kernel kills the command when this process dies, whatever it dies of.
//
// It does so when the thread ends that has started the command, not the process. A
// goroutine that is locked to its thread keeps the thread for itself until it
// returns, so the thread outlives the command.
func runGroup(cmd *exec.Cmd) error {
	killGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
