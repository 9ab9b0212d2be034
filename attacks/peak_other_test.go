//go:build !linux

package attacks

import (
	"os/exec"
	"testing"
)

// output runs a command and returns what it prints. Memory is not measured here.
func output(t *testing.T, cmd *exec.Cmd) (out []byte, peak int64, err error) {
	t.Helper()
	out, err = cmd.CombinedOutput()
	return out, 0, err
}
