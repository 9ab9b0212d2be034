package matrix_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// TestDownloadedPython: functions that were written from assertions decide like the
// assertions, and Python functions stay unchanged.
func TestDownloadedPython(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", `assertions:
- {id: a, description: 'Says "hello".', type: contains, value: 'say "hello"'}
- {id: b, type: icontains, value: ΟΔΟΣ}
- {id: c, type: not-contains-any, value: ["it's", '\d {x}']}
- {id: d, type: icontains-all, value: [HELLO, world]}
- {id: e, type: starts-with, value: "It's\n\"so\""}
- {id: f, type: not-ends-with, value: "."}
- {id: g, type: not-icontains-any, value: [İ, ß]}
- id: h
  type: python
  value: |
    LIMIT = 3
    def h(example, prompt, response):
        """It is short."""
        return len(response) > LIMIT
- id: i
  type: python
  value: |
    LIMIT = 4
    def i(example, prompt, response):
        return len(response) > LIMIT
- {id: j, type: word-count, value: {max: 3}}
- {id: k, type: contains, value: "{{x}}"}
- {id: l, type: contains, value: x, when: "true"}
- {id: m-n, type: contains, value: x}
`)
	data, left := python.File(list, []string{"Selected."})
	want := []string{
		"i: LIMIT means something else in another function", "j: word-count has no exact form in Python",
		"k: it has a template or a file", "l: a function has no when", "m-n: its name is not a valid name in Python",
	}
	if !reflect.DeepEqual(left, want) {
		t.Errorf("%q", left)
	}
	again := candidates(t, "c.py", string(data))
	kept := list[:8]
	trials := outputs("", `say "hello"`, "say hello", "οδος", "ΟΔΟΣ", "it's", `\d {x}`, "Hello, World.", "hello world", "It's\n\"so\" it is.", "i̇", "İ", "ß", "SS", ".", "abc", "abcd")
	o := matrix.Options{Compiler: check.New(check.Options{}), Code: confined(t, 2)}
	var got [2]*matrix.Grid
	for i, l := range [][]int{{0}, {1}} {
		from := kept
		if l[0] == 1 {
			from = again
		}
		var err error
		if got[i], err = matrix.Try(t.Context(), from, trial.List(trials), o); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got[0].Names, got[1].Names) || !reflect.DeepEqual(got[0].Cells, got[1].Cells) {
		t.Errorf("%v %v\n%v\n%v\n%s", got[0].Names, got[1].Names, got[0].Cells, got[1].Cells, data)
	}
}

// TestAuthorsFileRuns: a function that needs a package is undecided without it, and no other
// function is.
func TestAuthorsFileRuns(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../candidate/testdata/authors.py")
	if err != nil {
		t.Fatal(err)
	}
	list := candidates(t, "c.py", strings.ReplaceAll(string(data), "import emoji", "import no_such_emoji as emoji"))
	var runs []int
	for i := range list {
		if f, ok := python.Of(list[i].Assertion); ok && !f.AsksModel {
			runs = append(runs, i)
		}
	}
	kept := list[:0]
	for _, i := range runs {
		kept = append(kept, list[i])
	}
	trials := []trial.Trial{{ID: "1", Output: "Hello there", Vars: value.ObjectOf("limit", "3")}}
	g, err := matrix.Try(t.Context(), kept, trial.List(trials), matrix.Options{Compiler: check.New(check.Options{}), Code: confined(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if want := []matrix.Cell{matrix.Passed, matrix.Undecided, matrix.Passed}; !reflect.DeepEqual(g.Cells[0], want) || !strings.Contains(strings.Join(g.Columns[1].Why, ""), "no_such_emoji") {
		t.Errorf("%v %v %v", g.Names, g.Cells, g.Columns)
	}
}
