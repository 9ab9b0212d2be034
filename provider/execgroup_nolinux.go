//go:build !linux

package provider

import "os/exec"

// runGroup starts a command and waits for it, as [exec.Cmd.Run] does. The
// command and all that it started are killed when its context ends. These
// systems have no signal for the death of a parent, so the command survives if
// proviso itself is killed.
func runGroup(cmd *exec.Cmd) error {
	killGroup(cmd)
	return cmd.Run()
}
