package provider

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup starts a command and waits for it, as [exec.Cmd.Run] does. The
// command leads a process group, and the whole group is killed when its context
// ends. The kernel kills the command when this process dies for any reason.
//
// The kernel sends that signal when the thread that started the command ends,
// not when the process ends. The goroutine is therefore locked to its thread
// until the command has ended.
func runGroup(cmd *exec.Cmd) error {
	killGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
