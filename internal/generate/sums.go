package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkSums compares the files made from npm packages, and their sources, with recorded
// checksums. It detects a file changed by hand, or a source without new outputs, and needs
// neither Node nor npm.
func checkSums(root string) error {
	data, err := os.ReadFile(filepath.Join(root, sumsFile))
	if err != nil {
		return err
	}
	var wrong []error
	count := 0
	for line := range strings.Lines(string(data)) {
		want, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  ")
		if !ok || !filepath.IsLocal(name) {
			return fmt.Errorf("%s: expected a checksum and a file, got %q", sumsFile, line)
		}
		count++
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			wrong = append(wrong, fmt.Errorf("%s is not what it was when it was generated: run `make generate`", name))
		}
	}
	if count == 0 {
		return fmt.Errorf("%s holds no checksum", sumsFile)
	}
	return errors.Join(wrong...)
}
