package matrix_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/matrix"
)

// record is a row as in its JSON.
type record struct {
	Index     int            `json:"index"`
	CaseID    string         `json:"caseId"`
	TestIdx   int            `json:"testIdx"`
	PromptIdx int            `json:"promptIdx"`
	Provider  map[string]any `json:"provider"`
	Prompt    map[string]any `json:"prompt"`
	TestCase  map[string]any `json:"testCase,omitempty"`
	Response  map[string]any `json:"response"`
	Verdict   string         `json:"verdict"`
	Grading   struct {
		List []component `json:"componentResults"`
	} `json:"gradingResult"`
	Repeat *repeat `json:"repeat,omitempty"`
}

type component struct {
	Status    string         `json:"status"`
	Reason    string         `json:"reason"`
	Assertion map[string]any `json:"assertion"`
	Members   int            `json:"members,omitempty"`
}

type repeat struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

var statuses = []string{"pass", "fail", "error", "skip"}

// runOf makes the rows of a run in index order.
func runOf(r *rand.Rand, cases, columns, repeats int) []record {
	var list []record
	assertions := []map[string]any{{"type": "contains", "value": "a"}, {"type": "llm-rubric", "metric": "tone", "value": strings.Repeat("polite ", 30)}, {"id": "short", "type": "javascript"}}
	for again := range repeats {
		for i := range cases {
			for column := range columns {
				x := record{CaseID: fmt.Sprintf("case \"%d\"", i), TestIdx: again*cases + i, PromptIdx: column, Verdict: statuses[r.IntN(4)],
					Provider: map[string]any{"id": "echo", "label": []string{"", "the \u00e9cho"}[column%2]}, Prompt: map[string]any{"raw": "x", "label": fmt.Sprint("prompt ", column)},
					Response: map[string]any{"output": `{"verdict":"pass"} \" [`}}
				x.Index = x.TestIdx*columns + column
				if i%2 == 0 {
					x.TestCase = map[string]any{"description": fmt.Sprintf("title %d", i)}
				}
				if repeats > 1 {
					x.Repeat = &repeat{again, repeats}
				}
				for _, a := range append(slices.Clone(assertions), map[string]any{"type": "equals", "value": fmt.Sprint(i % 3)}) {
					if r.IntN(4) > 0 {
						x.Grading.List = append(x.Grading.List, component{Status: statuses[r.IntN(4)], Reason: `"status":"fail"`, Assertion: a})
					}
				}
				list = append(list, x)
			}
		}
	}
	return list
}

func encoded(t testing.TB, list []record) iter.Seq2[int, []byte] {
	var b []byte
	return func(yield func(int, []byte) bool) {
		for i := range list {
			data, err := json.Marshal(list[i])
			if err != nil {
				t.Fatal(err)
			}
			if b = append(b[:0], data...); !yield(list[i].Index, b) { // the same memory each time
				return
			}
		}
	}
}

func code(status string) byte { return byte(1 + slices.Index(statuses, status)) }

