//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelSupport detects the features of this kernel. Without Landlock or
// seccomp there is no sandbox.
func kernelSupport() Kernel {
	k := Kernel{Landlock: landlockABI()}
	if _, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil {
		k.Seccomp = true
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		k.Release = unix.ByteSliceToString(name.Release[:])
	}
	return k
}

// filters returns the two seccomp filters of a profile.
func filters(l launch) (host, worker []byte) {
	if l.leaky {
		open := filterBytes(assemble(nil, refuse, allow))
		return open, open
	}
	readOnly := landlockABI() < 3
	return filterBytes(hostFilter(l.network, readOnly, l.syscalls)), filterBytes(workerFilter(l.network))
}

// start starts a program: without a sandbox, or inside it, in new namespaces if
// the kernel permits. It reports whether it used namespaces.
func (l launch) start() (cmd *exec.Cmd, namespaces bool, err error) {
	if !l.sandbox {
		cmd = l.command(l.path, l.argv, l.env)
		cmd.Dir = l.dir
		cmd.SysProcAttr = ownGroup()
		if l.dies {
			cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
		}
		return cmd, false, cmd.Start()
	}
	if l.namespaces {
		cmd = l.command(l.exe, []string{l.exe, confineArgument}, nil)
		cmd.SysProcAttr = ownNamespaces(l.network)
		if err = cmd.Start(); err == nil {
			return cmd, true, l.confine(true)
		}
	}
	cmd = l.command(l.exe, []string{l.exe, confineArgument}, nil)
	cmd.SysProcAttr = ownGroup()
	if err = cmd.Start(); err != nil {
		return cmd, false, err
	}
	return cmd, false, l.confine(false)
}

// confine sends the confinement to the started process.
func (l launch) confine(own bool) error {
	host, _ := filters(l)
	data, err := json.Marshal(confinement{
		Path: l.path, Argv: l.argv, Env: l.env, Read: l.read, Exec: l.exec,
		Network: l.network, Memory: l.memory, Data: l.data, Files: l.files, Own: own, Dies: l.dies, Filter: host,
		Single: l.single && !l.leaky, Calls: l.syscalls,
	})
	if err != nil {
		return err
	}
	_, err = l.parentEnd.Write(appendFrame(nil, frame{kind: kindLoad, payload: data}))
	return err
}

// ownNamespaces returns the attributes for a host's namespaces. Its user is root inside,
// because exec would otherwise drop the capabilities that mounting needs. Outside, the user
// does not change.
func ownNamespaces(network bool) *syscall.SysProcAttr {
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !network {
		flags |= unix.CLONE_NEWNET
	}
	uid, gid := os.Geteuid(), os.Getegid()
	a := &syscall.SysProcAttr{
		Setpgid:     true,
		Cloneflags:  uintptr(flags),
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
	}
	if uid == 0 && gid == 0 { // root becomes nobody inside, if permitted
		a.UidMappings = append(a.UidMappings, syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1})
		a.GidMappings = append(a.GidMappings, syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1})
		a.GidMappingsEnableSetgroups = true
	}
	return a
}
