package attacks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso/internal/programtest"
)

// folder is where the first attack that needs the program builds it for the whole test
// run.
var folder string

var built = sync.OnceValues(func() (string, error) { return programtest.Build(folder) })

// TestMain creates the folder for the program and removes it.
func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "proviso-attacks-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// command prepares a call of the built binary in dir, with its own home folder.
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

// write creates the files for an attack.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