// TestMatrixOfRows: whatever the order of the rows, the matrix has their verdicts.
func TestMatrixOfRows(t *testing.T) {
	t.Parallel()
	names := map[string]string{"contains": "contains a", "javascript": "short", "llm-rubric": "tone"}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		cases, columns, repeats := 1+r.IntN(30), 1+r.IntN(4), 1+r.IntN(3)
		list := runOf(r, cases, columns, repeats)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:1+r.IntN(len(list))] // an unfinished run
		b := matrix.NewBuilder(nil)
		if err := b.AddAll(encoded(t, list)); err != nil {
			t.Fatal(err)
		}
		m, err := b.Matrix()
		if err != nil {
			t.Fatal(err)
		}
		rows, verdicts := map[uint32]bool{}, 0
		for _, x := range list {
			k := 0
			if x.Repeat != nil {
				k = x.Repeat.Index
			}
			i := slices.Index(m.Cases, x.CaseID)
			at := (i*len(m.Columns)+x.PromptIdx)*m.Repeats + k
			index := binary.LittleEndian.Uint32(m.Index[4*at:])
			if rows[index] = true; int(index) != x.Index || m.Cells[at] != code(x.Verdict) {
				t.Fatalf("seed %d: the cell of %+v has row %d and status %d", seed, x, index, m.Cells[at])
			}
			if title, _ := x.TestCase["description"].(string); len(m.Titles) > 0 && m.Titles[i] != title {
				t.Errorf("title %q, want %q", m.Titles[i], title)
			}
			if want := []string{"echo", "the écho"}[x.PromptIdx%2]; m.Columns[x.PromptIdx] != (matrix.Column{Prompt: fmt.Sprint("prompt ", x.PromptIdx), Provider: want}) {
				t.Errorf("column %+v", m.Columns[x.PromptIdx])
			}
			for _, c := range x.Grading.List {
				name := names[c.Assertion["type"].(string)]
				if name == "" {
					name = "equals " + c.Assertion["value"].(string)
				}
				if verdicts++; m.Verdicts[name][at] != code(c.Status) {
					t.Errorf("%s of row %d is %d, want %s", name, x.Index, m.Verdicts[name][at], c.Status)
				}
			}
		}
		filled := 0
		for _, codes := range m.Verdicts {
			filled += len(codes) - bytes.Count(codes, []byte{matrix.Running})
		}
		if len(rows) != len(list) || m.Finished != len(list) || filled != verdicts || len(m.Cells)-bytes.Count(m.Cells, []byte{matrix.Running}) != len(list) {
			t.Errorf("seed %d: %d rows, %d verdicts; want %d and %d", seed, m.Finished, filled, len(list), verdicts)
		}
		if !slices.Equal(slices.Sorted(slices.Values(m.Assertions)), slices.Sorted(maps.Keys(m.Verdicts))) || len(m.Types) != len(m.Assertions) {
			t.Errorf("assertions %q with types %q and verdicts of %d", m.Assertions, m.Types, len(m.Verdicts))
		}
	}
}

// TestOneByOne: rows that are added one by one, in any order, make the same matrix as all at
// once, and an intermediate matrix changes nothing.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	list := runOf(r, 500, 3, 2)
	all, one := matrix.NewBuilder(nil), matrix.NewBuilder(nil)
	if err := all.AddAll(encoded(t, list)); err != nil {
		t.Fatal(err)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, data := range encoded(t, list) {
		if err := one.Add(data); err != nil {
			t.Fatal(err)
		}
		if one.Len()%1000 == 0 {
			if _, err := one.Matrix(); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, err := all.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	b, err := one.Matrix()
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("the matrices differ: %v, %v", a.Assertions, b.Assertions)
	}
	if want := []string{"contains a", "tone", "short", "equals 0", "equals 1", "equals 2"}; !slices.Equal(a.Assertions, want) {
		t.Errorf("order %q", a.Assertions)
	}
}

// TestJSON: the streamed JSON equals that of encoding/json.
func TestJSON(t *testing.T) {
	t.Parallel()
	b := matrix.NewBuilder([]matrix.Column{{Prompt: "a <b>", Provider: "\u2028"}, {}})
	for _, full := range []bool{false, true} {
		if full {
			if err := b.AddAll(encoded(t, runOf(rand.New(rand.NewPCG(1, 2)), 9, 2, 2))); err != nil {
				t.Fatal(err)
			}
		}
		m, err := b.Matrix()
		if err != nil {
			t.Fatal(err)
		}
		m.Rows, m.Status = 36, "running"
		var out bytes.Buffer
		if err := m.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		var got matrix.Matrix
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %s", err, out.Bytes())
		}
		if !reflect.DeepEqual(&got, m) {
			t.Errorf("read back: %+v\nwritten: %+v", got, m)
		}
	}
}

// TestSets: the members of a set have verdicts, the set and the parts of an assertion have
// none; if two assertions share a name, the worst status counts.
func TestSets(t *testing.T) {
	t.Parallel()
	part := func(status, assertion string, members int) string {
		return fmt.Sprintf(`{"status":%q,"assertion":%s,"members":%d}`, status, assertion, members)
	}
	row := func(parts ...string) []byte {
		return []byte(`{"index":3,"testIdx":0,"promptIdx":0,"verdict":"fail","gradingResult":{"componentResults":[` + strings.Join(parts, ",") + `]}}`)
	}
	b := matrix.NewBuilder(nil)
	if err := b.Add(row(part("fail", `{"type":"assert-set","metric":"set"}`, 2), part("pass", `{"metric":"in"}`, 0), part("fail", `{"id":"judged"}`, 1),
		part("pass", `{"id":"a criterion"}`, 0), part("skip", `{"id":"last"}`, 0), part("pass", `{"metric":"last"}`, 0), part("error", `{"id":"last"}`, 0), part("fail", `null`, 0))); err != nil {
		t.Fatal(err)
	}
	m, err := b.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"in": {matrix.Pass}, "judged": {matrix.Fail}, "last": {matrix.Error}}
	if !reflect.DeepEqual(m.Verdicts, want) || !slices.Equal(m.Types, []string{"judge", "judge", "judge"}) {
		t.Errorf("%v of types %q", m.Verdicts, m.Types)
	}
}

