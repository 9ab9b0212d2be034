package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
)

// askPythonScript prints the description of an interpreter. It must run in
// every version of Python, because the version is part of the output.
const askPythonScript = `
import sys
if sys.version_info < (3, 8):
    sys.stdout.write('{"version":"%d.%d.%d"}' % sys.version_info[:3])
    sys.exit(0)
path = [p for p in sys.path if p]
import os
# Nothing else is imported from the working folder or what PYTHONPATH names, where
# a file of the suite may have the name of a module.
stdlib = os.path.dirname(os.__file__)
sys.path[:] = [stdlib, os.path.join(stdlib, "lib-dynload")]
import json
libs = set()
try:
    with open("/proc/self/maps") as f:
        for line in f:
            name = line[line.find("/"):].strip()
            if name.startswith("/") and ".so" in name:
                libs.add(os.path.dirname(name))
except OSError:
    pass
try:
    import _ctypes
    missing = ""
except ImportError:
    missing = "the module _ctypes"
sys.stdout.write(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "executable": sys.executable,
    "base": getattr(sys, "_base_executable", None) or sys.executable,
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "path": path,
    "libs": sorted(libs),
    "missing": missing,
}))
`

// askPython starts an interpreter once to get its path: a name in PATH may be a pyenv script or
// a link into a virtual environment.
func askPython(ctx context.Context, s *Sandbox, path string, packages bool) (*interpreter, error) {
	argv := []string{"-c", askPythonScript}
	if !packages {
		argv = append([]string{"-I", "-S"}, argv...)
	}
	fields, err := s.query(ctx, path, argv)
	if err != nil {
		return nil, err
	}
	in := &interpreter{version: fields.Text("version")}
	if fields.Len() == 1 {
		return in, nil // too old for the rest of the query
	}
	in.missing = fields.Text("missing")
	in.path = fields.Text("base")
	if packages {
		in.path = fields.Text("executable") // in the virtual environment, if there is one
		in.importPath = texts(fields, "path")
	}
	if real, err := filepath.EvalSymlinks(in.path); err == nil && !packages {
		in.path = real
	}
	in.exec = executed(in.path, in.path)
	for _, prefix := range texts(fields, "prefixes") {
		for _, lib := range []string{"lib", "lib64"} {
			in.read = append(in.read, filepath.Join(prefix, lib))
		}
		in.read = append(in.read, filepath.Join(prefix, "pyvenv.cfg"))
		in.read = append(in.read, publicStores(prefix)...)
	}
	in.read = append(in.read, texts(fields, "libs")...)
	if packages {
		etc, _ := filepath.Glob("/etc/python3*") // where Debian keeps sitecustomize.py
		in.read = append(append(in.read, in.importPath...), etc...)
	}
	in.read = existing(in.read, s.isHome)
	return in, nil
}

// existing returns the paths that exist, without those that are too wide.
func existing(paths []string, wide func(string) bool) []string {
	var list []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) && !wide(filepath.Clean(path)) {
			list = append(list, filepath.Clean(path))
		}
	}
	return list
}

// pythonArgv returns the command line of the worker. The worker is isolated from the
// environment and, unless packages are granted, from installed packages. The worker's globals
// have their own builtins, and its code has the name that stack traces leave out.
func pythonArgv(in *interpreter, p profile, worker, config string) []string {
	const start = `import sys, builtins; exec(compile(sys.argv[1], "<proviso>", "exec"), {"__name__": "<proviso>", "__builtins__": dict(vars(builtins))})`
	argv := []string{in.path, "-I", "-B", "-X", "utf8"}
	if !p.packages {
		argv = append(argv, "-S")
	}
	return append(argv, "-c", start, worker, config)
}

// pythonLoop reports whether coroutines of a source need an event loop: the source names
// asyncio, or may import a module that does.
func pythonLoop(src proviso.Source, p profile) bool {
	return strings.Contains(src.Text, "asyncio") ||
		strings.Contains(src.Text, "async ") && strings.Contains(src.Text, "import ") && (p.packages || src.File != "")
}

// pythonStandard are standard library modules that code often imports. Before it forks, the
// host imports those that a source names, so that a run imports each only once. None has side
// effects on import.
const pythonStandard = " ast asyncio base64 collections copy csv dataclasses datetime decimal difflib enum fractions functools hashlib html io itertools json math operator random re statistics string textwrap time typing unicodedata urllib uuid "

// pythonImports returns the standard library modules that a source names.
func pythonImports(src proviso.Source, p profile) string {
	imports := strings.Contains(src.Text, "import ")
	if !imports && !strings.Contains(src.Text, "json") {
		return ""
	}
	var list []string
	for word := range strings.FieldsFuncSeq(src.Text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if (imports || word == "json") && strings.Contains(pythonStandard, " "+word+" ") && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	if pythonLoop(src, p) && !slices.Contains(list, "asyncio") {
		list = append(list, "asyncio")
	}
	return strings.Join(list, " ")
}
