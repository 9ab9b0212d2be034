package main

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = ""

// notices are the licences of everything that is in the binary, made by
// `make generate`.
//
//go:embed THIRD_PARTY_NOTICES
var notices string

func newVersion(a *app) *cobra.Command {
	var licenses bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, or the licences of its dependencies",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				_, err := fmt.Fprint(a.out, notices)
				return err
			}
			_, err := fmt.Fprintf(a.out, "proviso %s (%s, %s/%s)\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licences of all third-party parts")
	return cmd
}

// versionName is the release version, or the version that the Go toolchain recorded.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
