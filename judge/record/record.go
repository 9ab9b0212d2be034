// Package record reads the verdicts in the record of a finished run: its rows, the
// verdicts of each row, and stable identities of outputs and assertions.
package record

import (
	"iter"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Run yields the rows of a finished run as reports store them, each with its index.
// [runfile.Reader] implements it.
type Run interface {
	Rows() iter.Seq2[int, []byte]
	Err() error
}

// Row is a row of a finished run.
type Row struct {
	Index int
	Case  string // id

	o *value.Object
}

// Rows decodes the rows of a run. An invalid row ends the sequence with an error.
func Rows(run Run) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for index, encoded := range run.Rows() {
			row, err := Decode(index, encoded)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := run.Err(); err != nil {
			yield(Row{}, proviso.Errorf(proviso.Unavailable, "%w", err))
		}
	}
}

// Decode decodes one row.
func Decode(index int, encoded []byte) (Row, error) {
	v, err := value.ParseJSON(string(encoded))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		return Row{}, proviso.Errorf(proviso.Invalid, "row %d of the run is damaged", index)
	}
	return Row{Index: index, Case: o.Text("caseId"), o: o}, nil
}

// Output returns the output as assertions get it.
func (r Row) Output() string {
	v, ok := r.o.Object("response").Get("output")
	if !ok {
		return ""
	}
	return (&proviso.Output{Value: v}).Text()
}

// Value returns the output as a value, nil if there is none.
func (r Row) Value() any { return r.o.Object("response").At("output") }

// Vars returns the rendered variables of the case; nil if there are none.
func (r Row) Vars() *value.Object {
	if vars := r.o.Object("resolvedVars"); vars != nil {
		return vars
	}
	return r.o.Object("vars")
}

// Answered reports whether the row has an output.
func (r Row) Answered() bool { return r.o.Object("response").At("output") != nil }

// Verdict returns the verdict on the whole row.
func (r Row) Verdict() proviso.Status { return proviso.StatusNamed(r.o.Text("verdict")) }

// Column returns the index of the column (prompt and provider) and of the case's repeat,
// both from 0.
func (r Row) Column() (column, repeat int) {
	number := func(o *value.Object, key string) int {
		f, _ := o.At(key).(float64)
		return int(min(max(f, 0), math.MaxInt32))
	}
	return number(r.o, "promptIdx"), number(r.o.Object("repeat"), "index")
}

// Prompt returns the prompt as it was sent.
func (r Row) Prompt() string {
	prompt, _ := r.Sent()
	return prompt
}

// Sent returns the prompt as it was sent, and whether the row has one.
func (r Row) Sent() (prompt string, ok bool) {
	prompt, ok = r.o.Object("prompt").At("raw").(string)
	return prompt, ok
}

// PromptLabel returns the label of the prompt.
func (r Row) PromptLabel() string { return r.o.Object("prompt").Text("label") }

// Failed reports whether the provider returned an error instead of an answer.
func (r Row) Failed() bool { return r.o.Object("response").Text("error") != "" }

// Error returns why the row failed or is undecided; "" otherwise.
func (r Row) Error() string { return r.o.Text("error") }

// Input returns the variables of the case, one per line, or the prompt if there are none.
func (r Row) Input() string {
	var lines []string
	for name, v := range r.Vars().All() {
		if strings.HasPrefix(name, "_") {
			continue
		}
		lines = append(lines, name+": "+value.Text(v))
	}
	if len(lines) == 0 {
		return r.Prompt()
	}
	return strings.Join(lines, "\n")
}
