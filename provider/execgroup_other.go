//go:build !unix

package provider

import (
	"os/exec"
	"strconv"
)

// killGroup kills the command with all that it started when its context ends.
func killGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() // may not be there
		return cmd.Process.Kill()
	}
}