// TestLimits: with an assertion per case, those that many cases share remain, and the claims
// of single rows take no memory.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := matrix.NewBuilder(nil)
	const cases = 60_000
	for i := range cases {
		row := fmt.Sprintf(`{"index":%d,"testIdx":%d,"promptIdx":0,"verdict":"pass","gradingResult":{"componentResults":[{"status":"pass","assertion":{"type":"equals","value":%d}},{"status":"fail","assertion":{"id":"shared"}}]}}`, i, i, i)
		if err := b.Add([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := b.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.Assertions, "shared") || len(m.Assertions)+m.MoreAssertions != cases+1 || len(m.Assertions)*cases > 64<<20 || len(m.Assertions) < 1000 {
		t.Errorf("%d assertions and %d more", len(m.Assertions), m.MoreAssertions)
	}
	if err := b.Add([]byte(fmt.Sprintf(`{"index":%d,"testIdx":2147483647,"promptIdx":9999,"repeat":{"index":9999,"of":10000}}`, cases))); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Matrix(); err == nil || !strings.Contains(err.Error(), "60001 cases, 10000 columns and 10000 repeats are more than") {
		t.Errorf("%v", err)
	}
}

// TestDamaged: a damaged row is skipped as a whole, and the others are added.
func TestDamaged(t *testing.T) {
	t.Parallel()
	b := matrix.NewBuilder(nil)
	good := `{"index":0,"testIdx":0,"promptIdx":0,"verdict":"pass"}`
	bad := []string{``, `[]`, good[:20], good + "x", `{"index":1}`, `{"index":-1,"promptIdx":0}`, `{"index":1.5,"promptIdx":0}`, `{"index":4294967295,"promptIdx":0}`,
		`{"index":1,"promptIdx":1e9}`, `{"index":1,"promptIdx":0,"repeat":{"index":2,"of":2}}`, `{"index":1,"promptIdx":0,"repeat":{"index":0,"of":2e9}}`}
	err := b.AddAll(func(yield func(int, []byte) bool) {
		for i, text := range append(bad, good) {
			if !yield(i, []byte(text)) {
				return
			}
		}
	})
	if err == nil || b.Len() != 1 {
		t.Errorf("%v, %d rows", err, b.Len())
	}
	for _, text := range bad {
		if err := b.Add([]byte(text)); err == nil || b.Len() != 1 {
			t.Errorf("%q was added", text)
		}
	}
}

// FuzzAdd: no record causes a panic or memory use beyond the record's size.
func FuzzAdd(f *testing.F) {
	for _, x := range runOf(rand.New(rand.NewPCG(3, 3)), 2, 2, 2) {
		data, err := json.Marshal(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{`{"index":0,"index":1,"promptIdx":0,"promptIdx":3,"gradingResult":1,"gradingResult":{"componentResults":[{"status":"pass","assertion":{},"members":9e9}],"componentResults":{}}}`,
		`{"index":4294967294,"testIdx":4294967295,"promptIdx":9999,"repeat":{"of":10000,"index":9999}}`, `{"index":"0","promptIdx":"0"}`, `{"index":0,"promptIdx":0,"caseId":{"a":[]},"prompt":[],"provider":7,"testCase":"x"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b := matrix.NewBuilder(nil)
		err := b.Add(text)
		_ = b.Add([]byte(`{"index":5,"testIdx":1,"promptIdx":1,"verdict":"fail"}`))
		m, failed := b.Matrix()
		if failed != nil {
			return // the error is that there are too many cells
		}
		want := 1
		if err == nil {
			want = 2
		}
		if cells := len(m.Cases) * len(m.Columns) * m.Repeats; m.Finished != want || len(m.Cells) != cells || len(m.Index) != 4*cells || len(m.Types) != len(m.Assertions) {
			t.Errorf("%+v", m)
		}
		var out bytes.Buffer
		if err := m.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %s", err, out.Bytes())
		}
	})
}
