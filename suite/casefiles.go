package suite

import (
	"cmp"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// remoteCases are the prefixes of references to remote cases.
var remoteCases = []string{"http://", "https://", "az://", "huggingface://", "s3://", "gs://"}

// testStreams returns the sources of cases in a `tests` key: inline cases, files,
// patterns, code.
func (r *reading) testStreams(doc *document.Document, pointer string, v any) []stream {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return r.fileStreams(doc, pointer, v, nil, true)
	case *value.Object:
		if v.Has("path") {
			return r.pathStreams(doc, pointer, v)
		}
		if looksLikeCase(v) {
			r.mistake(doc, pointer, proviso.Invalid, nil, "expected a list of cases; put a dash before the first key")
			return nil
		}
		r.mistake(doc, pointer, proviso.Invalid, nil, "expected a list of cases, or the name of a file with cases, got a mapping")
		return nil
	case []any:
		var out []stream
		for i, e := range v {
			at := document.Join(pointer, i)
			for _, s := range r.memberStreams(doc, at, e) {
				if !s.inline && !s.remote { // inline cases were rebased when the files were merged
					s.base = r.bases[r.at(doc, at)]
				}
				out = append(out, s)
			}
		}
		return out
	}
	r.mistake(doc, pointer, proviso.Invalid, nil, "expected a list of cases, or the name of a file with cases, got %s", kind.Shown(v))
	return nil
}

func (r *reading) memberStreams(doc *document.Document, pointer string, v any) []stream {
	switch v := v.(type) {
	case string:
		return r.fileStreams(doc, pointer, v, nil, false)
	case *value.Object:
		if v.Has("path") && !looksLikeCase(v) {
			return r.pathStreams(doc, pointer, v)
		}
		return []stream{inlineCase(r.at(doc, pointer), v)}
	}
	r.mistake(doc, pointer, proviso.Invalid, nil, "expected a case or the name of a file with cases, got %s", kind.Shown(v))
	return nil
}

// pathStreams reads {path, config}.
func (r *reading) pathStreams(doc *document.Document, pointer string, o *value.Object) []stream {
	name, ok := o.At("path").(string)
	config, isObject := o.At("config").(*value.Object)
	switch {
	case !ok || name == "":
		r.mistake(doc, pointer+"/path", proviso.Invalid, nil, "expected the name of a file, got %s", kind.Shown(o.At("path")))
		return nil
	case o.At("config") != nil && !isObject:
		r.mistake(doc, pointer+"/config", proviso.Invalid, nil, "expected a mapping, got %s", kind.Shown(o.At("config")))
		return nil
	}
	return r.fileStreams(doc, pointer, name, config, false)
}

// looksLikeCase reports whether an object has a key that only cases have.
func looksLikeCase(o *value.Object) bool {
	for _, row := range caseKeys() {
		if o.Has(row.Key) {
			return true
		}
	}
	return false
}

// fileStreams returns the files that a reference names. alone is set if `tests` holds
// nothing else.
func (r *reading) fileStreams(doc *document.Document, pointer, ref string, config *value.Object, alone bool) []stream {
	for _, prefix := range remoteCases {
		if strings.HasPrefix(ref, prefix) {
			return r.remoteStreams(doc, pointer, ref, prefix)
		}
	}
	if strings.HasPrefix(ref, datasetPrefix) {
		return r.datasetStreams(doc, pointer, ref)
	}
	name := strings.TrimPrefix(ref, "file://")
	file, entry := splitEntry(name)
	if ext := strings.ToLower(path.Ext(file)); isJavaScript(file) || ext == ".py" {
		if r.refusesCode(doc, pointer, quoteName(file)) || !r.exists(doc, pointer, file) {
			return nil
		}
		at := r.at(doc, pointer)
		g := &proviso.Generator{File: r.files.Clean(file), Entry: entry, Config: config, Pointer: at}
		return []stream{{each: func(_ *pass, visit func(written) bool) bool { return visit(written{at: at, generator: g}) }}}
	}
	if book, _, _ := strings.Cut(strings.ToLower(name), "#"); strings.HasSuffix(book, ".xlsx") || strings.HasSuffix(book, ".xls") {
		r.unsupported(doc, pointer, "cases from Excel files are not supported; save the sheet as CSV")
		return nil
	}
	if config != nil {
		r.warn(doc, pointer+"/config", "only code reads a config; %s is read as data", name)
	}
	names := r.glob(doc, pointer, name)
	var out []stream
	for _, n := range names {
		if one := r.fileStream(doc, pointer, n, alone); one != nil {
			out = append(out, stream{each: one})
		}
	}
	return out
}

