//go:build !unix

package provider

import (
	"os/exec"
	"strconv"
)

// killGroup kills the command and its child processes when the context ends.
func killGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() // taskkill may be missing
		return cmd.Process.Kill()
	}
}
