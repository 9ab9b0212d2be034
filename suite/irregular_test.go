//go:build unix

package suite_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// TestIrregularFiles: everything that is not a file with an end is refused, even in a
// trusted suite, and nothing blocks on it.
func TestIrregularFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "s") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	socket := filepath.Join(short, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	names := []string{"pipe", socket, "/dev/zero", "/dev/tty"}
	if runtime.GOOS == "linux" {
		if err := os.Symlink("/proc/kmsg", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		names = append(names, "/proc/kmsg", "/proc/self/environ", "link", "/sys/kernel/uevent_seqnum")
	}
	for _, confine := range []bool{false, true} {
		files := suite.NewFiles(dir, suite.FilesOptions{Confine: confine})
		for _, name := range names {
			if _, err := os.Stat(name); name != "pipe" && name != "link" && err != nil {
				continue // not available on this system
			}
			_, err := files.ReadFile("file://" + name)
			var e *proviso.Error
			if !errors.As(err, &e) || e.Code != proviso.Invalid && e.Code != proviso.Refused {
				t.Errorf("%s, confined %v: %v", name, confine, err)
			}
			if !confine && os.Geteuid() == 0 && name != "/dev/tty" && !strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
