package selection_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/solve"
)

// doubtful is a small matrix with up to six undecided cells, and implications.
func doubtful(r *rand.Rand) (*matrix.Matrix, []candidate.Implication) {
	m, n := 1+r.IntN(4), 2+r.IntN(6)
	out := &matrix.Matrix{}
	for i := range n {
		out.Examples = append(out.Examples, matrix.Example{ID: fmt.Sprint("o", i), Good: i == 0 || i > 1 && r.IntN(2) == 0})
	}
	undecided := 0
	for j := range m {
		out.Names = append(out.Names, fmt.Sprint("c", j))
		column := make([]matrix.Cell, n)
		for i := range column {
			column[i] = matrix.Passed
			if r.Float64() < 0.2 || !out.Examples[i].Good && r.Float64() < 0.5 {
				column[i] = matrix.Failed
			}
			if undecided < 6 && r.Float64() < 0.2 {
				column[i] = matrix.Undecided
				undecided++
			}
		}
		out.Cells = append(out.Cells, column)
	}
	var pairs []candidate.Implication
	for range r.IntN(m + 1) {
		if a, b := r.IntN(m), r.IntN(m); a != b {
			pairs = append(pairs, candidate.Implication{A: out.Names[a], B: out.Names[b]})
		}
	}
	return out, pairs
}

// decided calls each with every possible decision of the undecided cells.
func decided(m *matrix.Matrix, each func(*matrix.Matrix)) {
	var open [][2]int
	for j, column := range m.Cells {
		for i, cell := range column {
			if cell == matrix.Undecided {
				open = append(open, [2]int{j, i})
			}
		}
	}
	for mask := range 1 << len(open) {
		out := &matrix.Matrix{Names: m.Names, Examples: m.Examples}
		for _, column := range m.Cells {
			out.Cells = append(out.Cells, slices.Clone(column))
		}
		for k, at := range open {
			out.Cells[at[0]][at[1]] = matrix.Cell(mask >> k & 1) // Failed or Passed
		}
		each(out)
	}
}

// coverage counts the bad and good examples that a subset of decided candidates fails.
func coverage(m *matrix.Matrix, subset uint) (caught, failed int) {
	for i, e := range m.Examples {
		hit := false
		for rest := subset; rest != 0; rest &= rest - 1 {
			hit = hit || m.Cells[bits.TrailingZeros(rest)][i] == matrix.Failed
		}
		switch {
		case hit && e.Good:
			failed++
		case hit:
			caught++
		}
	}
	return caught, failed
}

// leftOver counts the candidates that are not in a subset and not implied by it.
func leftOver(m *matrix.Matrix, pairs []candidate.Implication, subset uint) int {
	known := subset
	for _, p := range pairs {
		if subset>>slices.Index(m.Names, p.A)&1 == 1 {
			known |= 1 << slices.Index(m.Names, p.B)
		}
	}
	return len(m.Names) - bits.OnesCount(known)
}

// everything tries every subset with every decision of the cells. It returns the smallest
// objective of a subset that is within the thresholds for all decisions, and of one that is
// within them for any decision; -1 if there is none.
func everything(m *matrix.Matrix, pairs []candidate.Implication, o selection.Options) (certain, possible int) {
	good, bad := m.Count()
	need, allow := solve.Thresholds(good, bad, o.Alpha, o.Tau)
	certain, possible = -1, -1
	for subset := range uint(1) << len(m.Names) {
		objective := bits.OnesCount(subset)
		if o.Method == "sub" {
			objective += leftOver(m, pairs, subset)
		}
		always, ever := true, false
		decided(m, func(m *matrix.Matrix) {
			caught, failed := coverage(m, subset)
			within := caught >= need && failed <= allow
			always, ever = always && within, ever || within
		})
		if always && (certain < 0 || objective < certain) {
			certain = objective
		}
		if ever && (possible < 0 || objective < possible) {
			possible = objective
		}
	}
	return certain, possible
}

// TestUndecidedCellsBoundTheSelection compares selections with a search of every subset
// under every decision of the undecided cells.
func TestUndecidedCellsBoundTheSelection(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 2))
	seen := map[string]int{}
	for round := range 1500 {
		m, pairs := doubtful(r)
		o := selection.Options{Method: []string{"cov", "sub"}[r.IntN(2)], Alpha: r.Float64(), Tau: r.Float64() * 0.6}
		s, err := selection.Select(context.Background(), m, pairs, o)
		if err != nil {
			t.Fatal(err)
		}
		certain, possible := everything(m, pairs, o)
		if s.Found() != (certain >= 0) {
			t.Fatalf("round %d: found %v, but the smallest objective is %d", round, s.Found(), certain)
		}
		if !s.Found() {
			if s.Doubt.Possible != (possible >= 0) || s.Open() != (possible >= 0) {
				t.Fatalf("round %d: possible %v, open %v; some decisions allow an objective of %d", round, s.Doubt.Possible, s.Open(), possible)
			}
			seen[s.Status().String()]++
			continue
		}
		if s.Answer.Objective != certain || s.Doubt.LowerBound != possible {
			t.Fatalf("round %d: objective %d with lower bound %d, want %d and %d", round, s.Answer.Objective, s.Doubt.LowerBound, certain, possible)
		}
		boundsHold(t, m, s)
		seen[s.Status().String()]++
	}
	for _, status := range []string{"optimal", "feasible", "infeasible", "unknown"} {
		if seen[status] < 50 {
			t.Errorf("only %d selections are %s: %v", seen[status], status, seen)
		}
	}
}

