package suite

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// override replaces settings of the suite by those of flags, or by those of
// commandLineOptions if there is no flag. A suite without either is returned
// unchanged.
func (r *reading) override(doc *document.Document, cfg *value.Object) (*document.Document, *value.Object) {
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	changed := cfg.Clone()
	pick := func(given, key string) (value string, ours bool) {
		if given != "" {
			return given, true
		}
		s, _ := flags.At(key).(string)
		return s, false
	}
	if name, ours := pick(r.options.Tests, "tests"); name != "" {
		changed.Set("tests", r.testsName(name, ours))
		if ours {
			r.namedBy(doc, "/tests", cmp.Or(r.options.TestsFlag, "--tests"))
		} else {
			r.places.link(r.at(doc, "/tests"), r.at(doc, "/commandLineOptions/tests"))
		}
	} else if name, _ := pick("", "vars"); name != "" {
		changed.Set("tests", name)
		r.places.link(r.at(doc, "/tests"), r.at(doc, "/commandLineOptions/vars"))
	}
	for option, key := range map[*string]string{&r.options.ModelOutputs: "modelOutputs", &r.options.Assertions: "assertions"} {
		name, ours := pick(*option, key)
		switch {
		case name == "":
		case ours:
			r.namedBy(doc, document.Join("/commandLineOptions", key), map[string]string{"modelOutputs": "--model-outputs", "assertions": "--assertions"}[key])
		case r.trust != nil:
			r.refuse(doc, document.Join("/commandLineOptions", key), "an untrusted suite does not choose recorded outputs; name them with --model-outputs and --assertions")
		default:
			*option = r.files.Show(name)
		}
	}
	if r.options.ModelOutputs != "" {
		// Recorded outputs are graded unchanged.
		changed.Delete("targets")
		changed.Delete("target")
		changed.Set("prompts", []any{"{{output}}"})
		changed.Set("providers", []any{"echo"})
		r.options.Prompts, r.options.Providers = nil, nil
	}
	prefix, _ := pick(r.options.PromptPrefix, "promptPrefix")
	suffix, _ := pick(r.options.PromptSuffix, "promptSuffix")
	if prefix != "" || suffix != "" {
		r.affixes(doc, changed, prefix, suffix)
	}
	if description, _ := pick(r.options.Description, "description"); description != "" {
		changed.Set("description", description)
	}
	doc.Root = changed
	return doc, changed
}

// namedBy makes a flag the place of a value that it replaces.
func (r *reading) namedBy(doc *document.Document, pointer, flag string) {
	r.places.link(r.at(doc, pointer), r.at(document.Virtual(flag, nil), ""))
}

// testsName makes a file name of the command line relative to the suite's folder.
// Names in the suite already are.
func (r *reading) testsName(name string, ours bool) string {
	if !ours {
		return name
	}
	return r.fromWorkingFolder(name)
}

// fromWorkingFolder makes a file name that is relative to the working folder
// relative to the suite's.
func (r *reading) fromWorkingFolder(name string) string {
	name = strings.TrimPrefix(name, "file://")
	if name == "" || filepath.IsAbs(name) || strings.Contains(name, "://") {
		return name
	}
	full := inFolder(r.options.Dir, filepath.FromSlash(name))
	if rel, err := filepath.Rel(r.files.dir, full); err == nil {
		return filepath.ToSlash(rel)
	}
	if full, err := filepath.Abs(full); err == nil {
		return filepath.ToSlash(full)
	}
	return name
}

// affixes sets the prefix and suffix of every prompt unless defaultTest does.
func (r *reading) affixes(doc *document.Document, cfg *value.Object, prefix, suffix string) {
	defaults, ok := cfg.At("defaultTest").(*value.Object)
	if name, isFile := cfg.At("defaultTest").(string); isFile {
		d, err := r.yaml(name)
		if err != nil {
			return // reading defaultTest records the mistake
		}
		defaults, ok = d.Root.(*value.Object)
		r.places.link(r.at(doc, "/defaultTest"), r.at(d, ""))
	}
	if !ok && cfg.At("defaultTest") != nil {
		return
	}
	defaults = defaults.Clone()
	options, _ := defaults.At("options").(*value.Object)
	options = options.Clone()
	for _, affix := range [...]struct{ key, value string }{{"prefix", prefix}, {"suffix", suffix}} {
		if affix.value != "" && options.At(affix.key) == nil {
			options.Set(affix.key, affix.value)
		}
	}
	defaults.Set("options", options)
	cfg.Set("defaultTest", defaults)
}
