package suite

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Options control how a suite is read. The zero value reads it from the process's
// working folder with an empty environment.
type Options struct {
	// Dir is the working folder: names of the command line and output paths are
	// relative to it. "" is that of the process.
	Dir string
	// Env is the environment; nil is empty.
	Env proviso.Env
	// Files limits what the suite may open.
	Files FilesOptions
	// Trust restricts an untrusted suite; nil is a trusted one.
	Trust *Trust
	// Fetch fetches remote cases, with references as in package internal/dataset, and
	// returns the name of a local copy; nil refuses them. Its error is
	// dataset.ErrNoCopy if the network must not be used.
	Fetch func(ref string, env proviso.Env) (string, error)
	// Datasets finds the datasets that the suite names; nil makes their names mistakes.
	Datasets Datasets
	// EnvFiles are .env files that override the environment (--env-file). Without
	// any, those of the suite are read, or else .env of the working folder, which
	// overrides nothing.
	EnvFiles []string
	// Facts are the tables of types and providers. Without types, a column __expected
	// of a CSV file is a mistake, and messages suggest no types. To an untrusted suite
	// every type and provider is code that is not in the tables.
	Facts proviso.Facts
	// SkipUnsupported makes unsupported features warnings.
	SkipUnsupported bool

	// These override the suite; "" and nil leave it unchanged.
	Description  string
	Prompts      []string // file names or texts
	Providers    []string // ids or labels of the suite, or ids of others
	Tests        string   // file of cases
	TestsFlag    string   // name of the flag for Tests, for messages; "" is --tests
	ModelOutputs string   // file of recorded outputs (--model-outputs)
	Assertions   string   // file of assertions for ModelOutputs
	PromptPrefix string
	PromptSuffix string
	Grader       string
	Filter       Filter // chooses cases
}

// Read reads the suite that the named files make together; without names, the suite
// of the working folder (see [Find]). A name may be a file, a folder or a pattern.
// Read returns all mistakes at once: at most 100, and how many more there are. If
// any mistake is not a warning, do not run the suite: it is nil, or lacks the parts
// with mistakes and serves only to find more of them. Inline cases are checked
// here, cases in other files by the first pass over [proviso.CaseSource].
func Read(ctx context.Context, names []string, o Options) (*proviso.Suite, proviso.Mistakes) {
	r := newReading(ctx, o)
	r.confine()
	found, err := expand(o.Dir, names)
	if err != nil && len(names) == 0 && o.ModelOutputs != "" {
		err = nil // recorded outputs and assertions are a complete suite
	}
	if err != nil {
		m := mistakeOf(err)
		if m.Place.File == "" && len(names) > 0 {
			m.Place.File = "--config"
		}
		r.append(m)
		return nil, r.mistakes
	}
	s := r.suite(ctx, found)
	all := r.all()
	if err := ctx.Err(); err != nil {
		return nil, append(all, proviso.Mistake{Code: proviso.Timeout, Message: err.Error()})
	}
	if s == nil {
		return nil, all
	}
	s.Warnings = all
	return s, all
}

// suite reads the files and builds the suite; nil if they cannot be read.
func (r *reading) suite(ctx context.Context, names []string) *proviso.Suite {
	if len(names) == 0 {
		cfg := value.ObjectOf("description", r.options.ModelOutputs)
		return r.together(r.options.ModelOutputs, []suiteFile{{doc: document.Virtual("", cfg), cfg: cfg}})
	}
	r.openFolder(names[0])
	var parts []suiteFile
	for _, name := range names {
		if ctx.Err() != nil {
			return nil
		}
		if p, ok := r.open(name); ok {
			parts = append(parts, p)
		}
	}
	r.promptfoo = writtenForPromptfoo(parts)
	for _, p := range parts {
		r.topKeys(p.doc, p.cfg)
	}
	if len(parts) == 0 || len(parts) < len(names) {
		return nil
	}
	return r.together(names[0], parts)
}

