// Package programtest gives tests the built program. Start at [Build].
package programtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable names the environment variable with the path of a program that is built already.
// `make test` sets it, so that linking happens once and not in every package.
const Variable = "PROVISO_TEST_PROGRAM"

// Build returns the absolute path of the program: what [Variable] names, else one that it
// builds into dir, from the module of the working folder. The error holds what the build
// printed. It is safe for concurrent use with different folders.
func Build(dir string) (string, error) {
	if path := os.Getenv(Variable); path != "" {
		if !filepath.IsAbs(path) {
			return "", fmt.Errorf("%s is %q: want an absolute path", Variable, path)
		}
		if _, err := os.Stat(path); err != nil { // a cached test result depends on the file by this
			return "", fmt.Errorf("%s: %w", Variable, err)
		}
		return path, nil
	}
	path := filepath.Join(dir, "proviso.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "github.com/proviso-eval/proviso/cmd/proviso")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
}
