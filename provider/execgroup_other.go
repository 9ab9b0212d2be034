//go:build !unix

package provider

import (
	"os/exec"
	"strconv"
)

// killGroup makes the end of the context kill the command and all that it
// started.
func killGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() // may not be there
		return cmd.Process.Kill()
	}
}
