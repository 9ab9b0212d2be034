package document_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

func readLines(r io.Reader) []string {
	var got []string
	for line, err := range document.Lines(r) {
		if err != nil {
			got = append(got, fmt.Sprintf("%d! %v", line.Number, err))
			continue
		}
		got = append(got, fmt.Sprintf("%d %s", line.Number, value.Stringify(line.Value)))
	}
	return got
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 200_000) + `"`
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"plain", "{\"a\":1}\n[2]\n", []string{`1 {"a":1}`, "2 [2]"}},
		{"no line end", "1\n2", []string{"1 1", "2 2"}},
		{"blank lines, carriage returns and mark", "\ufeff1\r\n\r\n \t\n2\r\n", []string{"1 1", "4 2"}},
		{"broken line goes on", "1\n{\"ä\": x}\n3\n", []string{"1 1", "2! line:2:7: unexpected 'x' in JSON", "3 3"}},
		{"not UTF-8", "\"\xff\"\n2\n", []string{"1! line:1:2: the line is not UTF-8: byte 0xff", "2 2"}},
		{"longer than the buffer", long + "\n1\n", []string{"1 " + long, "2 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := readLines(iotest.HalfReader(strings.NewReader(tt.in)))
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %.300q, want %.300q", got, tt.want)
			}
		})
	}
}

func TestLinesLimit(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader("1\n\""), io.LimitReader(repeated('x'), document.MaxLine+10), strings.NewReader("\"\n3\n"))
	got := readLines(in)
	if len(got) != 3 || !strings.Contains(got[1], "longer than 64 MiB") || got[2] != "3 3" {
		t.Errorf("got %.200q", got)
	}
}

// repeated yields one byte forever.
type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestLinesReadError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	got := readLines(io.MultiReader(strings.NewReader("1\n"), iotest.ErrReader(boom)))
	if len(got) != 2 || !strings.HasSuffix(got[1], "boom") {
		t.Errorf("got %q", got)
	}
}

func readCSV(in string, o document.CSVOptions) string {
	var b strings.Builder
	for rec, err := range document.ReadCSV(iotest.OneByteReader(strings.NewReader(in)), o) {
		if err != nil {
			fmt.Fprintf(&b, "! %v", err)
			continue
		}
		fmt.Fprintf(&b, "%d@%d%q", rec.Row, rec.Line, rec.Fields)
		if !o.NoHeader && b.Len() > 0 && rec.Row == 1 {
			fmt.Fprintf(&b, " of %q", rec.Header)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestReadCSV(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		o        document.CSVOptions
		want     string
	}{
		{"empty", "", document.CSVOptions{}, ""},
		{"header only", "a,b\n", document.CSVOptions{}, ""},
		{"plain", "a, b \n1,2\n", document.CSVOptions{}, `1@2["1" "2"] of ["a" "b"]; `},
		{"mark, carriage returns, no end", "\ufeffa,b\r\n1,2\r\n3,4", document.CSVOptions{}, `1@2["1" "2"] of ["a" "b"]; 2@3["3" "4"]; `},
		{"old line ends", "a,b\r1,2\r", document.CSVOptions{}, `1@2["1" "2"] of ["a" "b"]; `},
		{"quotes", "a\n\"x, \"\"y\"\"\nz\"\n", document.CSVOptions{}, `1@2["x, \"y\"\nz"] of ["a"]; `},
		{"empty lines", "a\n\n1\n\n\n2\n", document.CSVOptions{}, `1@3["1"] of ["a"]; 2@6["2"]; `},
		{"empty quoted", "a\n\"\"\n", document.CSVOptions{}, `1@2[""] of ["a"]; `},
		{"ragged", "a,b\n1\n1,2,3\n", document.CSVOptions{}, `1@2["1"] of ["a" "b"]; 2@3["1" "2" "3"]; `},
		{"delimiter", "a;b\n1,5;2\n", document.CSVOptions{Delimiter: ";"}, `1@2["1,5" "2"] of ["a" "b"]; `},
		{"long delimiter", "a||b\n1|5||\"2\"||3\n", document.CSVOptions{Delimiter: "||"}, `1@2["1|5" "2" "3"] of ["a" "b"]; `},
		{"quote inside", "a\nx \"y\" z\n", document.CSVOptions{}, `1@2["x \"y\" z"] of ["a"]; `},
		{"text after quote", "a,b\n\"x\" y,2\n", document.CSVOptions{}, `1@2["\"x\" y" "2"] of ["a" "b"]; `},
		{"strict", "a\nx \"y\"\n", document.CSVOptions{Strict: true}, `! line:2: a quote inside an unquoted field; double it and quote the whole field`},
		{"strict after quote", "a\n\"x\" y\n", document.CSVOptions{Strict: true}, `! line:2: text after the closing quote of a field`},
		{"open quote", "a\n1\n\"x\ny\n", document.CSVOptions{}, `1@2["1"] of ["a"]; ! line:3: a quoted field begins here and does not end`},
		{"no header", "1,2\n", document.CSVOptions{NoHeader: true}, `1@1["1" "2"]; `},
		{"not UTF-8", "a\n\xff\n", document.CSVOptions{}, `! line:3: the record is not UTF-8: byte 0xff`},
		{"second field empty", "a,b\n1,\n", document.CSVOptions{}, `1@2["1" ""] of ["a" "b"]; `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := readCSV(tt.in, tt.o); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("a,b\n\"x\"\"\" y,2\r\n", ",")
	f.Add("a\rb\n", "\"")
	f.Fuzz(func(t *testing.T, text, delimiter string) {
		for rec, err := range document.ReadCSV(strings.NewReader(text), document.CSVOptions{Delimiter: delimiter}) {
			if err == nil && (rec.Row < 1 || rec.Line < 1) {
				t.Fatalf("%+v", rec)
			}
		}
	})
}

// TestLineOfManyValues: a line of small values would take fifty times its size in
// memory. It is an error that names the limit, and the next line is read.
func TestLineOfManyValues(t *testing.T) {
	t.Parallel()
	most := "[" + strings.Repeat("{},", value.MaxReplyValues-2) + "{}]"
	more := "[{}," + most[1:]
	var got []string
	for line, err := range document.Lines(strings.NewReader(most + "\n" + more + "\n7\n")) {
		var e *document.LineError
		switch list, _ := line.Value.([]any); {
		case errors.As(err, &e):
			got = append(got, fmt.Sprintf("%s: %.60s (%s)", e.Code, e.Message, err.Error()[:6]))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, fmt.Sprint(line.Number, " ", len(list)))
		}
	}
	if want := "1 999999|limit: the JSON holds more than 1000000 values (line:2)|3 0"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// BenchmarkLines reads rows like those in suites of recorded outputs: 1.2 kB each.
func BenchmarkLines(b *testing.B) {
	row := `{"vars":{"output":"` + strings.Repeat("lorem ipsum ", 60) + `"},"assert":[{"type":"contains","value":"lorem"},` +
		`{"type":"is-json","value":{"type":"object","properties":{"a":{"type":"string"}}}},{"type":"regex","value":"a.c"},` +
		`{"type":"levenshtein","value":"x","threshold":5},{"type":"equals","value":"` + strings.Repeat("y", 200) + `"}]}` + "\n"
	text := strings.Repeat(row, 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range document.Lines(strings.NewReader(text)) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
