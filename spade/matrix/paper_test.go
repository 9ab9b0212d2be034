package matrix_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// paperFiles names the variable for a folder with what the paper's authors published of each
// pipeline, if it is not in paperData: their functions, NAME.py or
// NAME/candidate_assertions.py, the labelled outputs NAME/labeled.jsonl and NAME/matrix.csv.
// None has a licence, so none is in this repository.
const (
	paperFiles = "PROVISO_SPADE_FILES"
	paperData  = "../../../shared/spade"
)

// published reads the first of the files that exists; nil if none does.
func published(files ...string) []byte {
	for _, dir := range []string{os.Getenv(paperFiles), paperData} {
		for _, file := range files {
			if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil && dir != "" {
				return data
			}
		}
	}
	return nil
}

// TestPublishedFunctions: the files of the paper's authors are read unchanged, and every
// function that asks no model decides each output as in their matrix.
func TestPublishedFunctions(t *testing.T) {
	t.Parallel()
	for name, pure := range map[string]int{"codereviews": 21, "emails": 13, "finance": 1, "lecturesummaries": 45, "sportroutine": 19, "statsbot": 11, "negotiation": 48, "threads": 21} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := publishedFunctions(t, name)
			var kept []proviso.Candidate
			for i := range list {
				if f, ok := python.Of(list[i].Assertion); ok && !f.AsksModel {
					kept = append(kept, list[i])
				}
			}
			if len(kept) < pure {
				t.Errorf("%d functions ask no model; at least %d are expected", len(kept), pure)
			}
			want := publishedMatrix(t, name)
			trials := publishedOutputs(t, name)
			if want == nil || trials == nil {
				return // of these pipelines, only the functions are public
			}
			g, err := matrix.Try(t.Context(), kept, trial.List(trials), matrix.Options{Compiler: check.New(check.Options{}), Code: confined(t, 2)})
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for j, name := range g.Names {
				for i, e := range g.Entries {
					cell, ok := want[e.ID][name]
					if !ok {
						continue // lecturesummaries lists 70 of its 124 functions
					}
					if compared++; (g.Cells[i][j] == matrix.Passed) != (cell == "1") || g.Cells[i][j] == matrix.Undecided {
						t.Errorf("%s on output %s: %v, published %s: %v", name, e.ID, g.Cells[i][j], cell, g.Columns[j])
					}
				}
			}
			if compared != pure*len(trials) {
				t.Errorf("%d cells were compared, not %d", compared, pure*len(trials))
			}
		})
	}
}

// publishedFunctions reads a file of the authors, or skips the test.
func publishedFunctions(t *testing.T, name string) []proviso.Candidate {
	t.Helper()
	data := published(name+".py", filepath.Join(name, "candidate_assertions.py"))
	if data == nil {
		t.Skipf("the functions of the authors are not here: put them into the folder that %s names, as %s.py", paperFiles, name)
	}
	list, mistakes := candidate.Read(name+".py", data)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// publishedMatrix returns the cells by output and candidate; nil if there are none.
func publishedMatrix(t *testing.T, name string) map[string]map[string]string {
	t.Helper()
	data := published(filepath.Join(name, "matrix.csv"))
	if data == nil {
		return nil
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string]string{}
	for _, row := range rows[1:] {
		cells[row[0]] = map[string]string{}
		for j, cell := range row {
			cells[row[0]][rows[0][j]] = cell
		}
	}
	return cells
}

// publishedOutputs reads the labelled outputs; nil if there are none. In codereviews the
// authors passed their functions the variable's content as JSON.
func publishedOutputs(t *testing.T, name string) []trial.Trial {
	t.Helper()
	data := published(filepath.Join(name, "labeled.jsonl"))
	if data == nil {
		return nil
	}
	trials, mistakes := trial.Read("labeled.jsonl", data)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var row struct {
			Example json.RawMessage `json:"assertion_example"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if row.Example == nil {
			continue
		}
		example, err := value.ParseJSON(string(row.Example))
		if err != nil {
			t.Fatal(err)
		}
		trials[i].Vars = example.(*value.Object)
	}
	return trials
}
