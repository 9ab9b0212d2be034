package align_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/value"
)

func sheetOf(t *testing.T, run keptRun, o align.SheetOptions) (align.Sheet, [][]string) {
	t.Helper()
	var b strings.Builder
	sheet, err := align.WriteSheet(&b, run, o)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return sheet, records
}

func TestSheet(t *testing.T) {
	t.Parallel()
	var run keptRun
	for range 30 {
		run.kept("=cmd()", "an output with \x1b[31m and a\nbreak", "tone pass", "cite fail", "length! pass")
	}
	run.kept("bad", "-1", "tone fail", "cite error")
	sheet, records := sheetOf(t, run, align.SheetOptions{PerAssertion: 4})
	if sheet.Rows != 8 || len(records) != 9 || len(sheet.Assertions) != 2 {
		t.Fatalf("%+v, %d records", sheet, len(records))
	}
	if got := strings.Join(records[0], " "); got != "case row assertion human note question input output output_id sample" {
		t.Error(got)
	}
	fails, joined := 0, 0
	for i, r := range records[1:] {
		if r[0] == "bad" {
			fails++
			if r[7] != "'-1" || r[8] != record.OutputID("-1") || r[2] != "tone" {
				t.Errorf("%q", r)
			}
		} else if r[0] != "'=cmd()" || strings.Contains(r[7], "\x1b") || r[5] != "be "+r[2]+"\n• is "+r[2] || r[6] != "q: why?" {
			t.Errorf("%q", r)
		}
		if i > 0 && records[i][1] == r[1] {
			joined++
		}
		if r[3] != "" || strings.Contains(strings.Join(r, "|"), "because") {
			t.Errorf("the verdict shows: %q", r)
		}
	}
	if fails != 1 || joined < 3 {
		t.Errorf("%d fails drawn, %d lines beside one of the same output", fails, joined)
	}

	// The written sheet can be read back, with unchanged case ids.
	for _, r := range records[1:] {
		r[3] = "pass"
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if a := compare(t, b.String(), run); len(a.Assertions) != 2 || a.Assertions[0].N != 4 {
		t.Errorf("%+v", a)
	}

	_, shown := sheetOf(t, run, align.SheetOptions{PerAssertion: 4, Verdicts: true, Assertions: []string{"cite"}})
	if r := shown[1]; len(shown) != 5 || r[2] != "cite" || r[10] != "fail" || r[11] != "model#1" || r[12] != "because it is fail" {
		t.Errorf("%q", shown[1])
	}
	_, random := sheetOf(t, run, align.SheetOptions{PerAssertion: 4, Random: true})
	_, again := sheetOf(t, run, align.SheetOptions{PerAssertion: 4, Random: true})
	_, other := sheetOf(t, run, align.SheetOptions{PerAssertion: 4, Random: true, Seed: 2})
	if random[1][9] != "" || random[1][1] != again[1][1] || random[1][1] == other[1][1] && random[3][1] == other[3][1] {
		t.Errorf("random: %q, %q, %q", random[1], again[1], other[1])
	}
}

func TestSheetMistakes(t *testing.T) {
	t.Parallel()
	var run keptRun
	run.kept("a", "x", "tone pass")
	var rules keptRun
	rules.kept("a", "x", "length! pass")
	for _, c := range []struct {
		run  keptRun
		o    align.SheetOptions
		want string
	}{
		{rules, align.SheetOptions{}, "the run has no verdict of a judge: no assertion of it was decided by a model"},
		{run, align.SheetOptions{Assertions: []string{"tune"}}, `no judged assertion of the run is called "tune"`},
		{run, align.SheetOptions{PerAssertion: -1}, "-1 outputs for each assertion are not between 1 and 10000"},
		{keptRun{"[]"}, align.SheetOptions{}, "row 0 of the run is damaged"},
	} {
		if _, err := align.WriteSheet(&strings.Builder{}, c.run, c.o); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestStaleLabels: a label belongs to an output, so a verdict on another output does not
// replace it.
func TestStaleLabels(t *testing.T) {
	t.Parallel()
	var run keptRun
	run.kept("a", "the old answer", "tone pass")
	run.kept("b", "the new answer", "tone pass")
	a := compare(t, "case,assertion,human,output_id\na,tone,pass,"+record.OutputID("the old answer")+"\nb,tone,pass,"+record.OutputID("the old answer")+"\n", run)
	if a.Stale != 1 || a.Assertions[0].N != 1 {
		t.Errorf("%+v", a)
	}
}

func TestAssertionHash(t *testing.T) {
	t.Parallel()
	parse := func(text string) string {
		v, err := value.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		return record.AssertionHash(&proviso.Assertion{Raw: v.(*value.Object)})
	}
	base := parse(`{"id":"tone","instruction":"be kind","criteria":["is kind"]}`)
	for _, same := range []string{
		`{"criteria":"is kind","instruction":"be kind"}`,
		`{"type":"judge","metric":"m","weight":3,"severity":"must","when":"true","id":"other","criteria":[{"text":"is kind","category":"style"}],"instruction":"be kind","provider":"x","scope":{}}`,
	} {
		if parse(same) != base {
			t.Errorf("%s is another assertion", same)
		}
	}
	for _, other := range []string{
		`{"instruction":"be kind","criteria":["is very kind"]}`,
		`{"instruction":"be kind","criteria":["is kind","is short"]}`,
		`{"instruction":"be good","criteria":["is kind"]}`,
		`{"type":"not-judge","instruction":"be kind","criteria":["is kind"]}`,
		`{"instruction":"be kind","criteria":["is kind"],"check":{"type":"word-count","value":{"max":9}}}`,
		`{"instruction":"be kind","criteria":["is kind"],"scope":{"each":"line"}}`,
	} {
		if parse(other) == base {
			t.Errorf("%s is the same assertion", other)
		}
	}
	built := &proviso.Assertion{ID: "tone", Type: "judge", Instruction: "be kind", Criteria: []proviso.Criterion{{Text: "is kind"}}, Value: value.Undefined{}, Threshold: value.Undefined{}}
	if record.AssertionHash(built) != base {
		t.Error("an assertion that no file wrote has another hash")
	}
	built.Check = &proviso.Assertion{Type: "word-count", Value: value.ObjectOf("max", 9.0)}
	if record.AssertionHash(built) != parse(`{"instruction":"be kind","criteria":["is kind"],"check":{"type":"word-count","id":"n","value":{"max":9}}}`) {
		t.Error("a check that no file wrote has another hash")
	}
}
