package report_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

func readCSV(t testing.TB, text string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return lines
}

func TestCSVHasALineForEachCase(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(3)
	m.Columns = append(m.Columns, m.Columns[0], m.Columns[0])
	var kept memoryRows
	for i := range 6 {
		if i == 4 {
			continue // the case does not apply to the second column
		}
		c := caseOf(t, i/3, fmt.Sprintf(`{"vars":{"a":-1.5,"v%d":"-x","_conversation":[1]},"assert":[{"type":"contains","value":"a"}]}`, i/3))
		r := resultOf(c, fmt.Sprintf("out %d", i), [...]proviso.Status{proviso.Pass, proviso.Fail}[i%2])
		r.PromptIdx = i % 3
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	got := readCSV(t, shown(t, "csv", m, sum, kept))
	per := func(i int) string { return "out " + fmt.Sprint(i) }
	pass, fail := "All assertions passed", `contains: Expected output to satisfy contains "a"`
	want := [][]string{
		append([]string{"a", "v0", "v1"}, strings.Split(strings.Repeat("[echo] {{output}}|Status|Score|Named Scores|Grader Reason|", 3), "|")[:15]...),
		{"-1.5", "'-x", "", per(0), "PASS", "1", "", pass, per(1), "FAIL", "0", "", fail, per(2), "PASS", "1", "", pass},
		{"-1.5", "", "'-x", per(3), "FAIL", "0", "", fail, "", "", "", "", "", per(5), "FAIL", "0", "", fail},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestCSVBoundsItsColumns(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(1)
	var kept memoryRows
	for i := range 600 {
		c := caseOf(t, i, fmt.Sprintf(`{"vars":{"v%d":"x"},"assert":[]}`, i))
		kept = append(kept, report.AppendRow(nil, i, resultOf(c, "o"), m))
	}
	lines := readCSV(t, shown(t, "csv", m, sum, kept))
	if len(lines) != 601 || len(lines[0]) != 506 || lines[0][500] != "Other variables" || lines[600][500] != `{"v599":"x"}` {
		t.Errorf("%d lines of %d cells", len(lines), len(lines[0]))
	}
}

func checkCSV(t testing.TB, text string) {
	t.Helper()
	m, sum, rows := everywhere(t, text)
	got := shown(t, "csv", m, sum, rows)
	lines := readCSV(t, got)
	if len(lines) != 3 {
		t.Fatalf("%d lines in\n%q", len(lines), got)
	}
	for _, line := range lines {
		for _, cell := range line {
			r, _ := utf8.DecodeRuneInString(cell)
			if strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) || strings.ContainsAny(cell, "\x00\x1b") || !utf8.ValidString(cell) {
				t.Errorf("a cell is %q", cell)
			}
		}
	}
}

func TestCSVIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) { checkCSV(t, text) })
}

func FuzzCSV(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCSV(t, text) })
}
