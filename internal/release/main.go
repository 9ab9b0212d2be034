// Command release makes what a release consists of: the binaries of every platform, a
// list of their parts (SPDX), a Homebrew formula, npm packages, checksums of all of them
// and a signature of the checksums. Start at make; `make dist` runs it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// keyVariable is the environment variable with the signing key: an Ed25519 key in OpenSSH
// format, without a passphrase.
const keyVariable = "PROVISO_SIGNING_KEY"

// release is one release and where to build it.
type release struct {
	dir       string // folder for the files
	source    string // folder that contains go.mod
	version   string // "v1.2.0", or any name for a build that is no release
	made      time.Time
	platforms []string // GOOS/GOARCH
	key       string   // OpenSSH private key; "" signs nothing
	say       func(format string, args ...any)
}

func main() {
	dir := flag.String("dir", "dist", "folder to write, which is removed first")
	version := flag.String("version", "devel", "name of the release, such as v1.2.0")
	made := flag.String("time", "1970-01-01T00:00:00Z", "time of the commit, by RFC 3339, so that the files depend on the commit alone")
	flag.Parse()
	at, err := time.Parse(time.RFC3339, *made)
	r := release{dir: *dir, source: ".", version: *version, made: at.UTC(), platforms: platforms(), key: os.Getenv(keyVariable),
		say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	if err == nil && !versionName.MatchString(r.version) {
		err = fmt.Errorf("-version %q: expected letters, digits, dots and hyphens", r.version)
	}
	if err == nil {
		err = os.RemoveAll(r.dir)
	}
	if err == nil {
		err = r.make()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// platforms returns the platforms of a release.
func platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

// make creates all files. The order matters: each step reads the output of earlier steps.
func (r *release) make() error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	var binaries []binary
	for _, p := range r.platforms {
		r.say("build %s", p)
		b, err := r.build(p)
		if err != nil {
			return err
		}
		binaries = append(binaries, b)
	}
	if err := r.writeParts(binaries); err != nil {
		return err
	}
	if semantic.MatchString(r.version) {
		if err := errors.Join(r.writeFormula(binaries), r.writePackages(binaries), r.writePanel()); err != nil {
			return err
		}
	} else {
		r.say("%q is not a release version such as v1.2.0: the formula and the npm packages are not made", r.version)
	}
	if err := r.writeSums(); err != nil {
		return err
	}
	return r.sign()
}

var versionName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)

var semantic = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// number returns the version without the leading letter.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// address returns the download address of a file of the release.
func (r *release) address(name string) string {
	return "https://github.com/proviso-eval/proviso/releases/download/" + r.version + "/" + name
}

// binary is a built program.
type binary struct {
	name, os, arch string // as in "proviso-linux-amd64", "linux", "amd64"
	path           string
	sum            string // SHA-256 in hexadecimal
}

// suffix returns the file name suffix of programs.
func (b *binary) suffix() string {
	if b.os == "windows" {
		return ".exe"
	}
	return ""
}

// build builds the program for a platform. Its bytes depend on the sources, the version and
// the Go toolchain, but not on folders, times or the state of git.
func (r *release) build(platform string) (binary, error) {
	b := binary{}
	b.os, b.arch, _ = strings.Cut(platform, "/")
	b.name = "proviso-" + b.os + "-" + b.arch + b.suffix()
	b.path = filepath.Join(r.dir, b.name)
	out, err := filepath.Abs(b.path)
	if err != nil {
		return b, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version, "-o", out, "./cmd/proviso")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.os, "GOARCH="+b.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("build %s: %w: %s", platform, err, said)
	}
	b.sum, err = sumOf(b.path)
	return b, err
}
