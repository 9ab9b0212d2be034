package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Files of the checksums and their signature.
const (
	sumsName    = "SHA256SUMS"
	signersName = "allowed_signers"
	signer      = "proviso"
)

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// writeSums writes the checksums of all files in the format of sha256sum. npm packages have
// checksums of their own where they are published.
func (r *release) writeSums() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries { // sorted by name
		if e.IsDir() {
			continue
		}
		sum, err := sumOf(filepath.Join(r.dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	r.say("%s", strings.TrimSuffix(b.String(), "\n"))
	return os.WriteFile(filepath.Join(r.dir, sumsName), []byte(b.String()), 0o644)
}

// sign signs the checksums with ssh-keygen, which most machines have, including those that
// verify. Meanwhile the key is in a file that only this user can read.
func (r *release) sign() (err error) {
	if r.key == "" {
		r.say("not signed: %s is not set", keyVariable)
		return nil
	}
	dir, err := os.MkdirTemp("", "proviso-key")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.TrimSpace(r.key)+"\n"), 0o600); err != nil {
		return err
	}
	public, err := keygen("-y", "-P", "", "-f", key)
	if err != nil {
		return fmt.Errorf("%s is not an OpenSSH key without a passphrase: %w", keyVariable, err)
	}
	if !strings.HasPrefix(public, "ssh-ed25519 ") {
		return fmt.Errorf("%s is not an Ed25519 key", keyVariable)
	}
	if _, err := keygen("-Y", "sign", "-q", "-f", key, "-n", "file", filepath.Join(r.dir, sumsName)); err != nil {
		return fmt.Errorf("sign %s: %w", sumsName, err)
	}
	fields := strings.Fields(public)
	line := signer + ` namespaces="file" ` + fields[0] + " " + fields[1] + "\n"
	r.say("signed: %s.sig", sumsName)
	return os.WriteFile(filepath.Join(r.dir, signersName), []byte(line), 0o644)
}

// keygen runs ssh-keygen. Its error messages do not show the key.
func keygen(args ...string) (string, error) {
	out, err := exec.Command("ssh-keygen", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
