// Command generate writes THIRD_PARTY_NOTICES, the licences of everything in the
// shipped binaries, and the pictures of docs/gate.md. With -check it compares instead, and verifies the checksums of the
// files that generate.sh makes from npm packages. Start at notices.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Files of the module, relative to its root.
const (
	noticesFile   = "cmd/proviso/THIRD_PARTY_NOTICES"
	licenseFolder = "internal/generate/licenses"
	sumsFile      = "internal/generate/SHA256SUMS"
)

func main() {
	check := flag.Bool("check", false, "compare what is committed, write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	data, err := notices(root)
	if err != nil {
		return err
	}
	name := filepath.Join(root, noticesFile)
	if !check {
		return errors.Join(os.WriteFile(name, data, 0o644), writePictures(root, check))
	}
	return errors.Join(compare(name, data), checkSums(root), writePictures(root, check))
}

// compare reports an error unless a file contains data.
func compare(name string, data []byte) error {
	got, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, data) {
		return fmt.Errorf("%s is not what its inputs give: run `go run ./internal/generate`", name)
	}
	return nil
}
