package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// platforms are the platforms that `make dist` builds for, as GOOS/GOARCH.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// listed is a package in the output of `go list`.
type listed struct {
	Dir    string
	Module *module
}

// module is a linked Go module.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// packages returns the folders of the packages in the binaries of all platforms, by module.
// It leaves out the main module and the standard library.
func packages(root string) (map[module][]string, error) {
	found := map[module][]string{}
	for _, p := range platforms {
		list, err := goList(root, p)
		if err != nil {
			return nil, err
		}
		for _, pkg := range list {
			m := pkg.Module
			if m == nil || m.Main {
				continue
			}
			if m.Replace != nil {
				return nil, fmt.Errorf("%s is replaced, which `go install` does not see", m.Path)
			}
			if !slices.Contains(found[*m], pkg.Dir) {
				found[*m] = append(found[*m], pkg.Dir)
			}
		}
	}
	return found, nil
}

// goList lists the packages that the command needs on a platform.
func goList(root, platform string) ([]listed, error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/proviso")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := output(cmd)
	if err != nil {
		return nil, fmt.Errorf("list the packages for %s: %w", platform, err)
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		switch err := d.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("list the packages for %s: %w", platform, err)
		}
		list = append(list, pkg)
	}
}

// moduleRoot returns the folder that contains go.mod.
func moduleRoot() (string, error) {
	file, err := goEnv("GOMOD")
	if err != nil || filepath.Base(file) != "go.mod" {
		return "", errors.Join(err, errors.New("run it inside the module"))
	}
	return filepath.Dir(file), nil
}

func goEnv(name string) (string, error) {
	out, err := output(exec.Command("go", "env", name))
	return strings.TrimSpace(string(out)), err
}

// output runs a command and returns its output. An error includes the error output.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
