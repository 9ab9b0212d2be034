package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// keyCommand runs a key command on a database.
func keyCommand(t *testing.T, db string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(append(append([]string{"key"}, args...), "--db", db), stdio{in: strings.NewReader(""), out: &out, err: &errs})
	return code, out.String(), errs.String()
}

// TestRevokeBySecret: people who find a leaked key have only its secret. The output
// does not repeat it.
func TestRevokeBySecret(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "keys.db")
	code, secret, _ := keyCommand(t, db, "create", "leaked")
	secret = strings.TrimSpace(secret)
	if code != exitOK {
		t.Fatalf("create: exit code %d", code)
	}
	for _, want := range []int{exitOK, exitUsage} {
		code, out, errs := keyCommand(t, db, "revoke", secret)
		if code != want || strings.Contains(out+errs, secret) || !strings.Contains(out+errs, "evoked") {
			t.Errorf("revoke: exit code %d\n%s%s", code, out, errs)
		}
	}
}

// TestKeyWithoutASocket: if the folder of the socket is missing, the server cannot be reached, and
// the command creates no file.
func TestKeyWithoutASocket(t *testing.T) {
	t.Parallel()
	url := "postgres://owner@/proviso?host=" + filepath.Join(t.TempDir(), "none")
	for _, args := range []string{"create x", "list", "revoke x"} {
		code, out := printed(t, append(append([]string{"key"}, strings.Fields(args)...), "--store", url)...)
		if code != exitUndecided || !strings.Contains(out, "it cannot be reached (") || strings.Contains(out, "makes it") {
			t.Errorf("key %s: exit code %d: %s", args, code, out)
		}
	}
}

// fullPipe fails every write.
type fullPipe struct{}

func (fullPipe) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestSecretThatCannotBePrinted: a key whose secret nobody knows is useless, so it is revoked.
func TestSecretThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "keys.db")
	var errs bytes.Buffer
	code := execute([]string{"key", "create", "lost", "--db", db}, stdio{in: strings.NewReader(""), out: fullPipe{}, err: &errs})
	if code != exitUndecided || !strings.Contains(errs.String(), "the key was revoked") {
		t.Errorf("exit code %d\n%s", code, errs.String())
	}
	var list struct {
		Keys []struct {
			Name    string
			Revoked string
		}
	}
	_, out, _ := keyCommand(t, db, "list", "--format", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Keys) != 1 || list.Keys[0].Revoked == "" {
		t.Errorf("%v\n%s", err, out)
	}
}
