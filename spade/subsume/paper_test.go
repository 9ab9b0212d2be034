package subsume_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// publishedSets holds known counts for the paper's pipelines: the pairs of its final
// set, those that an output contradicts, and those with a candidate above tau 0.25.
var publishedSets = map[string]struct{ pairs, contradicted, unfair int }{
	"codereviews": {13, 3, 5}, "emails": {24, 5, 22}, "finance": {28, 23, 10}, "lecturesummaries": {67, 13, 46}, "sportroutine": {18, 9, 11}, "statsbot": {8, 4, 6},
}

func TestPublishedImplications(t *testing.T) {
	t.Parallel()
	root := "../../../shared/spade"
	if _, err := os.Stat(root); err != nil {
		t.Skip("the published data is not here")
	}
	for name, want := range publishedSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, name)
			f, err := os.Open(filepath.Join(dir, "matrix.csv"))
			if err != nil {
				t.Skip(err)
			}
			defer f.Close()
			m, mistakes := matrix.Read("matrix.csv", f)
			if mistakes.Err() != nil {
				t.Fatal(mistakes)
			}
			for set, counts := range map[string]struct{ pairs, contradicted, unfair int }{"final": want, "pairwise_old": {-1, 0, -1}} {
				given, against := publishedPairs(t, dir, set, m.Names)
				s, err := subsume.Find(t.Context(), nil, subsume.Options{Matrix: m, Given: given})
				if err != nil {
					t.Fatal(err)
				}
				dropped := 0
				for i := range s.Pairs {
					p := &s.Pairs[i]
					if p.Source == subsume.FromClosure {
						continue
					}
					drop := p.Outcome == subsume.Contradicted
					if drop {
						dropped++
					}
					if drop != against[[2]string{s.Names[p.A], s.Names[p.B]}] {
						t.Errorf("%s: %s → %s is %s", set, s.Names[p.A], s.Names[p.B], p.Outcome)
					}
				}
				tau := 0.25
				fair, err := subsume.Find(t.Context(), nil, subsume.Options{Matrix: m, Given: given, Tau: &tau})
				if err != nil {
					t.Fatal(err)
				}
				unfair := 0
				for i := range fair.Pairs {
					p := &fair.Pairs[i]
					above := falseFailures(m, p.A) > 0.25+1e-9 || falseFailures(m, p.B) > 0.25+1e-9
					if above && p.Source == subsume.FromFile {
						unfair++
					}
					if above && p.Outcome == subsume.Kept || !above && p.Outcome == subsume.Unreliable {
						t.Errorf("%s: %s → %s is %s", set, fair.Names[p.A], fair.Names[p.B], p.Outcome)
					}
				}
				t.Logf("%s: %d pairs, %d contradicted, %d kept, %d with what follows; with tau %d", set, len(given), dropped, len(given)-dropped, s.Count("final"), fair.Count("final"))
				if dropped != counts.contradicted || counts.pairs >= 0 && (len(given) != counts.pairs || unfair != counts.unfair) {
					t.Errorf("%s: %d pairs, %d contradicted, %d with an end above tau, want %+v", set, len(given), dropped, unfair, counts)
				}
			}
		})
	}
}

// falseFailures is the share of the good examples that a candidate fails.
func falseFailures(m *matrix.Matrix, j int) float64 {
	fails, good := 0, 0
	for i, e := range m.Examples {
		if e.Good {
			good++
			if m.Cells[j][i] == matrix.Failed {
				fails++
			}
		}
	}
	return float64(fails) / float64(good)
}

// publishedPairs reads a set, and which of its pairs the data contradict.
func publishedPairs(t *testing.T, dir, set string, names []string) ([]candidate.Implication, map[[2]string]bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "subsumption.csv"))
	if err != nil {
		t.Skip(err)
	}
	given, mistakes := candidate.ReadImplications("subsumption.csv", bytes.NewReader(data), set, names)
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	against := map[[2]string]bool{}
	for _, row := range rows[1:] {
		if row[0] == set && row[3] == "contradicted" {
			against[[2]string{row[1], row[2]}] = true
		}
	}
	return given, against
}