// boundsHold checks that the range of a selection matches its undecided cells, and that a
// selection with an undecided cell is not called proven.
func boundsHold(t *testing.T, m *matrix.Matrix, s *selection.Selection) {
	t.Helper()
	var subset uint
	cells := 0
	for _, j := range s.Answer.Selected {
		subset |= 1 << j
		for _, cell := range m.Cells[j] {
			if cell == matrix.Undecided {
				cells++
			}
		}
	}
	least, most, fewest, highest := len(m.Examples), 0, len(m.Examples), 0
	decided(m, func(m *matrix.Matrix) {
		caught, failed := coverage(m, subset)
		least, most = min(least, caught), max(most, caught)
		fewest, highest = min(fewest, failed), max(highest, failed)
	})
	got := [4]int{s.Answer.Covered, s.Answer.Covered + s.Doubt.Bad, s.Answer.False - s.Doubt.Good, s.Answer.False}
	if want := [4]int{least, most, fewest, highest}; got != want {
		t.Fatalf("ranges %v, want %v", got, want)
	}
	if s.Doubt.Cells != cells || s.Proven() == (cells > 0) || s.Open() != (cells > 0) {
		t.Fatalf("%d undecided cells, proven %v, open %v; want %d", s.Doubt.Cells, s.Proven(), s.Open(), cells)
	}
}

// TestUndecidedIsNotCaught: a candidate that is undecided on all bad outputs catches
// none by default.
func TestUndecidedIsNotCaught(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,x\na,1,1\nb,1,1\nc,0,\nd,0,\ne,0,\n")
	for undecided, want := range map[string]string{"": "unknown", "bound": "unknown", "fail": "optimal", "ignore": "infeasible"} {
		s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "sub", Alpha: 0.6, Tau: 0.25, Undecided: undecided})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Status().String(); got != want {
			t.Errorf("undecided %q: %s, want %s", undecided, got, want)
		}
	}
	// A throw is a fail.
	m = read(t, "id,label,x\na,1,1\nb,1,1\nc,0,error\nd,0,error\n")
	s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "sub", Alpha: 1, Tau: 0})
	if err != nil || !s.Proven() || s.Answer.Covered != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestUndecidedContradictsNothing: only decided cells contradict an implication.
func TestUndecidedContradictsNothing(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,a,b,c\n1,1,1,,1\n2,1,1,1,1\n3,0,,0,0\n4,0,1,1,0\n")
	pairs := []candidate.Implication{{A: "a", B: "b"}, {A: "a", B: "c"}}
	s, err := selection.Select(context.Background(), m, pairs, selection.Options{Method: "sub", Alpha: 0.5, Tau: 1, DropContradicted: true})
	if err != nil || len(s.Dropped) != 1 || s.Dropped[0] != pairs[1] {
		t.Errorf("dropped %v, %v", s.Dropped, err)
	}
}

// TestUndecidedOnTheFrontier: no point is called optimal while a selected candidate
// has undecided cells.
func TestUndecidedOnTheFrontier(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,x,y\na,1,1,1\nb,1,1,\nc,0,,0\nd,0,0,1\n")
	o := selection.Options{Method: "cov", Alpha: 0.5, Tau: 0.5}
	points, _, _, err := selection.Trades(context.Background(), m, nil, o, selection.Axes{Alphas: []float64{0.5, 1}, Taus: []float64{0, 0.5}}, selection.Prices{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range points {
		got = append(got, p.Status.String())
	}
	// x catches one for certain and possibly both; y may fail a good output.
	if want := "feasible unknown feasible feasible"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPaperFilesAreDecided: the paper's matrices have no undecided cells, so every way
// to count them gives the same proven selection.
func TestPaperFilesAreDecided(t *testing.T) {
	t.Parallel()
	const file = "../../../shared/spade/statsbot/matrix.csv"
	f, err := os.Open(file)
	if err != nil {
		t.Skipf("the paper's data is not here: %v", err)
	}
	defer f.Close()
	m, mistakes := matrix.Read(file, f)
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	var want []string
	for _, undecided := range []string{"bound", "fail", "ignore"} {
		s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "cov", Alpha: 0.6, Tau: 0.25, Undecided: undecided})
		if err != nil || !s.Proven() || s.Doubt.Cells+s.Doubt.Elsewhere != 0 {
			t.Fatalf("%s: %+v, %v", undecided, s, err)
		}
		if want == nil {
			want = s.Selected()
		}
		if !slices.Equal(want, s.Selected()) {
			t.Errorf("%s: %v, want %v", undecided, s.Selected(), want)
		}
	}
}
