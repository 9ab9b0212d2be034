// Package sandbox runs untrusted code: Python, JavaScript and Ruby of suites,
// and code that a model wrote. It implements [proviso.Code].
//
// Start at [New] and [Sandbox.Compile]. [Main] must be the first call of a
// program that starts workers from its own binary; [Probe] reports what a
// machine supports.
//
// # How it works
//
// A host is an interpreter that was started inside the sandbox and runs no user code. It forks
// a worker for each source, so that sources never share an interpreter, and a new worker costs
// a millisecond instead of a Python start. A worker restricts itself further, reads its source
// and serves calls. It is replaced when it is old, large, late or dead, or when it breaks the
// protocol.
//
// Other interpreters cannot be forked: each source gets its own. JavaScript files that import
// something run in Node ([NeedsNode]), other JavaScript on the engine of internal/script, in a
// process of our own binary. The table is in language.go.
//
// The sandbox of Linux consists of Landlock (only named files can be opened,
// and none can be written), seccomp filters (no sockets, processes, programs or
// unusual system calls), resource limits, no capabilities, and, where the
// kernel permits, new user, mount, process, network and IPC namespaces with a
// root of their own. It needs no privileges. exec_linux.go has the order of the
// steps.
//
// Keys stay in the parent: a question to a judge is a frame that the parent
// answers ([Options.Ask]).
package sandbox
