package spade

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
)

// The files in the folder of [Steps].
const (
	DeltasFile       = "deltas.json"
	CandidatesFile   = "candidates.yaml"
	MatrixFile       = "matrix.csv"
	ImplicationsFile = "implications.csv"
	SelectionFile    = "selection.json"
	CostsFile        = "costs.json"
	SuiteFile        = "selected.yaml"
)

// What a run keeps to compare with the next run: a folder with the matrix, the implications
// and the selection options.
const (
	lastFolder  = "last"
	optionsFile = "options.json"
)

// maxEarlier bounds the file of the previous proposal, in bytes.
const maxEarlier = 256 << 20

// folder is where a run keeps its files; "" keeps none.
type folder string

func (f folder) name(file string) string { return filepath.Join(string(f), file) }

func (f folder) write(file string, data []byte) error {
	return f.writeBy(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeBy writes a file, which appears only when it is complete. It writes to a device or a
// pipe directly.
func (f folder) writeBy(file string, write func(io.Writer) error) error {
	if f == "" {
		return nil
	}
	name := f.name(file)
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return proviso.Errorf(proviso.Unavailable, "make the folder %s: %w", string(f), err)
	}
	err := blobs.WriteBy(name, 0o644, write)
	switch {
	case errors.Is(err, blobs.ErrFolder):
		return proviso.Errorf(proviso.Invalid, "write %s: %w", name, err)
	case err != nil:
		return proviso.Errorf(proviso.Unavailable, "write %s: %w", name, err)
	}
	return nil
}

// EarlierError is the error of [Run] if the candidates in its folder cannot be read.
type EarlierError struct {
	File     string
	Mistakes proviso.Mistakes
}

// Error names the file and its mistakes.
func (e *EarlierError) Error() string { return e.File + " cannot be continued: " + e.Mistakes.Error() }

// Unwrap returns the mistakes.
func (e *EarlierError) Unwrap() error { return e.Mistakes }

// earlier reads the previous run's proposal; nil if there is none.
func (f folder) earlier() (*propose.Earlier, error) {
	if f == "" {
		return nil, nil
	}
	name := f.name(CandidatesFile)
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, nil // the write creates it or fails
	}
	if info.Size() > maxEarlier {
		return nil, proviso.Errorf(proviso.Limit, "%s is longer than the %d MiB that are read", name, maxEarlier>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, proviso.Errorf(proviso.NotFound, "read %s: %w", name, err)
	}
	e, mistakes := propose.ReadEarlier(name, data)
	if mistakes.Err() != nil {
		return nil, &EarlierError{File: name, Mistakes: mistakes}
	}
	return e, nil
}

// costs reads the candidate costs of earlier runs; nil if they are missing or unreadable,
// because they are measured again.
func (f folder) costs() matrix.Costs {
	if f == "" {
		return nil
	}
	data, err := os.ReadFile(f.name(CostsFile))
	if err != nil {
		return nil
	}
	costs, _ := matrix.ReadCosts(CostsFile, data)
	return costs
}

// lastProblem reads the input of the previous selection; ok is false if it is missing or
// unreadable.
func (f folder) lastProblem() (p selection.Problem, ok bool) {
	last := folder(f.name(lastFolder))
	data, err := os.ReadFile(last.name(optionsFile))
	if err != nil || json.Unmarshal(data, &p.Options) != nil || p.Options.Valid() != nil {
		return p, false
	}
	in, err := os.Open(last.name(MatrixFile))
	if err != nil {
		return p, false
	}
	defer in.Close()
	m, mistakes := matrix.Read(MatrixFile, in)
	if mistakes.Err() != nil {
		return p, false
	}
	implications, err := os.Open(last.name(ImplicationsFile))
	if err != nil {
		return p, false
	}
	defer implications.Close()
	p.Matrix = m
	p.Implications, mistakes = candidate.ReadImplications(ImplicationsFile, implications, "final", m.Names)
	return p, mistakes.Err() == nil
}

// keepProblem keeps the input of the selection. It writes the options last: without them, a
// partially written problem does not count.
func (f folder) keepProblem(o selection.Options, entries []trial.Entry) error {
	last := folder(f.name(lastFolder))
	if err := os.MkdirAll(string(last), 0o755); err != nil {
		return err
	}
	if err := os.Remove(last.name(optionsFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, name := range []string{MatrixFile, ImplicationsFile} {
		data, err := os.ReadFile(f.name(name))
		if err != nil {
			return err
		}
		if err := blobs.Replace(last.name(name), data, 0o644); err != nil {
			return err
		}
	}
	if err := blobs.Replace(last.name(contentsFile), contents(entries), 0o644); err != nil {
		return err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return blobs.Replace(last.name(optionsFile), data, 0o644)
}
