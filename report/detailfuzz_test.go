package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// rawJSON is a JSON string with the bytes of s unchanged, which may be invalid UTF-8.
func rawJSON(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// foreignRow is a row written by another program: its evidence may be anywhere.
func foreignRow(output, quote, kind, expected string, start int) []byte {
	return fmt.Appendf(nil, `{"index":0,"caseId":%[2]s,"promptIdx":0,"vars":{%[2]s:%[1]s},"response":{"output":%[1]s,"spans":[{"id":%[2]s,"parent":%[3]s},{"id":%[3]s,"parent":%[2]s}]},`+
		`"verdict":"fail","score":0,"gradingResult":{"componentResults":[{"status":"fail","score":0,"reason":%[2]s,"members":%[5]d,"evidence":[{"quote":%[2]s,"start":%[5]d}],`+
		`"assertion":{"type":%[3]s,"value":%[4]s}},{"status":"fail","evidence":[{"quote":%[4]s,"start":%[5]d},{"quote":%[2]s,"start":0}]}]}}`,
		rawJSON(output), rawJSON(quote), rawJSON(kind), rawJSON(expected), start)
}

// checkDetail fails if a row cannot be shown, or if a place is outside the output.
func checkDetail(t *testing.T, row []byte, limit int) {
	t.Helper()
	m, sum := meta(), report.NewSummary(1)
	d, err := report.NewDetail(m, row, limit)
	if err != nil {
		t.Fatalf("%v: %s", err, row)
	}
	for _, a := range d.Assertions {
		for _, e := range a.Evidence {
			if e.Start != nil && (*e.Start < 0 || *e.End < *e.Start || *e.End > value.UTF16Len(*d.Output)) {
				t.Errorf("evidence at %d–%d of %q", *e.Start, *e.End, *d.Output)
			}
		}
	}
	text, err := json.Marshal(d.Preview())
	if err != nil || !utf8.Valid(text) {
		t.Errorf("%v: %q", err, text)
	}
	for _, format := range report.Formats() {
		if err := report.WriteTo(context.Background(), io.Discard, format, m, sum, memoryRows{row}); err != nil {
			t.Errorf("%v: %v", format.Name, err)
		}
	}
}

// TestDetailOfForeignRow: invalid UTF-8 takes more bytes in a page than in the file, so an
// offset may be valid in only one of them.
func TestDetailOfForeignRow(t *testing.T) {
	t.Parallel()
	output := strings.Repeat("\xffa", 20) + "end"
	for _, start := range []int{-1, 0, 40, 43, 60, 1 << 50} {
		checkDetail(t, foreignRow(output, "end", "contains", "x", start), 1000)
		checkDetail(t, foreignRow(output, "end", "contains", "x", start), 50)
	}
}

func FuzzDetail(f *testing.F) {
	f.Add(strings.Repeat("\xffa", 20)+"end", "end", "contains", "x", 60, uint8(200))
	f.Add("\xed\xa0\xbd\xed\xb8\x80 \U0001f375 text", "text", "equals", "\U0001f375", 3, uint8(9))
	f.Add("a\u202eb\u2028c\x00", "b", "not-contains", "b", 1, uint8(30))
	f.Add("", "", "", "", -1, uint8(0))
	f.Fuzz(func(t *testing.T, output, quote, kind, expected string, start int, limit uint8) {
		checkDetail(t, foreignRow(output, quote, kind, expected, start), int(limit))
	})
}
