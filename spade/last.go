package spade

import (
	"bytes"
	"encoding/csv"
	"os"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
)

// OutputsFile is the file in a run's folder with the outputs that updates added. A run tries
// candidates on them in addition to its own outputs.
const OutputsFile = "outputs.jsonl"

// contentsFile is the file, among those that a run keeps for the next one, with the content
// ids of the matrix's outputs.
const contentsFile = "outputs.csv"

// Last is what a run left in its folder for the next one.
type Last struct {
	Problem selection.Problem
	Known   map[string]string // output id -> content id; nil if it was not kept
}

// ReadLast reads what a run left in its folder; ok is false if the folder has no selection.
func ReadLast(dir string) (l Last, ok bool) {
	f := folder(dir)
	if l.Problem, ok = f.lastProblem(); !ok {
		return l, false
	}
	in, err := os.Open(folder(f.name(lastFolder)).name(contentsFile))
	if err != nil {
		return l, true
	}
	defer in.Close()
	rows := csv.NewReader(in)
	rows.FieldsPerRecord = 2
	list, err := rows.ReadAll()
	if err != nil {
		return l, true
	}
	l.Known = map[string]string{}
	for _, row := range list {
		l.Known[row[0]] = row[1]
	}
	return l, true
}

// Updated is an updated selection.
type Updated struct {
	Grid       *matrix.Grid // of all outputs
	Problem    selection.Problem
	Selection  *selection.Selection
	Took       time.Duration
	Candidates []proviso.Candidate
	Costs      matrix.Costs
	Outputs    []byte // JSON Lines of the outputs to add
}

// Keep writes an update into a run's folder, so that the next run or update continues from it.
// It writes the outputs first, because the rest can be recreated from them. If nothing is
// selected now, the suite stays unchanged.
func Keep(dir string, u Updated) error {
	f := folder(dir)
	if len(u.Outputs) > 0 {
		before, err := os.ReadFile(f.name(OutputsFile))
		if err != nil && !os.IsNotExist(err) {
			return proviso.Errorf(proviso.NotFound, "read %s: %w", f.name(OutputsFile), err)
		}
		if n := len(before); n > 0 && before[n-1] != '\n' {
			before = append(before, '\n')
		}
		if err := f.write(OutputsFile, append(before, u.Outputs...)); err != nil {
			return err
		}
	}
	data, err := u.Costs.JSON()
	if err != nil {
		return err
	}
	if err := f.write(CostsFile, data); err != nil {
		return err
	}
	if err := f.writeBy(MatrixFile, u.Grid.CSV); err != nil {
		return err
	}
	if data, err = u.Selection.JSON(u.Took); err != nil {
		return err
	}
	if err := f.write(SelectionFile, append(data, '\n')); err != nil {
		return err
	}
	if u.Selection.Found() {
		if data, err = u.Selection.Suite(u.Candidates, false); err != nil {
			return err
		}
		if err := f.write(SuiteFile, data); err != nil {
			return err
		}
	}
	return f.keepProblem(u.Problem.Options, u.Grid.Entries)
}

// ReadCosts reads the candidate costs from the runs of a folder; nil if unknown.
func ReadCosts(dir string) matrix.Costs { return folder(dir).costs() }

// contents returns the file with the content ids of the outputs.
func contents(entries []trial.Entry) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, e := range entries {
		_ = w.Write([]string{e.ID, e.OutputID}) // writes to memory
	}
	w.Flush()
	return b.Bytes()
}
