package suite

import (
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// environment reads the suite's .env files and its env map, adds them to the
// environment and returns them. A .env file that is named overrides the environment,
// the .env of the working folder does not. The env map overrides both.
func (r *reading) environment(doc *document.Document, cfg *value.Object) *value.Object {
	added := &value.Object{}
	named := r.envFiles(doc, cfg)
	for _, f := range named {
		for name, v := range r.dotenv(doc, f).All() {
			added.Set(name, v)
		}
	}
	if len(named) == 0 {
		for name, v := range r.defaultDotenv().All() {
			if _, set := r.env.Lookup(name); !set {
				added.Set(name, v)
			}
		}
	}
	around := r.env
	r.env = Environment(added, around)
	o, _ := cfg.At("env").(*value.Object)
	own := &value.Object{}
	for name, v := range o.All() {
		at := document.Join("/env", name)
		switch v := v.(type) {
		case nil:
		case string:
			r.refuseEnv(doc, at, v)
			text, unset := r.renderText(v)
			for _, name := range unset {
				r.warnUnset(doc, at, name)
			}
			own.Set(name, text)
		case bool, float64:
			own.Set(name, value.ToString(v))
		default:
			r.mistake(doc, at, proviso.Invalid, nil, "a name of the environment is a text, not %s", kind.Shown(v))
		}
	}
	for name, v := range own.All() {
		added.Set(name, v)
	}
	r.env, r.added = Environment(added, around), added
	return added
}

// envFile is a .env file with the place that names it.
type envFile struct {
	name    string // relative to base
	base    string // the folder it is relative to
	pointer string // "" if the command line names it
}

// envFiles are the .env files of the command line, or else of the suite.
func (r *reading) envFiles(doc *document.Document, cfg *value.Object) []envFile {
	var files []envFile
	for _, name := range r.options.EnvFiles {
		files = append(files, envFile{name: name, base: r.options.Dir})
	}
	if len(files) > 0 {
		return files
	}
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	for _, source := range []struct {
		pointer string
		value   any
	}{
		{"/envPath", cfg.At("envPath")},
		{"/commandLineOptions/envPath", flags.At("envPath")},
		{"/commandLineOptions/envFile", flags.At("envFile")},
	} {
		for i, name := range texts(source.value) {
			at := source.pointer
			if _, ok := source.value.([]any); ok {
				at = document.Join(at, i)
			}
			if r.trust != nil {
				r.warn(doc, at, "%s is not read: an untrusted suite brings no environment files", quoteName(name))
				continue
			}
			files = append(files, envFile{name, r.files.dir, at})
		}
	}
	return files
}

// texts returns a text, or the texts of a list.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	return textlist.Of(v)
}

// dotenv reads a .env file that the suite or the command line names.
func (r *reading) dotenv(doc *document.Document, f envFile) *value.Object {
	files := r.files
	if f.pointer == "" {
		files = NewFiles(f.base, FilesOptions{Shown: ".", Seen: r.options.Files.Seen})
	}
	data, err := files.ReadFile(f.name)
	if err != nil {
		if f.pointer == "" {
			r.failed(document.Virtual("--env-file", nil), "", err)
		} else {
			m := mistakeOf(err)
			m.Warning = r.promptfoo && m.Code == proviso.NotFound
			r.record(doc, f.pointer, m, nil)
		}
		return nil
	}
	return r.dotenvText(files.Show(f.name), data)
}

// defaultDotenv reads .env of the working folder, if it exists.
func (r *reading) defaultDotenv() *value.Object {
	if r.options.Files.Confine {
		return nil
	}
	files := NewFiles(r.options.Dir, FilesOptions{Shown: ".", Seen: r.options.Files.Seen})
	if !isFile(filepath.Join(files.dir, ".env")) {
		return nil
	}
	data, err := files.ReadFile(".env")
	if err != nil {
		r.append(proviso.Mistake{Place: proviso.Place{File: ".env"}, Code: proviso.Invalid, Message: err.Error(), Warning: true})
		return nil
	}
	return r.dotenvText(".env", data)
}

func (r *reading) dotenvText(shown string, data []byte) *value.Object {
	text, err := document.Text(shown, data)
	if err != nil {
		r.append(mistakeOf(err))
		return nil
	}
	names, broken := parseDotenv(text)
	for _, line := range broken {
		r.append(proviso.Mistake{
			Place: proviso.Place{File: shown, Line: line}, Code: proviso.Invalid,
			Message: "a line of an environment file is NAME=value", Warning: true,
		})
	}
	return names
}
