package matrix_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/matrix"
)

func TestReadMatrixNamesEveryMistake(t *testing.T) {
	t.Parallel()
	_, mistakes := matrix.Read("m.csv", strings.NewReader("id,label,x,x,\na,1,1,1,1\na,2,1,1,yes\nb,godo,1,1\n"))
	got := mistakes.Error()
	for _, want := range []string{
		`m.csv:1: two candidates are called "x"`, "m.csv:1: column 5 has no name", `m.csv:3: the id "a" is already on line 2`,
		`m.csv:3: the label is "2"`, `m.csv:3:  is "yes"`, "m.csv:4: the row has 4 fields, the header 5",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in:\n%s", want, got)
		}
	}
	for text, want := range map[string]string{"": "the file is empty", "label,id\n": "the header must begin", "id,label,x\n\"a": "quote"} {
		if _, mistakes := matrix.Read("m.csv", strings.NewReader(text)); !strings.Contains(mistakes.Error(), want) {
			t.Errorf("%q: %s, want %q", text, mistakes.Error(), want)
		}
	}
}

func FuzzReadMatrix(f *testing.F) {
	f.Add("id,label,short,polite\na,1,1,1\nb,good,1,1\nf,bad,1,0\nh,,1,0\n")
	f.Add("id,label\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		m, mistakes := matrix.Read("m.csv", strings.NewReader(text))
		if (m == nil) != (mistakes.Err() != nil) {
			t.Fatalf("matrix %v with %v", m, mistakes)
		}
		if m != nil {
			for _, column := range m.Cells {
				if len(column) != len(m.Examples) {
					t.Fatalf("%d cells for %d examples", len(column), len(m.Examples))
				}
			}
		}
	})
}