// glob returns the files that match a name or pattern. No match is a mistake.
func (r *reading) glob(doc *document.Document, pointer, name string) []string {
	if !isGlob(name) {
		if !r.exists(doc, pointer, name) {
			return nil
		}
		return []string{r.files.Clean(name)}
	}
	names, err := r.files.Glob(name)
	switch {
	case err != nil:
		r.failed(doc, pointer, err)
	case len(names) == 0:
		r.mistake(doc, pointer, proviso.NotFound, nil, "no file matches %q", name)
	}
	return names
}

// exists reports whether a file can be opened, and records the mistake if not.
func (r *reading) exists(doc *document.Document, pointer, name string) bool {
	f, err := r.files.Open(name)
	if err != nil {
		r.failed(doc, pointer, err)
		return false
	}
	_ = f.Close()
	return true
}

// fileStream returns the cases of one file.
func (r *reading) fileStream(doc *document.Document, pointer, name string, alone bool) eachCase {
	f := caseFile{files: r.files, name: name, rowTitles: alone, convert: Cells(r.options.Facts.Types).member}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".csv", ".tsv":
		f.rowTitles = true
		return r.csvCases(&f, ext)
	case ".jsonl", ".ndjson":
		return r.jsonLines(&f)
	case ".json", ".yaml", ".yml":
		f.rowTitles = alone && ext == ".json"
		return r.wholeFile(&f)
	}
	r.mistake(doc, pointer, proviso.Invalid, nil,
		"%s is not a file of cases that proviso can read: .csv, .jsonl, .json, .yaml, .yml, .js or .py", r.files.Show(name))
	return nil
}

// csvCases returns the cases of a CSV file with the suffix ext.
func (r *reading) csvCases(f *caseFile, ext string) eachCase {
	f.csv.Strict = r.flag("PROMPTFOO_CSV_STRICT")
	if ext == ".tsv" {
		f.csv.Delimiter = "\t"
	}
	f.csv.Delimiter = cmp.Or(r.setting("PROMPTFOO_CSV_DELIMITER"), f.csv.Delimiter)
	f.at = r.at(lineDocument(f.files, f.name, false, f.csv.Delimiter), "")
	return f.csvCases
}

// jsonLines returns the cases of a file of JSON Lines.
func (r *reading) jsonLines(f *caseFile) eachCase {
	f.at = r.at(lineDocument(f.files, f.name, true, ""), "")
	return f.jsonLines
}

// wholeFile returns the cases of a YAML or JSON file.
func (r *reading) wholeFile(f *caseFile) eachCase {
	f.at = r.at(wholeDocument(f.files, f.name), "")
	return f.wholeFile
}

// inlineCase is a case that is written in the suite itself.
func inlineCase(at string, o *value.Object) stream {
	return stream{inline: true, each: func(_ *pass, visit func(written) bool) bool { return visit(written{at: at, object: o}) }}
}

// member makes a case from a value in a list of cases: an object, or a row of a table
// whose special columns begin with two underscores.
func (c Cells) member(at string, v any) written {
	w := written{at: at}
	o, ok := v.(*value.Object)
	if !ok {
		w.err = proviso.ErrorAt(at, proviso.Invalid, "expected a case, got %s", kind.Shown(v))
		return w
	}
	w.object = o
	if isRow(o) {
		row, err := c.CaseFromRow(o)
		if err != nil {
			w.err = errorAt(at, err)
			return w
		}
		w.object = row
	}
	return w
}

// isRow reports whether an object is a row of a table rather than a case.
func isRow(o *value.Object) bool {
	special := false
	for key := range o.All() {
		special = special || strings.HasPrefix(key, "__")
	}
	return special && !looksLikeCase(o)
}
