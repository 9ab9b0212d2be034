package matrix

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Cost is the measured cost of deciding one candidate. Results that were kept from earlier are
// not counted: they cost nothing.
type Cost struct {
	// Definition identifies the assertion that was measured.
	Definition string
	Outputs    int           // measured outputs
	Took       time.Duration // total time; 0 if no time was measured
	Asked      int           // outputs for which a model was asked
	Prompt     int64         // tokens of all questions
	Completion int64         // tokens of all answers
	USD        float64       // of all of them; 0 if the prices of the model are not known
}

// PerOutput returns the candidate's cost for one output, in US dollars; ok is false if no
// question with a known price was measured.
func (c Cost) PerOutput() (usd float64, ok bool) {
	if c.Asked == 0 || c.USD <= 0 {
		return 0, false
	}
	return c.USD / float64(c.Asked), true
}

// Time returns how long the candidate takes for one output; ok is false if that was not
// measured.
func (c Cost) Time() (each time.Duration, ok bool) {
	if c.Outputs == 0 || c.Took <= 0 {
		return 0, false
	}
	return c.Took / time.Duration(c.Outputs), true
}

// Costs are the costs of candidates, by name.
type Costs map[string]Cost

// Costs returns the measured costs of a grid's candidates. list is the list that was passed to
// [Try]. A candidate that was not measured this time keeps its cost from earlier, if its
// definition is the same; earlier may be nil.
func (g *Grid) Costs(list []proviso.Candidate, earlier Costs) Costs {
	costs := Costs{}
	for j := range list {
		c := g.Columns[j].Cost
		c.Definition = definitionKey(&list[j])
		if before, ok := earlier[list[j].Name]; ok && before.Definition == c.Definition {
			switch {
			case c.Outputs == 0:
				c = before
			case c.Asked == 0 && before.Asked > 0:
				c.Asked, c.Prompt, c.Completion, c.USD = before.Asked, before.Prompt, before.Completion, before.USD
			}
		}
		if c.Outputs+c.Asked > 0 {
			costs[list[j].Name] = c
		}
	}
	return costs
}

// Of returns the costs of candidates whose definition has not changed since they were
// measured.
func (c Costs) Of(list []proviso.Candidate) Costs {
	out := Costs{}
	for i := range list {
		if cost, ok := c[list[i].Name]; ok && cost.Definition == definitionKey(&list[i]) {
			out[list[i].Name] = cost
		}
	}
	return out
}

func definitionKey(c *proviso.Candidate) string {
	return blobs.Key("candidate 1", definition(c.Assertion))[:keySize]
}

// costJSON is one entry of a file of costs.
type costJSON struct {
	Name       string  `json:"name"`
	Definition string  `json:"definition"`
	Outputs    int     `json:"outputs"`
	Seconds    float64 `json:"seconds"`
	Asked      int     `json:"asked,omitempty"`
	Prompt     int64   `json:"prompt_tokens,omitempty"`
	Completion int64   `json:"completion_tokens,omitempty"`
	USD        float64 `json:"usd,omitempty"`
}

// JSON writes the costs in the form that [ReadCosts] reads.
func (c Costs) JSON() ([]byte, error) {
	list := []costJSON{}
	for name, k := range c {
		list = append(list, costJSON{name, k.Definition, k.Outputs, k.Took.Seconds(), k.Asked, k.Prompt, k.Completion, k.USD})
	}
	slices.SortFunc(list, func(a, b costJSON) int { return cmp.Compare(a.Name, b.Name) })
	data, err := json.MarshalIndent(map[string]any{"costs": list}, "", "  ")
	return append(data, '\n'), err
}

// ReadCosts reads the costs that [Costs.JSON] wrote, and reports all mistakes with their
// places.
func ReadCosts(file string, data []byte) (Costs, proviso.Mistakes) {
	doc, err := document.ParseJSON(file, data)
	if err != nil {
		return nil, proviso.Mistakes{document.MistakeOf(file, err)}
	}
	r := &costReader{doc: doc}
	root, _ := doc.Root.(*value.Object)
	list, ok := root.At("costs").([]any)
	if !ok {
		r.wrong("", "a list of costs under \"costs\" is expected, as spade run and spade matrix write it")
		return nil, r.mistakes
	}
	costs := Costs{}
	for i, e := range list {
		r.at = document.Join("/costs", i)
		o, ok := e.(*value.Object)
		if !ok {
			r.wrong(r.at, "an object is expected")
			continue
		}
		name := o.Text("name")
		if name == "" {
			r.wrong(r.at, "the name of the candidate is missing")
		}
		if _, twice := costs[name]; twice {
			r.wrong(r.at, "the cost of "+value.Stringify(name)+" is repeated")
		}
		seconds := r.number(o, "seconds", false)
		costs[name] = Cost{
			Definition: o.Text("definition"), Outputs: int(r.number(o, "outputs", true)), Took: time.Duration(seconds * float64(time.Second)),
			Asked: int(r.number(o, "asked", true)), Prompt: int64(r.number(o, "prompt_tokens", true)),
			Completion: int64(r.number(o, "completion_tokens", true)), USD: r.number(o, "usd", false),
		}
	}
	if r.mistakes.Err() != nil {
		return nil, r.mistakes
	}
	return costs, nil
}

type costReader struct {
	doc      *document.Document
	at       string
	mistakes proviso.Mistakes
}

func (r *costReader) wrong(pointer, message string) {
	r.mistakes = append(r.mistakes, proviso.Mistake{Place: r.doc.Place(pointer), Code: proviso.Invalid, Message: message})
}

// maxMeasure bounds the numbers in a file of costs.
const maxMeasure = 1e9

// number reads a number of at least 0; 0 if it is missing.
func (r *costReader) number(o *value.Object, key string, whole bool) float64 {
	if !o.Has(key) {
		return 0
	}
	n, ok := o.At(key).(float64)
	if !ok || !(n >= 0 && n <= maxMeasure) || whole && n != math.Trunc(n) {
		what := "a number"
		if whole {
			what = "a whole number"
		}
		r.wrong(document.Join(r.at, key), key+" is "+value.Stringify(o.At(key))+"; "+what+" from 0 to 1000000000 is expected")
		return 0
	}
	return n
}
