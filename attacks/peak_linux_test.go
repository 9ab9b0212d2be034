package attacks

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// output runs a command and returns its output and its peak memory in bytes. The kernel's
// own figure (getrusage) is useless here: a new process inherits the peak of its parent.
func output(t *testing.T, cmd *exec.Cmd) (out []byte, peak int64, err error) {
	t.Helper()
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	seen := make(chan int64)
	go func() {
		var most int64
		for {
			most = max(most, highWater(cmd.Process.Pid))
			select {
			case <-done:
				seen <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	return text.Bytes(), <-seen, err
}

// highWater returns the peak memory of a process that runs the command under test, 0 if
// it has ended or not started yet.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	var kib int64
	_, _ = fmt.Sscanf(rest, "%d", &kib)
	return kib << 10
}
