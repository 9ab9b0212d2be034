package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
)

// leastDigits is the minimum number of hash digits that name a version.
const leastDigits = 8

// documentNamed returns the version of a document that text names: NAME for the current
// version, or NAME@VERSION with its number or the first digits of its hash.
func documentNamed(ctx context.Context, kept store.Documents, kind store.Kind, text string) (store.Document, error) {
	name, version, found := strings.Cut(text, "@")
	number, _ := strconv.Atoi(version)
	switch {
	case !found || len(version) == 64:
		return kept.Document(ctx, kind, name, version)
	case number < 1 && (len(version) < leastDigits || strings.Trim(version, "0123456789abcdef") != ""):
		return store.Document{}, proviso.Errorf(proviso.Invalid,
			"a version is its number, or the first %d or more digits of its hash, not %s", leastDigits, strconv.Quote(shortened(version)))
	}
	hash, err := versionNamed(ctx, kept, kind, name, version)
	if err != nil {
		return store.Document{}, err
	}
	return kept.Document(ctx, kind, name, hash)
}

// versionNamed returns the hash of a version, which is named by its number or the first digits
// of its hash. For "", the current version, it returns "". The error suggests a valid name.
func versionNamed(ctx context.Context, kept store.Documents, kind store.Kind, name, version string) (hash string, err error) {
	if version == "" {
		list, err := kept.ListDocuments(ctx, store.DocumentFilter{Kind: kind, Name: name}, store.Page{Limit: 1})
		if err == nil && len(list.Items) == 0 {
			err = noDocument(ctx, kept, kind, name)
		}
		return "", err
	}
	var numbers []string
	var found []*store.Document
	for d, err := range all(ctx, kept.ListDocuments, store.DocumentFilter{Kind: kind, Name: name}) {
		if err != nil {
			return "", err
		}
		if numbers = append(numbers, strconv.Itoa(d.Number)); named(d, version) {
			found = append(found, d)
		}
	}
	switch {
	case len(numbers) == 0:
		return "", noDocument(ctx, kept, kind, name)
	case len(found) == 1:
		return found[0].Hash, nil
	case len(found) > 1:
		return "", proviso.Errorf(proviso.Invalid, "%d versions of %s %q begin with %s", len(found), title(kind), shortened(name), shortened(version))
	}
	e := proviso.Errorf(proviso.NotFound, "there is no version %s of %s %q; %s", shortened(version), title(kind), shortened(name), versionsOf(numbers))
	if near := nearVersion(version, numbers); near != "" {
		e.Valid = []string{near}
	}
	return "", e
}

// named reports whether version names d.
func named(d *store.Document, version string) bool {
	if len(version) >= leastDigits {
		return strings.HasPrefix(d.Hash, version)
	}
	return version == strconv.Itoa(d.Number)
}

// versionsOf lists the existing versions for a message. numbers are newest first.
func versionsOf(numbers []string) string {
	if len(numbers) == 1 {
		return "its only version is " + numbers[0]
	}
	return fmt.Sprintf("its versions are %s to %s", numbers[len(numbers)-1], numbers[0])
}

// nearVersion returns the version nearest to one that does not exist.
func nearVersion(version string, numbers []string) string {
	n, err := strconv.Atoi(version)
	newest, _ := strconv.Atoi(numbers[0])
	switch {
	case err != nil || len(version) >= leastDigits:
		return document.Nearest(version, numbers)
	case n > newest:
		return numbers[0]
	}
	return numbers[len(numbers)-1]
}

// title returns the name of a kind of document.
func title(kind store.Kind) string { return strings.ReplaceAll(string(kind), "_", " ") }

// noDocument is the error of a name without a document. It suggests the nearest name.
func noDocument(ctx context.Context, kept store.Documents, kind store.Kind, name string) error {
	var names []string
	for d, err := range all(ctx, kept.ListDocuments, store.DocumentFilter{Kind: kind}) {
		if err != nil {
			return err
		}
		names = append(names, d.Name)
	}
	message, near := nearestTo(fmt.Sprintf("there is no %s %q", title(kind), shortened(name)), name, names)
	return &proviso.Error{Code: proviso.NotFound, Message: message, Valid: withoutEmpty([]string{near})}
}

func isNotFound(err error) bool {
	return proviso.CodeOf(err) == proviso.NotFound
}

// RunDataset is the version of a dataset that a run uses.
type RunDataset struct {
	Name    string `json:"name"`
	Version string `json:"version" doc:"The hash of the version"`
	Number  int    `json:"number"`
	Asked   string `json:"asked,omitempty" doc:"The version that the suite names; missing if it names none, and the current one was used"`
}

func runDatasets(list []proviso.Dataset) []RunDataset {
	var out []RunDataset
	for _, d := range list {
		out = append(out, RunDataset(d))
	}
	return out
}

// Datasets finds the datasets that a client's suite names.
type Datasets interface {
	// Dataset returns a version, named by its number or by the first digits of its hash, or the
	// current version if version is "".
	Dataset(ctx context.Context, name, version string) (store.Document, error)
}

// storedDatasets are the datasets of a project. An accepted run uses the pinned versions, which
// were current when it was accepted.
type storedDatasets struct {
	kept   store.Documents
	pinned []RunDataset
}

// Dataset implements [Datasets].
func (d storedDatasets) Dataset(ctx context.Context, name, version string) (store.Document, error) {
	hash := ""
	for _, p := range d.pinned {
		if p.Name == name && p.Asked == version {
			hash = p.Version
		}
	}
	if hash == "" {
		var err error
		if hash, err = versionNamed(ctx, d.kept, store.DatasetKind, name, version); err != nil {
			return store.Document{}, err
		}
	}
	doc, err := d.kept.Document(ctx, store.DatasetKind, name, hash)
	if err != nil && isNotFound(err) {
		err = proviso.Errorf(proviso.NotFound, "version %s of dataset %q was removed", shortened(hash), shortened(name))
	}
	return doc, err
}

// datasetFiles stores the datasets of a suite as files in its folder, so that its cases are
// read one at a time.
type datasetFiles struct {
	from Datasets
	dir  string

	mu sync.Mutex
	n  int
}

// Dataset implements [suite.Datasets].
func (f *datasetFiles) Dataset(ctx context.Context, name, version string) (suite.DatasetFile, error) {
	doc, err := f.from.Dataset(ctx, name, version)
	if err != nil {
		return suite.DatasetFile{}, publicError(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	path := filepath.Join(f.dir, "dataset-"+strconv.Itoa(f.n)+".jsonl")
	if err := os.WriteFile(path, doc.Content, 0o600); err != nil {
		if isFull(err) {
			err = &proviso.Error{Code: codeStorage, Message: store.ErrNoRoom.Error()}
		}
		return suite.DatasetFile{}, publicError(err)
	}
	return suite.DatasetFile{Dataset: proviso.Dataset{Name: doc.Name, Version: doc.Hash, Number: doc.Number}, Path: path}, nil
}
