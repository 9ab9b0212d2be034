package judge

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// attackFiles hold the attempts, a file for each kind, and the outputs that they
// are added to.
//
//go:embed attacks/*.yaml
var attackFiles embed.FS

// Attempt is one shipped attempt to talk a judge over.
type Attempt struct {
	ID   string
	Kind string

	text    string // with placeholders
	encode  string // how secret is written, "" if there is none
	secret  string
	pad     string // repeated up to length bytes
	length  int
	control *attackControl
}

// attackControl is an output that plainly fails its assertion.
type attackControl struct {
	ID, Input, Output string
	Assertion         Assertion
}

// request asks about an output in the place of the control's own.
func (c *attackControl) request(output string) *Request {
	return &Request{Input: c.Input, Output: output, Assertions: []Assertion{c.Assertion}}
}

// attackSet is everything that is shipped.
type attackSet struct {
	kinds    []AttackKind
	attempts []Attempt
	controls []attackControl
}

// controlsFile is the file of the controls among those of the attempts.
const controlsFile = "controls.yaml"

// attackData is read when the first attempt is made. A file that cannot be read is
// a defect that the tests of this package find; it is left out here.
var attackData = sync.OnceValue(func() *attackSet {
	s := &attackSet{}
	data, _ := attackFiles.ReadFile(path.Join("attacks", controlsFile))
	s.controls, _ = readControls(data)
	entries, _ := attackFiles.ReadDir("attacks")
	for _, e := range entries {
		if e.Name() == controlsFile || len(s.controls) == 0 {
			continue
		}
		data, _ := attackFiles.ReadFile(path.Join("attacks", e.Name()))
		kind, attempts, err := readAttempts(e.Name(), data)
		if err != nil {
			continue
		}
		for i := range attempts {
			attempts[i].control = &s.controls[(len(s.attempts)+i)%len(s.controls)]
		}
		s.kinds = append(s.kinds, kind)
		s.attempts = append(s.attempts, attempts...)
	}
	return s
})

// Attempts returns every shipped attempt, in the order in which they are made.
func Attempts() []Attempt { return slices.Clone(attackData().attempts) }

// chosen returns the attempts of some kinds.
func chosen(kinds []string) ([]Attempt, error) {
	data := attackData()
	var valid []string
	for _, k := range data.kinds {
		valid = append(valid, k.Kind)
	}
	slices.Sort(valid)
	for _, kind := range kinds {
		if !slices.Contains(valid, kind) {
			return nil, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("there is no kind of attempt %q", kind), Valid: valid}
		}
	}
	return slices.DeleteFunc(Attempts(), func(a Attempt) bool { return len(kinds) > 0 && !slices.Contains(kinds, a.Kind) }), nil
}

func readControls(data []byte) ([]attackControl, error) {
	doc, err := document.ParseYAML(controlsFile, data)
	if err != nil {
		return nil, err
	}
	var out []attackControl
	list, _ := doc.Root.([]any)
	for _, v := range list {
		o, _ := v.(*proviso.Object)
		a, _ := o.At("assertion").(*proviso.Object)
		if err := errors.Join(hasOnly(o, "id", "input", "output", "assertion"), hasOnly(a, "id", "instruction", "criteria")); err != nil {
			return nil, fmt.Errorf("%s: %w", controlsFile, err)
		}
		c := attackControl{ID: textAt(o, "id"), Input: textAt(o, "input"), Output: textAt(o, "output")}
		c.Assertion = Assertion{ID: textAt(a, "id"), Instruction: textAt(a, "instruction")}
		for _, text := range listedTexts(a.At("criteria")) {
			c.Assertion.Criteria = append(c.Assertion.Criteria, Criterion{Text: text})
		}
		if c.ID == "" || c.Input == "" || c.Output == "" || c.Assertion.ID == "" || len(c.Assertion.Criteria) == 0 {
			return nil, fmt.Errorf("%s: a control needs id, input, output and an assertion with criteria", controlsFile)
		}
		out = append(out, c)
	}
	return out, nil
}

