// Package sandbox runs code that nobody vouches for: Python, JavaScript and Ruby of
// suites, and what a model wrote. It implements [proviso.Code].
//
// Start at [New] and [Sandbox.Compile]. [Main] must be the first call of a program
// that starts workers from its own binary; [Probe] says what a machine can do.
//
// # How it works
//
// A host is an interpreter that was started inside of the sandbox and runs no code
// of users. From it a worker is forked for each source, so that sources never
// share an interpreter, and a worker costs a millisecond and not a start of
// Python. A worker locks itself down once more, reads its source and serves calls.
// It is replaced when it is old, large, late, dead, or says what it should not.
//
// Other interpreters cannot be forked: each source gets one of its own. Files in
// JavaScript that import something run in Node ([NeedsNode]), other JavaScript on
// the engine of internal/script, in a process of our own binary. language.go has
// the table.
//
// The sandbox of Linux is Landlock (no file but those named can be opened, none
// can be written), seccomp filters (no sockets, processes, programs or unusual
// system calls), resource limits, no capabilities, and, where the kernel permits,
// new user, mount, process, network and IPC namespaces with a root of their own.
// It needs no privileges. exec_linux.go has the order of the steps.
//
// Keys stay in the parent: a question to a judge is a frame that the parent
// answers ([Options.Ask]).
package sandbox
