//go:build !linux

package postgrestest

import (
	"os/user"
	"syscall"
)

// attributes changes nothing: on this system, the tests must not run as root, and must stop the
// server.
func attributes(*user.User) *syscall.SysProcAttr { return nil }
