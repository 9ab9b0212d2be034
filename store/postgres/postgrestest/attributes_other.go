//go:build !linux

package postgrestest

import (
	"os/user"
	"syscall"
)

// attributes are those of this process: here it must not be root, and the server has to be
// stopped.
func attributes(*user.User) *syscall.SysProcAttr { return nil }
