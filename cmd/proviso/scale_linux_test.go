package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFromScratch runs the program as the image does: in a file system that contains only the
// binary and two folders, as a user who can write only to these.
func TestFromScratch(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a file system")
	}
	exe := builtStatic(t)
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(exe, filepath.Join(root, "proviso")); err != nil { // the binary is large, and this is the same file system
		t.Fatal(err)
	}
	for _, dir := range []string{"data", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(root, dir), 65532, 65532); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) *exec.Cmd {
		return &exec.Cmd{Path: "/proviso", Args: append([]string{"proviso"}, args...), Dir: "/",
			Env:         []string{"HOME=/data", "XDG_STATE_HOME=/data/state", "XDG_CACHE_HOME=/data/cache", "TMPDIR=/tmp"},
			SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}, Pdeathsig: syscall.SIGKILL}}
	}
	key := run("key", "create", "ops", "--scope", "admin")
	secret, err := key.Output()
	if err != nil {
		t.Fatalf("key create: %v\n%s", err, secret)
	}
	c := run("serve", "--addr", "127.0.0.1:0")
	var log bytes.Buffer
	c.Stdout = &log
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	said := ""
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said += lines.Text() + "\n"
		if m := servingAt.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, errs)
			req, err := http.NewRequestWithContext(t.Context(), "GET", m[1]+"/v1/runs", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("the answer is %s", resp.Status)
			}
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil {
				t.Errorf("stop: %v\n%s", err, &log)
			}
			return
		}
	}
	t.Fatalf("the server did not start: %s%s", said, &log)
}
