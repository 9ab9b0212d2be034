package sandbox

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jstoken"
)

// NeedsNode reports whether JavaScript has to run in Node: a TypeScript file, a file that loads
// other files or packages, or code that uses a global which only Node has. Other JavaScript
// runs on QuickJS.
func NeedsNode(src proviso.Source) bool {
	if src.Language != "javascript" {
		return false
	}
	if inFile := src.File != "" && src.Form == proviso.Module; inFile && (isTypeScript(src.File) || jstoken.Imports(src.Text)) {
		return true
	}
	return src.Purpose != proviso.Synthesised && jstoken.Uses(src.Text, hosted())
}

// hosted returns the Node globals that QuickJS lacks.
func hosted() []string {
	return []string{
		"fetch", "process", "crypto", "Intl", "Headers", "Request", "Response", "FormData", "Blob", "File", "WebSocket", "EventSource",
		"AbortController", "AbortSignal", "Event", "EventTarget", "performance", "ReadableStream", "WritableStream", "TransformStream",
		"MessageChannel", "BroadcastChannel", "WebAssembly", "navigator",
	}
}

// asFile returns inline code as the file that the worker of Node runs, and how many characters
// precede the code in it. A parameter with the name of a global is left out, so that the code
// sees the global. As in promptfoo, the code has no require but that of process.mainModule.
func asFile(src proviso.Source) (file proviso.Source, before int) {
	if src.Form == proviso.Module {
		return src, 0
	}
	params := slices.DeleteFunc(slices.Clone(src.Params), func(name string) bool { return slices.Contains(hosted(), name) })
	head, tail := "process.mainModule ??= { require }; module.exports = (require => function ("+strings.Join(params, ", ")+") {", "\n})()"
	if src.Form == proviso.Expression {
		head, tail = head+"return (", "\n)"+tail
	}
	src.Text, src.Form, src.Entry = head+src.Text+tail, proviso.Module, ""
	return src, len(head)
}

func isTypeScript(file string) bool {
	switch strings.ToLower(path.Ext(filepath.ToSlash(file))) {
	case ".ts", ".cts", ".mts":
		return true
	}
	return false
}

// askNodeScript prints the description of an interpreter. It must run in every
// version of Node.
const askNodeScript = `
var flags = ["--experimental-vm-modules"], known = process.allowedNodeEnvironmentFlags || new Set();
var typescript = typeof require("module").stripTypeScriptTypes === "function";
if (typescript && !(process.features && process.features.typescript)) flags.push("--experimental-strip-types");
var libs = [];
try { libs = process.report.getReport().sharedObjects; } catch (e) {}
process.stdout.write(JSON.stringify({
  version: process.versions.node, executable: process.execPath, typescript: typescript,
  flags: flags.filter(function (f) { return known.has(f); }),
  libs: libs.filter(function (f) { return f[0] === "/"; }).map(function (f) { return require("path").dirname(f); }),
}));
`

// askNode starts Node once to get its path: a name in PATH may be a version manager's script.
func askNode(ctx context.Context, s *Sandbox, name string, packages bool) (*interpreter, error) {
	fields, err := s.query(ctx, name, []string{"--no-warnings", "-e", askNodeScript})
	if err != nil {
		return nil, err
	}
	in := &interpreter{version: fields.Text("version"), path: resolved(fields.Text("executable")), flags: texts(fields, "flags")}
	in.typescript, _ = fields.At("typescript").(bool)
	in.exec = executed(in.path, in.path)
	in.read = append(texts(fields, "libs"), in.path)
	if packages {
		modules, files := nodeModules(s.dir)
		if paths, ok := s.lookup("NODE_PATH"); ok {
			in.importPath = filepath.SplitList(paths)
		}
		in.read = append(append(append(in.read, modules...), files...), in.importPath...)
	}
	in.read = existing(in.read, s.isHome)
	return in, nil
}

// nodeModules returns the folders with packages for a file in dir, and the files that determine
// the module type in dir. It follows a package that is a link, for example to a sibling in a
// workspace.
func nodeModules(dir string) (folders, files []string) {
	if dir == "" {
		return nil, nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		folder := filepath.Join(d, "node_modules")
		folders = append(folders, folder)
		files = append(files, filepath.Join(d, "package.json"))
		links, _ := filepath.Glob(filepath.Join(folder, "*"))
		scoped, _ := filepath.Glob(filepath.Join(folder, "@*", "*"))
		for _, name := range append(links, scoped...) {
			if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
				continue
			}
			if real := resolved(name); !beneath(real, folder) {
				folders = append(folders, real)
			}
		}
		if d == filepath.Dir(d) {
			return folders, files
		}
	}
}

// refuseNode returns an error if a version of Node is too old for a source.
func refuseNode(in *interpreter, src proviso.Source) error {
	if !isTypeScript(src.File) || in.typescript {
		return nil
	}
	return proviso.Errorf(proviso.Unavailable, "TypeScript needs Node 22.13 or later, and %s is %s: install a later one, or compile the file to JavaScript", in.path, in.version)
}

// nodeArgv returns the command line of the worker. Native addons are allowed only with
// packages; without them, only Node's own native code can run.
func nodeArgv(in *interpreter, p profile, worker, config string) []string {
	argv := append([]string{in.path, "--no-warnings", "--no-deprecation", "--openssl-config=/dev/null"}, in.flags...)
	if p.packages {
		argv = append(argv, "--max-old-space-size=2048")
	} else {
		argv = append(argv, "--max-old-space-size=256", "--no-addons", "--v8-pool-size=1")
	}
	return append(argv, "-e", worker, "--", config)
}
