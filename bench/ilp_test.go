package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSetOrder holds the order of sets against CPython's, which was recorded as a
// hash: of a set that grew one by one, and of a union of three.
func TestSetOrder(t *testing.T) {
	t.Parallel()
	hash := func(s *pySet) (h uint32) {
		for _, v := range s.members() {
			h = h*31 + uint32(v)
		}
		return h
	}
	for _, c := range []struct {
		seed              uint32
		n, top            int
		size              int
		union, oneByOne32 uint32
	}{
		{1, 40, 100, 46, 513447153, 2368544614},
		{2, 300, 500, 302, 504843678, 605071783},
		{3, 2000, 10000, 2715, 1591833354, 2049702178},
	} {
		r := newRandom(c.seed)
		draw := func(n int) *pySet {
			s := newPySet(nil)
			for range n {
				s.add(int32(r.below(c.top)))
			}
			return s
		}
		a := draw(c.n)
		b := draw(c.n / 4)
		u := a.union(b).union(draw(c.n / 3))
		if got := hash(a); got != c.oneByOne32 {
			t.Errorf("seed %d, one by one: %d, want %d", c.seed, got, c.oneByOne32)
		}
		if got := hash(u); got != c.union || u.used != c.size {
			t.Errorf("seed %d, union: %d of %d, want %d of %d", c.seed, got, u.used, c.union, c.size)
		}
	}
}

// TestGreed holds the greedy selections against those that were recorded.
func TestGreed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape    ilpShape
		cov      []int
		covered  int
		objected int
	}{
		{newShape(50, 100, 1), []int{11, 16, 18, 21, 22, 41}, 6, 42},
		{newShape(200, 500, 1), []int{58, 65, 75, 96, 117, 131, 168, 173}, 8, 161},
		{newShape(500, 2000, 1), []int{15, 57, 147, 163, 213, 214, 323, 422, 449, 492}, 10, 481},
	} {
		in := c.shape.generate()
		cov := newGreed(in).run("cov")
		slices.Sort(cov)
		if !slices.Equal(cov, c.cov) {
			t.Errorf("%s: %v, want %v", in.name, cov, c.cov)
		}
		if n, within := in.worth("cov", cov); n != c.covered || !within {
			t.Errorf("%s cov: %d, within %v", in.name, n, within)
		}
		if n, within := in.worth("sub", newGreed(in).run("sub")); n != c.objected || !within {
			t.Errorf("%s sub: %d, within %v; want %d", in.name, n, within, c.objected)
		}
	}
	none := newShape(50, 100, 1)
	none.alpha, none.tau = 1, 0
	if sel := newGreed(none.generate()).run("sub"); sel != nil {
		t.Errorf("greed found %v where nothing is within the thresholds", sel)
	}
}

func small() *instance {
	return &instance{
		name: "small", alpha: 1, tau: 0.5, good: []bool{true, false, false, true},
		fails: [][]int32{{0, 1}, {1, 2}, {0, 1, 2, 3}, {}}, implies: [][2]int{{0, 1}, {2, 3}},
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		lean   bool
		offset int
		want   string
	}{
		{"cov", false, 0, `Minimize obj: + x0 + x1 + x2 + x3 Subject To
z0_0: z0 - x0 >= 0 z0_2: z0 - x2 >= 0
u1_: u1 - x0 - x1 - x2 <= 0
u2_: u2 - x1 - x2 <= 0
z3_2: z3 - x2 >= 0
count_u: + u1 + u2 >= 2 count_z: + z0 + z3 <= 1
Binary x0 x1 x2 x3 z0 u1 u2 z3 End`},
		// candidate 2 breaks the limit; 0 and 3 are left over exactly if they are
		// not selected, unlike 1
		{"sub", true, 3, `Minimize obj: + 0 x0 + s1 + x1 + 0 x3 Subject To
z0_0: z0 - x0 >= 0
u1_: u1 - x0 - x1 <= 0
u2_: u2 - x1 <= 0
count_u: + u1 + u2 >= 2 count_z: + z0 <= 1
s1_: s1 + x1 + x0 >= 1
Bounds 0 <= z0 <= 1 0 <= u1 <= 1 0 <= u2 <= 1 0 <= s1 <= 1
Binary x0 x1 x3 End`},
	} {
		var b bytes.Buffer
		p := newProgram(small(), c.method, c.lean)
		if err := p.write(&b); err != nil {
			t.Fatal(err)
		}
		got, want := strings.Join(strings.Fields(b.String()), " "), strings.Join(strings.Fields(c.want), " ")
		if got != want || p.offset != c.offset {
			t.Errorf("%s, lean %v: offset %d, want %d:\n%s\nwant\n%s", c.method, c.lean, p.offset, c.offset, got, want)
		}
	}
}

