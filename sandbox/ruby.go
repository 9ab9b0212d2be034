package sandbox

import (
	"context"
	"path/filepath"
)

// askRubyScript prints the description of an interpreter. It must run in every
// version of Ruby.
const askRubyScript = `
def q(s) '"' + s.to_s.gsub(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/) { |c| c.unpack("U*").map { |n| "\\u%04x" % n }.join } + '"' end
def l(a) '[' + a.map { |s| q(s) }.join(",") + ']' end
libs = File.readlines("/proc/self/maps").map { |m| m[/\/\S.*\.so.*/] }.compact.uniq.map { |f| File.dirname(f) } rescue libs = []
gems = defined?(Gem) ? Gem.path : []
c = RbConfig::CONFIG
print '{"version":' + q(RUBY_VERSION) + ',"executable":' + q(RbConfig.ruby) + ',"libs":' + l(libs.uniq) + ',"gems":' + l(gems) +
  ',"path":' + l($LOAD_PATH) + ',"dirs":' + l(%w[rubylibdir rubyarchdir archdir vendordir vendorlibdir vendorarchdir rubylibprefix].map { |k| c[k] }.compact) + '}'
`

// askRuby starts Ruby once to get its path: a name in PATH may be a version manager's script.
func askRuby(ctx context.Context, s *Sandbox, path string, packages bool) (*interpreter, error) {
	argv := []string{"-W0", "-e", askRubyScript}
	if !packages {
		argv = append([]string{"--disable-gems", "-rrbconfig"}, argv...)
	}
	fields, err := s.query(ctx, path, argv)
	if err != nil {
		return nil, err
	}
	in := &interpreter{version: fields.Text("version"), path: resolved(fields.Text("executable"))}
	in.exec = executed(in.path, in.path)
	in.read = append(texts(fields, "libs"), texts(fields, "dirs")...)
	in.read = append(in.read, texts(fields, "path")...)
	if packages {
		in.read = append(in.read, texts(fields, "gems")...)
		if lib, ok := s.lookup("RUBYLIB"); ok {
			in.importPath = filepath.SplitList(lib)
		}
		in.read = append(in.read, in.importPath...)
	}
	in.read = existing(append(in.read, publicStores(in.path)...), s.isHome)
	return in, nil
}

// rubyArgv returns the command line of the worker. Gems are disabled unless packages are
// granted.
func rubyArgv(in *interpreter, p profile, worker, config string) []string {
	argv := []string{in.path, "-W0", "-EUTF-8:UTF-8"}
	if !p.packages {
		argv = append(argv, "--disable=gems,did_you_mean,rubyopt,error_highlight,syntax_suggest")
	}
	return append(argv, "-e", worker, "--", config)
}
