package suite

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// datasetPrefix starts a reference to a dataset: dataset:NAME, or
// dataset:NAME@VERSION.
const datasetPrefix = "dataset:"

// minVersion is the least number of digits of a version's hash.
const minVersion = 8

// Datasets finds the datasets that a suite names.
type Datasets interface {
	// Dataset returns a version of a dataset. The version is a number, or at least the
	// first 8 digits of its hash; "" is the current version. If there is none, the
	// error has the code NotFound, and its Valid has similar names or versions.
	Dataset(ctx context.Context, name, version string) (DatasetFile, error)
}

// DatasetFile is a version of a dataset with its cases.
type DatasetFile struct {
	proviso.Dataset
	Path string // local file with the cases, one JSON object per line
}

// datasetStreams returns the cases of a dataset. They are data, like remote cases:
// variables are not templates and do not name files, and no part of a case is code.
func (r *reading) datasetStreams(doc *document.Document, pointer, ref string) []stream {
	name, version, err := ParseDataset(ref)
	if err != nil {
		r.unseen++
		r.record(doc, pointer, mistakeOf(err), nil)
		return nil
	}
	if r.options.Datasets == nil {
		r.unseen++
		r.unsupported(doc, pointer, "the dataset %q is on a server of proviso, and this command reads files: fetch it with `proviso datasets pull %s`, and name the file here", name, strings.TrimPrefix(ref, datasetPrefix))
		return nil
	}
	found, err := r.options.Datasets.Dataset(r.ctx, name, version)
	if err != nil {
		r.unseen++
		r.record(doc, pointer, mistakeOf(err), nil)
		return nil
	}
	found.Asked = version
	r.datasets = append(r.datasets, found.Dataset)
	files := NewFiles(filepath.Dir(found.Path), FilesOptions{Confine: true})
	files.shown = datasetPrefix + name + "@" + strconv.Itoa(found.Number)
	f := &caseFile{files: files, name: filepath.Base(found.Path), convert: Cells(r.options.Facts.Types).member}
	return []stream{{remote: true, each: r.jsonLines(f)}}
}

// ParseDataset splits a reference to a dataset into its name and version; the version
// is "" if the reference has none.
func ParseDataset(ref string) (name, version string, err error) {
	name, version, pinned := strings.Cut(strings.TrimPrefix(ref, datasetPrefix), "@")
	switch {
	case name == "":
		return "", "", proviso.Errorf(proviso.Invalid, "the name of the dataset is missing: dataset:NAME, or dataset:NAME@VERSION")
	case !isDatasetName(name):
		return "", "", proviso.Errorf(proviso.Invalid, "%s is not a valid dataset name: expected letters, digits, dots, dashes and underscores", quoteName(name))
	case pinned && !isVersion(version):
		return "", "", proviso.Errorf(proviso.Invalid, "%s is not a version of a dataset: expected its number, or at least %d digits of its hash", quoteName(version), minVersion)
	}
	return name, version, nil
}

func isDatasetName(name string) bool {
	return len(name) <= 100 && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
}

func isVersion(text string) bool {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && len(text) < minVersion && text[0] != '+' {
		return true
	}
	return len(text) >= minVersion && len(text) <= 64 && strings.Trim(text, "0123456789abcdef") == ""
}