func TestReadCBC(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "solution")
	for _, c := range []struct {
		log, solution string
		want          outcome
		selected      []int
	}{
		{
			"Enumerated nodes: 12\nLower bound: 1.200\n", "Stopped on time - objective value 2.00000000\n      0 x0      1  1\n      1 x1  0.9999999  1\n**    2 x2   0   1\n      3 u1   1   0\n",
			outcome{status: "feasible", nodes: 12, bound: 5}, []int{0, 1},
		},
		{"", "Stopped on time (no integer solution - continuous used) - objective value 0.6\n 0 x0 0.7 1\n", outcome{status: "no answer", bound: none}, nil},
		{"", "Infeasible - objective value 2.00000000\n** 0 x0 2 0\n", outcome{status: "infeasible", bound: none}, nil},
		{"", "Optimal - objective value 0.00000000\n      0 x0      0  1\n", outcome{status: "optimal", bound: none}, []int{}},
	} {
		if err := os.WriteFile(file, []byte(c.solution), 0o600); err != nil {
			t.Fatal(err)
		}
		o := outcome{bound: none}
		o.readLog([]byte(c.log), 3)
		selected, err := o.readSolution(file)
		if err != nil {
			t.Fatal(err)
		}
		if o != c.want || !slices.Equal(selected, c.selected) || (selected == nil) != (c.selected == nil) {
			t.Errorf("%q: %+v %v, want %+v %v", c.solution, o, selected, c.want, c.selected)
		}
	}
	o := outcome{}
	if selected, err := o.readSolution(file + "-none"); err != nil || selected != nil || o.status != "no answer" {
		t.Errorf("without a file: %v %v %q", selected, err, o.status)
	}
}

// TestAnswersAreChecked sees that a solver that is wrong is found out.
func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	in := small()
	for _, c := range []struct {
		answered int
		selected []int
		ok       bool
	}{
		{3, []int{1}, false},   // it leaves 0, 2 and 3
		{4, []int{1}, true},    // 1 selected, 3 left over
		{none, []int{1}, true}, // a solver that only says which
		{4, []int{0}, false},   // 2 is not caught
		{3, []int{2}, false},   // too many false failures
	} {
		o := outcome{objective: c.answered}
		if err := o.check(in, "sub", c.selected); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	target := ilpTarget{seconds: 1, gap: 0.03, greedy: 12}
	o := outcome{figure: figure{cpu: 500 * time.Millisecond, rss: 100}, status: "optimal", objective: 12, bound: 12}
	if got := target.verdict(&o); strings.Contains(got, "MISS") {
		t.Error(got)
	}
	for name, o := range map[string]outcome{
		"slow":   {figure: figure{cpu: 2 * time.Second}, status: "optimal", objective: 12, bound: 12},
		"open":   {status: "feasible", objective: 12, bound: 12},
		"gap":    {status: "optimal", objective: 12, bound: 11},
		"worse":  {status: "optimal", objective: 13, bound: 13},
		"memory": {figure: figure{rss: 300}, status: "optimal", objective: 12, bound: 12},
		"none":   {status: "unknown", objective: none, bound: none},
	} {
		if got := target.verdict(&o); !strings.Contains(got, "MISS") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