// together builds one suite from the files.
func (r *reading) together(name string, parts []suiteFile) *proviso.Suite {
	if r.files == nil {
		r.openFolder("suite") // of the working folder
	}
	doc, cfg := r.merge(parts)
	s := &proviso.Suite{File: filepath.ToSlash(name), Dir: r.files.dir, Places: r.places, Lenient: r.promptfoo}
	s.Config = proviso.Redacted(cfg)
	s.Env = r.environment(doc, cfg)
	cfg, _ = r.renderEnv(doc, "", cfg).(*value.Object)
	doc.Root = cfg
	doc, cfg = r.override(doc, cfg)
	r.header(s, doc, cfg)
	s.Prompts = r.prompts(doc, cfg)
	s.Providers = r.providers(doc, cfg)
	r.judge(s, doc, cfg)
	r.set = r.assertionSet(doc, cfg)
	s.CaseSource = r.cases(doc, cfg, s.Prompts, s.Providers)
	s.Gate = r.gate(doc, cfg, s.CaseSource)
	s.Unseen = r.unseen
	s.Datasets = r.datasets
	r.selection(s, doc, cfg)
	return s
}

// openFolder makes the folder of the first file the base of references.
func (r *reading) openFolder(name string) {
	o := r.options.Files
	if o.Shown == "" {
		o.Shown = filepath.Dir(name)
	}
	if o.Home == "" && !o.Confine {
		o.Home, _ = r.env.Lookup("HOME")
	}
	r.files = NewFiles(filepath.Dir(inFolder(r.options.Dir, name)), o)
}

// suiteFile is one of the files that make a suite.
type suiteFile struct {
	name string
	doc  *document.Document
	cfg  *value.Object
	base string // folder of the file, relative to the suite's; "" if they are the same
}

// open reads one file.
func (r *reading) open(name string) (suiteFile, bool) {
	shown := filepath.ToSlash(name)
	if isScript(name) {
		r.append(proviso.Mistake{
			Place: proviso.Place{File: shown}, Code: proviso.Unsupported,
			Message: "a suite that is code is not supported; proviso reads suites in YAML and JSON",
		})
		return suiteFile{}, false
	}
	clean := filepath.ToSlash(name)
	rel, err := filepath.Rel(r.files.dir, inFolder(r.options.Dir, name))
	if err == nil {
		clean = filepath.ToSlash(rel)
	}
	doc, err := r.load(clean)
	if err != nil {
		r.failed(document.Virtual(shown, nil), "", err)
		return suiteFile{}, false
	}
	cfg, ok := doc.Root.(*value.Object)
	if !ok {
		message := "a suite is an object with prompts, providers and tests, not " + kind.Shown(doc.Root)
		if doc.Root == nil {
			message = "the suite is empty"
		}
		r.mistake(doc, "", proviso.Invalid, nil, "%s", message)
		return suiteFile{}, false
	}
	base := filepath.ToSlash(filepath.Dir(filepath.FromSlash(clean)))
	if base == "." {
		base = ""
	}
	return suiteFile{name, doc, cfg, base}, true
}

// topKeys checks the top-level keys of a suite. A key that only holds values for
// anchors or references may have any name. So may one that begins with x-.
func (r *reading) topKeys(doc *document.Document, cfg *value.Object) {
	table := suiteKeys()
	known := value.NewObject(cfg.Len())
	for key, v := range cfg.All() {
		_, listed := findRow(table, key)
		at := document.Join("", key)
		if listed || !strings.HasPrefix(key, "x-") && !r.referred[r.at(doc, at)] && !doc.Anchored(at) {
			known.Set(key, v)
		}
	}
	r.keys(doc, "", known, table)
	r.section(doc, cfg, "evaluateOptions", evaluateKeys())
	r.section(doc, cfg, "commandLineOptions", commandLineKeys())
}

// section checks the keys of an object under a key.
func (r *reading) section(doc *document.Document, cfg *value.Object, key string, table []keyRow) {
	if o, ok := cfg.At(key).(*value.Object); ok {
		r.keys(doc, document.Join("", key), o, table)
	}
}
