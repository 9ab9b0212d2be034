package attacks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built builds the command once for all attacks of a test run.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "proviso-attacks-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "proviso.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", name, "github.com/proviso-eval/proviso/cmd/proviso")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

// TestMain removes what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

// command prepares a call of the built binary in dir, with a home of its own.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	name, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	return cmd
}

// write makes the files of an attack.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
