//go:build !linux

package provider

import "os/exec"

// runGroup starts a command and waits for it, as [exec.Cmd.Run] does. When its context ends, the
// command and its child processes are killed. These systems have no signal for the death of a
// parent, so the command survives if proviso itself is killed.
func runGroup(cmd *exec.Cmd) error {
	killGroup(cmd)
	return cmd.Run()
}
