package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Descriptions of the files that the command line can name, for messages.
const (
	holdsMatrix       = "a matrix: CSV with id, label and a column for each candidate"
	holdsImplications = "implications: CSV with the columns a and b"
	holdsCandidates   = "candidates: a list of assertions in YAML, JSON or JSON Lines, or functions in Python"
	holdsCosts        = "costs: JSON that spade matrix or spade run writes"
	holdsOutputs      = "outputs: CSV or JSON Lines with output and, if they are known, id, label and variables"
	holdsLabels       = "labels: CSV or JSON Lines with id and label"
	holdsVersions     = "the versions of a prompt: a folder with a file for each, or JSON or JSON Lines"
	holdsTaxonomy     = "labelled changes: JSON Lines with diff and ground_truth"
	holdsRequest      = "a request: a JSON object with agent_input, agent_output and assertions"
	holdsAlignment    = "outputs with labels: CSV or JSON Lines"
	holdsRun          = "a report or a run file of an earlier evaluation"
)

// openFile opens a file from the command line as a stream. If it does not exist, the error names
// the expected content and a similar file name.
func openFile(name, holds string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, notThere(name, holds, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, proviso.Errorf(proviso.NotFound, "%s is a folder; expected a file with %s", name, holds)
	}
	return f, nil
}

// notThere returns the error for a file that cannot be opened.
func notThere(name, holds string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return proviso.Errorf(proviso.NotFound, "the file %s does not exist%s; expected %s", name, nearFile(name), holds)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return proviso.Errorf(proviso.NotFound, "the file %s cannot be opened: %w; expected %s", name, err, holds)
}

// nearFile names, in parentheses, a file in the same folder with a similar name, or
// reports that the folder does not exist.
func nearFile(name string) string {
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ", and neither does its folder"
		}
		return ""
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	near := document.Nearest(base, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", dir+near)
}

// maxInput bounds the files that commands read into memory, in bytes.
const maxInput = 256 << 20

// maxSettings bounds the files that only configure a command, in bytes.
const maxSettings = 1 << 20

// openInput opens a file as a stream, or standard input for -.
func (a *app) openInput(name, holds string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in), nil
	}
	return openFile(name, holds)
}

// readInput reads a whole file, or standard input for -. Messages name its expected content.
func (a *app) readInput(name, holds string) ([]byte, error) {
	return a.readBounded(name, holds, maxInput)
}

// readBounded is readInput for a file of at most most bytes.
func (a *app) readBounded(name, holds string, most int64) ([]byte, error) {
	file, err := a.openInput(name, holds)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	longer := proviso.Errorf(proviso.Limit, "%s is longer than the %d MiB that are read; expected %s", shownName(name), most>>20, holds)
	if f, ok := file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() > most {
			return nil, longer
		}
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, proviso.Errorf(proviso.NotFound, "read %s: %w", shownName(name), err)
	}
	if int64(len(data)) > most {
		return nil, longer
	}
	return data, nil
}

// readAs reads a file, or standard input for -, with a function that returns its mistakes, which
// are printed.
func readAs[T any](a *app, name, holds string, read func(string, []byte) (T, proviso.Mistakes)) (v T, err error) {
	data, err := a.readInput(name, holds)
	if err != nil {
		return v, err
	}
	v, mistakes := read(shownName(name), data)
	return v, a.mistakes(inOrder(mistakes))
}

// streamAs is readAs for a function that reads a stream.
func streamAs[T any](a *app, name, holds string, read func(string, io.Reader) (T, proviso.Mistakes)) (v T, err error) {
	file, err := a.openInput(name, holds)
	if err != nil {
		return v, err
	}
	defer file.Close()
	v, mistakes := read(shownName(name), file)
	return v, a.mistakes(mistakes)
}

// shownName returns the name of a file for messages.
func shownName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
