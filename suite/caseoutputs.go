package suite

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// outputCases adds one case for each recorded output of a file (--model-outputs),
// with the assertions of another file (--assertions). The prompt is {{output}}, and
// the provider is echo.
func (r *reading) outputCases(s *caseSource, doc *document.Document) {
	s.noExpansion, s.literal = true, true
	if name := r.options.Assertions; name != "" {
		files, name := r.outputFiles(name)
		s.defaults = r.outputAssertions(files, doc, name)
	}
	files, name := r.outputFiles(r.options.ModelOutputs)
	file, err := files.Open(name)
	if err != nil {
		r.failed(doc, "/commandLineOptions/modelOutputs", err)
		return
	}
	_ = file.Close()
	f := &caseFile{files: files, name: files.Clean(name), convert: outputCase}
	each := r.wholeFile
	if ext := strings.ToLower(path.Ext(name)); ext == ".jsonl" || ext == ".ndjson" {
		each = r.jsonLines
	}
	s.streams = []stream{{each: each(f)}}
}

// outputFiles returns the files in which to open a name from the user, and that
// name relative to them. The file of an untrusted suite may name only others in its
// own folder.
func (r *reading) outputFiles(name string) (*Files, string) {
	if r.trust == nil {
		return NewFiles(r.options.Dir, FilesOptions{Home: r.options.Files.Home}), name
	}
	dir, base := filepath.Split(name)
	return NewFiles(inFolder(r.options.Dir, dir), FilesOptions{Confine: true, Shown: filepath.Clean(dir)}), base
}

// outputCase makes a case from a recorded output: a text, or {output, tags}.
func outputCase(at string, v any) written {
	o, ok := v.(*value.Object)
	if !ok || !o.Has("output") {
		return written{at: at, object: value.ObjectOf("vars", value.ObjectOf("output", v))}
	}
	vars := value.ObjectOf("output", o.At("output"))
	switch tags := o.At("tags").(type) {
	case nil:
	case []any:
		names := make([]string, len(tags))
		for i, t := range tags {
			names[i] = value.ToString(t)
		}
		vars.Set("tags", strings.Join(names, ", "))
	default:
		vars.Set("tags", value.ToString(tags))
	}
	return written{at: at, object: value.ObjectOf("vars", vars)}
}

// outputAssertions reads a list of assertions, or a mapping with a list under assert.
func (r *reading) outputAssertions(files *Files, doc *document.Document, name string) layer {
	data, err := files.ReadFile(name)
	if err != nil {
		r.failed(doc, "/commandLineOptions/assertions", err)
		return layer{}
	}
	d, err := document.Parse(files.Show(name), data)
	if err != nil {
		r.failed(doc, "", err)
		return layer{}
	}
	at, v := "", d.Root
	if o, ok := v.(*value.Object); ok && o.Has("assert") {
		at, v = "/assert", o.At("assert")
	}
	l := layer{asserts: r.assertions(d, at, v)}
	l.written, _ = v.([]any)
	l.raw = value.ObjectOf("assert", l.written)
	l.defaults = len(l.asserts)
	l.proto.Assert = l.asserts
	return l
}