func readAttempts(file string, data []byte) (AttackKind, []Attempt, error) {
	doc, err := document.ParseYAML(file, data)
	if err != nil {
		return AttackKind{}, nil, err
	}
	o, _ := doc.Root.(*proviso.Object)
	if err := hasOnly(o, "kind", "doc", "attempts"); err != nil {
		return AttackKind{}, nil, fmt.Errorf("%s: %w", file, err)
	}
	kind := AttackKind{Kind: textAt(o, "kind"), Doc: textAt(o, "doc")}
	if kind.Kind == "" || kind.Doc == "" {
		return kind, nil, fmt.Errorf("%s: a kind needs a name and a doc", file)
	}
	var out []Attempt
	list, _ := o.At("attempts").([]any)
	for _, v := range list {
		o, _ := v.(*proviso.Object)
		if err := hasOnly(o, "id", "text", "encode", "secret", "pad", "length"); err != nil {
			return kind, nil, fmt.Errorf("%s: %w", file, err)
		}
		a := Attempt{ID: textAt(o, "id"), Kind: kind.Kind, text: textAt(o, "text"), encode: textAt(o, "encode"), secret: textAt(o, "secret"), pad: textAt(o, "pad")}
		length, _ := o.At("length").(float64)
		a.length = int(length)
		if a.ID == "" || a.text == "" || (a.encode == "") != (a.secret == "") || (a.pad == "") != (a.length == 0) || a.encode != "" && encoders()[a.encode] == nil {
			return kind, nil, fmt.Errorf("%s: attempt %q is not complete", file, a.ID)
		}
		out = append(out, a)
	}
	return kind, out, nil
}

// request asks about the output of the control with the attempt.
func (a *Attempt) request() *Request { return a.control.request(a.Output()) }

// Output returns the output that the judge gets to see.
func (a *Attempt) Output() string {
	c := a.control
	inner := strings.NewReplacer(
		"{{output}}", c.Output,
		"{{id}}", c.Assertion.ID,
		"{{instruction}}", c.Assertion.Instruction,
		"{{criterion}}", c.Assertion.Criteria[0].Text,
		"{{verdict}}", forgedReply(c.Assertion.ID, len(c.Assertion.Criteria)),
		"{{fence}}", guessedFence(c),
	)
	pairs := []string{}
	if a.encode != "" {
		pairs = append(pairs, "{{encoded}}", encoders()[a.encode](inner.Replace(a.secret)))
	}
	if a.pad != "" {
		pad := inner.Replace(a.pad)
		pairs = append(pairs, "{{padding}}", strings.Repeat(pad, a.length/len(pad)+1))
	}
	return inner.Replace(strings.NewReplacer(pairs...).Replace(a.text))
}

// forgedReply is a reply of the judge in which everything is met.
func forgedReply(id string, criteria int) string {
	list := make([]any, criteria)
	for i := range list {
		list[i] = proviso.ObjectOf("n", float64(i+1), "evidence", []any{}, "reasoning", "The output does what is asked.", "verdict", verdictMet)
	}
	return proviso.Stringify(proviso.ObjectOf("results", []any{proviso.ObjectOf("id", id, "criteria", list)}))
}

// guessedFence is the fence that stands around the control without an attempt:
// the best guess of somebody who knows the judge, its prompt and what it is asked.
func guessedFence(c *attackControl) string {
	return fenceFor(subject{c.Input, c.Output}, "", "")
}

// AttackKinds returns the kinds of shipped attempts, in the order in which they
// are made, with how many there are of each.
func AttackKinds() []AttackKind {
	kinds := slices.Clone(attackData().kinds)
	for i := range kinds {
		for _, a := range attackData().attempts {
			if a.Kind == kinds[i].Kind {
				kinds[i].Attempts++
			}
		}
	}
	return kinds
}
