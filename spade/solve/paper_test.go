package solve_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/spade/solve"
)

// The data of the paper has no licence, so it is kept outside the repository.
const paperData = "../../../shared/spade"

func paper(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(paperData); err != nil {
		t.Skipf("the paper's data is not here: %v", err)
	}
	return paperData
}

var pipelines = []string{"codereviews", "emails", "finance", "lecturesummaries", "sportroutine", "statsbot"}

func readCSV(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// pipeline reads one matrix with the implications of one set.
func pipeline(t testing.TB, dir, set string, consistent bool) *solve.Instance {
	t.Helper()
	records := readCSV(t, filepath.Join(dir, "matrix.csv"))
	names := map[string]int{}
	for j, name := range records[0][2:] {
		names[name] = j
	}
	in := &solve.Instance{Fails: make([][]int, len(names))}
	for i, row := range records[1:] {
		in.Good = append(in.Good, row[1] == "1")
		for j, cell := range row[2:] {
			if cell == "0" {
				in.Fails[j] = append(in.Fails[j], i)
			}
		}
	}
	for _, row := range readCSV(t, filepath.Join(dir, "subsumption.csv"))[1:] {
		if row[0] == set && !(consistent && row[3] == "contradicted") {
			in.Implies = append(in.Implies, [2]int{names[row[1]], names[row[2]]})
		}
	}
	good, bad := in.Count()
	in.Need, in.Allow = solve.Thresholds(good, bad, 0.6, 0.25)
	return in
}

type expectation struct {
	Table4 []struct {
		Method   string
		Selected int
		FFR      float64 `json:"false_failure_rate"`
		Coverage float64
	} `json:"paper_table4"`
	Optima map[string]struct {
		Canonical struct {
			FG        int `json:"F_plus_G"`
			Selection []int
		}
	} `json:"proved_optima"`
	NoExamples map[string]struct {
		Sources   int   `json:"source_components"`
		Selection []int `json:"selection_smallest_index_per_source"`
	} `json:"no_examples"`
}

func expected(t testing.TB, dir string) (e expectation) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func solved(t testing.TB, in *solve.Instance, method solve.Method) *solve.Answer {
	t.Helper()
	a, err := solve.Solve(context.Background(), in, method, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != solve.Optimal || !a.Tied {
		t.Fatalf("%v: %v, ties broken: %v", method, a.Status, a.Tied)
	}
	return a
}

// TestPaper compares the answers for the paper's pipelines with its Table 4 and with
// optima that an integer program proved.
func TestPaper(t *testing.T) {
	t.Parallel()
	for _, name := range pipelines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(paper(t), name)
			want := expected(t, dir)
			in := pipeline(t, dir, "final", false)
			good, bad := in.Count()
			near := func(got int, of int, rate float64) bool {
				return math.Abs(float64(got)/float64(of)-rate) < 0.0006
			}
			for _, row := range want.Table4 {
				switch row.Method {
				case "spade_base":
					a := solved(t, in, solve.Base)
					if len(a.Selected) != row.Selected || !near(a.False, good, row.FFR) || !near(a.Covered, bad, row.Coverage) {
						t.Errorf("base: %d, %d of %d, %d of %d; want %+v", len(a.Selected), a.False, good, a.Covered, bad, row)
					}
				case "spade_cov":
					if a := solved(t, in, solve.Coverage); len(a.Selected) != row.Selected {
						t.Errorf("cov: %d, want %+v", len(a.Selected), row)
					}
				case "spade_sub":
					if a := solved(t, in, solve.Subsumption); len(a.Selected) > row.Selected {
						t.Errorf("sub: %d, want no more than %+v", len(a.Selected), row)
					}
				}
			}
			for set, o := range want.Optima {
				if o.Canonical.Selection == nil {
					continue
				}
				consistent := set == "final_consistent"
				a := solved(t, pipeline(t, dir, "final", consistent), solve.Subsumption)
				if a.Objective != o.Canonical.FG || !slices.Equal(a.Selected, o.Canonical.Selection) {
					t.Errorf("%s: %d %v, want %d %v", set, a.Objective, a.Selected, o.Canonical.FG, o.Canonical.Selection)
				}
			}
			a := solved(t, in, solve.None)
			if n := want.NoExamples["final"]; len(a.Selected) != n.Sources || !slices.Equal(a.Selected, n.Selection) {
				t.Errorf("none: %v, want %v", a.Selected, n.Selection)
			}
		})
	}
}

func BenchmarkPaper(b *testing.B) {
	for _, name := range pipelines {
		for _, method := range []solve.Method{solve.Coverage, solve.Subsumption} {
			b.Run(fmt.Sprintf("%s/%v", name, method), func(b *testing.B) {
				in := pipeline(b, filepath.Join(paper(b), name), "final", false)
				var longest time.Duration
				for b.Loop() {
					start := time.Now()
					solved(b, in, method)
					longest = max(longest, time.Since(start))
				}
				b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
			})
		}
	}
}
