//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"os/exec"
)

var errNoSandbox = errors.New("there is no sandbox on this system")

func kernelSupport() Kernel { return Kernel{} }

func filters(launch) (host, worker []byte) { return nil, nil }

func confine() error { return errNoSandbox }

// start starts a program without a sandbox.
func (l launch) start() (cmd *exec.Cmd, namespaces bool, err error) {
	if l.sandbox {
		return nil, false, errNoSandbox
	}
	cmd = l.command(l.path, l.argv, l.env)
	cmd.Dir = l.dir
	cmd.SysProcAttr = ownGroup()
	return cmd, false, cmd.Start()
}
