package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
)

//go:embed starter
var starter embed.FS

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a commented starter suite that runs offline",
		Args:  atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.init(dir)
		},
	}
}

// init writes the starter files; it changes no existing file.
func (a *app) init(dir string) error {
	entries, err := starter.ReadDir("starter")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch _, err := os.Lstat(name); {
		case err == nil:
			return proviso.Errorf(proviso.Invalid, "%s is there already; init changes no file: name another folder, as in `proviso init my-suite`", name)
		case !errors.Is(err, fs.ErrNotExist):
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	for _, e := range entries {
		if err := write(dir, e.Name()); err != nil {
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
	}
	next := "proviso eval"
	if dir != "." {
		next = "cd " + dir + " && " + next
	}
	_, err = fmt.Fprintf(a.out, "Wrote %s. Next:\n\n  %s\n\nOne of its cases fails on purpose, to show what that looks like.\n", filepath.Join(dir, "proviso.yaml"), next)
	return err
}

func write(dir, name string) error {
	data, err := starter.ReadFile("starter/" + name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
