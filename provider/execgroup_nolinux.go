//go:build !linux

package provider

import "os/exec"

// runGroup starts a command and waits for it, as its [exec.Cmd.Run] does. The
// command is killed with all that it started when its context ends. Where the kernel
// has no signal for the death of a parent, it outlives a proviso that is killed.
func runGroup(cmd *exec.Cmd) error {
	killGroup(cmd)
	return cmd.Run()
}
